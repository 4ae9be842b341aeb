using System.Text.Json;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Counts the calls by which an engine makes commits durable, instead of believing its settings: a process of its own, which strace traces,
/// makes some commits in a new store.
/// </summary>
internal static class SyncCounter
{
    /// <summary>Few, because each call of a traced process is slow.</summary>
    private const int Commits = 200;

    private const string Tracer = "strace";
    private const string Calls = "openat,?open,?creat,mmap,msync,fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2";

    public static bool IsInstalled => OperatingSystem.IsLinux()
        && (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':').Any(path => File.Exists(Path.Combine(path, Tracer)));

    public static async Task<SyncCount> CountAsync(string engine, WorkArea area, CancellationToken stop)
    {
        if (!IsInstalled)
            return SyncCount.None(engine, $"apt-get install {Tracer}");

        // A run of the first second has no warm-up and no probe of the device, so it makes no other commits and syncs.
        var workload = WorkloadCatalog.FirstRandomInsert;
        var store = area.StorePath(engine, "counted");
        var items = (long)Commits * workload.ItemsPerTransaction;
        var request = new RunRequest(engine, workload, store, items, items, Round: 0) { Trace = store + ".trace" };
        try
        {
            var run = await MeasuringProcess.RunAsync(request, onProgress: null, stop).ConfigureAwait(false);
            var trace = new SyncTrace(store);
            foreach (var line in File.ReadLines(request.Trace))
                trace.Add(line);
            return new SyncCount(engine, run.Transactions, trace.Syncs, trace.WriteThroughWrites);
        }
        catch (Exception error) when (error is BenchmarkException or JsonException or IOException or FormatException)
        {
            return SyncCount.None(engine, error.Message);
        }
        finally
        {
            WorkArea.Delete(store);
            File.Delete(request.Trace);
        }
    }

    /// <summary>Lets strace start a process, and write its calls with the paths of their files to <paramref name="file"/>.</summary>
    public static void Trace(ProcessStartInfo start, string file)
    {
        string[] options = ["-f", "--seccomp-bpf", "-qq", "-y", "-s", "0", "-e", "signal=none", "-e", $"trace={Calls}", "-o", file, start.FileName];
        for (var i = 0; i < options.Length; i++)
            start.ArgumentList.Insert(i, options[i]);
        start.FileName = Tracer;
    }
}

/// <summary>What an engine did to make its commits durable. The counts are null if they were not counted, for which there is a reason.</summary>
internal sealed record SyncCount(string Engine, long? Commits, long? Syncs, long? WriteThroughWrites, string? Reason = null)
{
    /// <summary>
    /// False if there are fewer syncs and write-through writes than the commits need, as many of which as the engine has in flight can share one.
    /// Null if they were not counted.
    /// </summary>
    public bool? IsDurable =>
        Commits is null ? null : (Syncs + WriteThroughWrites) * EngineCatalog.Find(Engine).CommitsInFlight >= Commits;

    public static SyncCount None(string engine, string reason) => new(engine, null, null, null, reason);
}
