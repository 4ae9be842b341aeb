using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using Voron.KillTarget;
using Voron.Simulation.Harness;

namespace Voron.Simulation.Processes;

/// <summary>The process that is killed. It is started ahead of time and waits for the directory in which to work.</summary>
internal sealed class KillTargetProcess : IDisposable
{
    private readonly Process _process;
    private readonly Stream _output;

    /// <param name="held">A directory that the process only keeps open, or null: then it waits for <see cref="Work"/>.</param>
    /// <param name="addressGibibytes">The limit of its address space, set by ulimit; 0 for no limit.</param>
    public KillTargetProcess(string? held = null, int addressGibibytes = 0)
    {
        var start = ChildProgram.Of(typeof(KillWorkload).Assembly);
        start.Environment["DOTNET_TieredPGO"] = "0";
        start.Environment["DOTNET_gcServer"] = "0";
        if (addressGibibytes != 0)
        {
            string[] program = [start.FileName, .. start.ArgumentList];
            start.FileName = "bash";
            start.ArgumentList.Clear();
            start.ArgumentList.Add("-c");
            start.ArgumentList.Add($"ulimit -v {(long)addressGibibytes << 20} && exec \"$0\" \"$@\"");
            foreach (var part in program)
                start.ArgumentList.Add(part);

            // The garbage collector reserves addresses too; this limits them.
            start.Environment["DOTNET_GCHeapHardLimit"] = "0x8000000";
        }
        if (AppContext.GetData("Voron.PlantedFault") is string fault)
            start.Environment[KillWorkload.FaultVariable] = fault;
        if (held is not null)
        {
            start.ArgumentList.Add("hold");
            start.ArgumentList.Add(held);
        }
        _process = Process.Start(start) ?? throw new TortureException("The process that is to be killed cannot be started.");
        _output = _process.StandardOutput.BaseStream;
    }

    public int ProcessId => _process.Id;

    /// <summary>The newest phase that the process has reported.</summary>
    public KillPhase Phase { get; private set; }

    /// <summary>The newest commit that was acknowledged; 0 for none.</summary>
    public long Acknowledged { get; private set; }

    public void Work(string directory, int seed)
    {
        _process.StandardInput.WriteLine(directory);
        _process.StandardInput.WriteLine(seed.ToString(CultureInfo.InvariantCulture));
        _process.StandardInput.Flush();
    }

    /// <summary>Reads one report.</summary>
    /// <exception cref="BrokenPromiseException">The process has ended on its own.</exception>
    public void Listen()
    {
        if (!TryListen())
            throw new BrokenPromiseException($"The process has ended on its own while {Phase}: {_process.StandardError.ReadToEnd()}");
    }

    /// <summary>Kills the process, from any thread: a listener then finds the end of its reports.</summary>
    public void End()
    {
        try
        {
            _process.Kill();
        }
        catch (InvalidOperationException)
        {
            // The process has ended already.
        }
    }

    /// <summary>Kills the process, and reads its reports until then.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
        while (TryListen())
        {
        }
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }
        _process.Dispose();
    }

    private bool TryListen()
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        if (_output.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false) < bytes.Length)
            return false;
        var report = BinaryPrimitives.ReadInt64LittleEndian(bytes);
        if (report < 0)
            Phase = (KillPhase)(-report);
        else if (report > 0)
            Acknowledged = report;
        else
            Phase = KillPhase.None;
        return true;
    }
}
