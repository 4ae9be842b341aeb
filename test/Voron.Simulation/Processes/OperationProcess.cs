using System.Diagnostics;
using Voron.KillTarget;
using Voron.Simulation.Harness;

namespace Voron.Simulation.Processes;

/// <summary>A process that performs one long operation when it is asked to, and is killed meanwhile.</summary>
internal sealed class OperationProcess : IDisposable
{
    private readonly Process _process;
    private readonly Task<string> _output;

    /// <param name="operation">The operation: a constant of <see cref="LongOperation"/>.</param>
    /// <param name="source">The directory that it reads.</param>
    /// <param name="target">The directory that it makes.</param>
    public OperationProcess(string operation, string source, string target)
    {
        var start = ChildProgram.Of(typeof(LongOperation).Assembly);
        foreach (var argument in new[] { "operation", operation, source, target })
            start.ArgumentList.Add(argument);
        _process = Process.Start(start) ?? throw new TortureException($"The process that is to {operation} cannot be started.");
        var ready = _process.StandardOutput.ReadLine();
        if (ready != LongOperation.Ready)
        {
            var error = _process.StandardError.ReadToEnd();
            Dispose();
            throw new TortureException($"The process that is to {operation} says '{ready}': {error}");
        }

        _output = _process.StandardOutput.ReadToEndAsync();
    }

    public bool HasExited => _process.HasExited;

    /// <summary>Makes the operation begin.</summary>
    public void Begin() => _process.StandardInput.WriteLine();

    /// <summary>Kills the process, unless it has ended.</summary>
    /// <returns>True if the operation had returned before.</returns>
    /// <exception cref="BrokenPromiseException">The operation has failed on its own.</exception>
    public bool Kill()
    {
        // A process that has ended on its own can be killed as well: nothing happens then.
        _process.Kill();
        return End();
    }

    /// <summary>Waits for the end of the process.</summary>
    /// <inheritdoc cref="Kill"/>
    public bool End()
    {
        var error = _process.StandardError.ReadToEnd();
        _process.WaitForExit();
        if (error.Length > 0)
            throw new BrokenPromiseException($"The operation has failed on its own: {error}");
        return _output.GetAwaiter().GetResult().Contains(LongOperation.Done, StringComparison.Ordinal);
    }

    public void Dispose()
    {
        if (!_process.HasExited)
            _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
    }
}
