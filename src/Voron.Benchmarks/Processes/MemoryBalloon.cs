using System.Diagnostics;
using System.Globalization;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// A process that holds and locks memory until only so much is left for everybody else, page cache included. Where memory runs
/// out all the same, the system is told to end this process before any other.
/// </summary>
internal sealed class MemoryBalloon : IDisposable
{
    private const nint ChunkBytes = 64 << 20;
    private const string Ready = "holding ";

    private readonly Process _process;

    private MemoryBalloon(Process process, long heldBytes)
    {
        _process = process;
        HeldBytes = heldBytes;
    }

    public long HeldBytes { get; }

    /// <summary>False when the system had to end it: what was measured then had more memory than it should.</summary>
    public bool IsHolding => !_process.HasExited;

    /// <summary>Null, with the reason told, where the system does not let memory be locked.</summary>
    public static MemoryBalloon? TryStart(long bytesToLeave, Action<string> say)
    {
        ProcessStartInfo start = MeasuringProcess.StartInfo("hold-memory", bytesToLeave.ToString(CultureInfo.InvariantCulture));
        start.RedirectStandardInput = true;
        var process = new Process { StartInfo = start };
        process.Start();
        string? line = process.StandardOutput.ReadLine();
        if (line is not null && line.StartsWith(Ready, StringComparison.Ordinal))
            return new MemoryBalloon(process, long.Parse(line.AsSpan(Ready.Length), CultureInfo.InvariantCulture));
        say($"No memory limit: {process.StandardError.ReadToEnd().Trim()}");
        process.Dispose();
        return null;
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.StandardInput.Close();
            _process.WaitForExit();
        }
        _process.Dispose();
    }

    /// <summary>The other side: holds memory until standard input ends.</summary>
    public static void Hold(long bytesToLeave)
    {
        const string OomScore = "/proc/self/oom_score_adj";
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("Memory can be held on Linux only.");
        File.WriteAllText(OomScore, "1000");
        var chunks = new List<nint>();
        while (AvailableBytes() > bytesToLeave + ChunkBytes)
        {
            nint chunk = LinuxCalls.LockMemory(ChunkBytes);
            if (chunk == 0)
                throw new BenchmarkException("This user may not lock memory (ulimit -l).");
            chunks.Add(chunk);
        }
        Console.WriteLine(Ready + (chunks.Count * (long)ChunkBytes).ToString(CultureInfo.InvariantCulture));
        while (Console.In.Read() >= 0)
        {
        }
        foreach (nint chunk in chunks)
            LinuxCalls.UnlockMemory(chunk, ChunkBytes);
    }

    private static long AvailableBytes()
    {
        const string Field = "MemAvailable:";
        string line = File.ReadLines("/proc/meminfo").First(text => text.StartsWith(Field, StringComparison.Ordinal));
        return long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) << 10;
    }
}
