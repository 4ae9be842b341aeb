using System.Diagnostics;
using Voron.KillTarget;
using Voron.Simulation.Harness;

namespace Voron.Simulation.Processes;

/// <summary>A process that creates an environment when it is asked to, and keeps it open.</summary>
internal sealed class CreatorProcess : IDisposable
{
    private readonly Process _process;

    public CreatorProcess(string directory)
    {
        var start = ChildProgram.Of(typeof(KillWorkload).Assembly);
        start.ArgumentList.Add("create");
        start.ArgumentList.Add(directory);
        _process = Process.Start(start) ?? throw new TortureException("The process that creates an environment cannot be started.");
    }

    /// <summary>Waits until the process has only the creation left to do.</summary>
    public void WaitUntilReady() => Read();

    /// <summary>Makes the process begin.</summary>
    public void Create() => _process.StandardInput.WriteLine();

    /// <summary>Returns "created", or the name of the exception.</summary>
    public string Outcome() => Read();

    public void Dispose()
    {
        _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
    }

    private string Read() => _process.StandardOutput.ReadLine()
        ?? throw new BrokenPromiseException($"The process has ended on its own: {_process.StandardError.ReadToEnd()}");
}
