using System.Diagnostics;
using System.Globalization;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// A process that locks memory until only a given amount is left for all other processes and the page cache. If memory runs out
/// nevertheless, the system ends this process before any other.
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

    /// <summary>False if the system ended the process, so that the measurement had more memory than it should.</summary>
    public bool IsHolding => !_process.HasExited;

    /// <summary>Returns null, and reports the reason, if the system does not allow memory to be locked.</summary>
    public static MemoryBalloon? TryStart(long bytesToLeave, Action<string> say)
    {
        var start = MeasuringProcess.StartInfo("hold-memory", bytesToLeave.ToString(CultureInfo.InvariantCulture));
        start.RedirectStandardInput = true;
        var process = new Process { StartInfo = start };
        process.Start();
        var line = process.StandardOutput.ReadLine();
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

    /// <summary>Runs in the other process: holds memory until standard input ends.</summary>
    public static void Hold(long bytesToLeave)
    {
        const string OomScore = "/proc/self/oom_score_adj";
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("Memory can be locked on Linux only.");
        File.WriteAllText(OomScore, "1000");
        var chunks = new List<nint>();
        while (AvailableBytes() > bytesToLeave + ChunkBytes)
        {
            var chunk = LinuxCalls.LockMemory(ChunkBytes);
            if (chunk == 0)
                throw new BenchmarkException("This user is not allowed to lock enough memory. Raise the limit that 'ulimit -l' shows.");
            chunks.Add(chunk);
        }
        Console.WriteLine(Ready + (chunks.Count * (long)ChunkBytes).ToString(CultureInfo.InvariantCulture));
        while (Console.In.Read() >= 0)
        {
        }
        foreach (var chunk in chunks)
            LinuxCalls.UnlockMemory(chunk, ChunkBytes);
    }

    private static long AvailableBytes()
    {
        const string Field = "MemAvailable:";
        var line = File.ReadLines("/proc/meminfo").First(text => text.StartsWith(Field, StringComparison.Ordinal));
        return long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) << 10;
    }
}
