using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>One round of all figures of backups. Rates are in MB a second.</summary>
internal sealed record OperationsRound
{
    private const long HotItems = (64 << 20) / BackupStore.ValueBytes;
    private const int SlowBytesPerSecond = 5_000_000;
    private const int PacedBytesPerSecond = 50_000_000;

    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(10);

    public double DeviceRead { get; private init; }

    public double DeviceWrite { get; private init; }

    public double Full { get; private init; }

    public double FullSeconds { get; private init; }

    public double FullBytes { get; private init; }

    public double Compressed { get; private init; }

    public double Restore { get; private init; }

    public double IncrementalSeconds { get; private init; }

    public double IncrementalBytes { get; private init; }

    /// <summary>Commits without a backup.</summary>
    public required LatencySummary Alone { get; init; }

    /// <summary>Commits beside backups at full speed.</summary>
    public required LatencySummary Beside { get; init; }

    /// <summary>Commits beside a backup of limited speed.</summary>
    public required LatencySummary BesidePaced { get; init; }

    public required LatencySummary LookupAlone { get; init; }

    public required LatencySummary LookupBeside { get; init; }

    /// <summary>The longest time in milliseconds for which a backup held a snapshot while others wrote.</summary>
    public double LongestHold { get; private init; }

    /// <summary>The most bytes of journal and scratch memory beside a slow target.</summary>
    public double SlowBytes { get; private init; }

    /// <summary>The most bytes of journal and scratch memory without a backup.</summary>
    public double UsualBytes { get; private init; }

    public static async Task<OperationsRound> MeasureAsync(BackupStore store, string target, CancellationToken stop)
    {
        var file = Path.Combine(target, $"backup-{Environment.ProcessId}.vback");
        var compressed = file + "-compressed";
        var changes = file + "-changes";
        var restored = file + "-restored";
        try
        {
            store.Forget();
            var deviceRead = SequentialDevice.Read(store.DataPath);
            var deviceWrite = SequentialDevice.Write(file, store.Bytes);
            store.Forget();
            var full = await store.Environment.BackupAsync(file, new BackupOptions { Compress = false }, stop).ConfigureAwait(false);
            store.Forget();
            var smaller = await store.Environment.BackupAsync(compressed, null, stop).ConfigureAwait(false);
            File.Delete(compressed);
            var restoreRate = await RestoreAsync(file, restored, full, stop).ConfigureAwait(false);
            var incremental = await ChangeAndBackUpAsync(store, changes, full, stop).ConfigureAwait(false);
            var (alone, usualBytes) = await WriteWhileAsync(store, Task.Delay(LoadTime, stop)).ConfigureAwait(false);
            var hold = 0.0;
            var (beside, _) = await WriteWhileAsync(
                store, BackUpForAsync(store, file, 0, taken => hold = Math.Max(hold, taken), stop)).ConfigureAwait(false);
            var (paced, _) = await WriteWhileAsync(
                store, BackUpForAsync(store, file, PacedBytesPerSecond, taken => hold = Math.Max(hold, taken), stop)).ConfigureAwait(false);
            using var slow = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var slowBackup = store.Environment.BackupAsync(new SlowStream(SlowBytesPerSecond), null, slow.Token).AsTask();
            var (_, slowBytes) = await WriteWhileAsync(store, Task.Delay(LoadTime, stop)).ConfigureAwait(false);
            await slow.CancelAsync().ConfigureAwait(false);
            await ((Task)slowBackup).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            var lookupAlone = await LookUpWhileAsync(store, Task.Delay(LoadTime, stop)).ConfigureAwait(false);
            var lookupBeside = await LookUpWhileAsync(store, BackUpForAsync(store, file, 0, _ => { }, stop)).ConfigureAwait(false);
            return new OperationsRound
            {
                DeviceRead = deviceRead,
                DeviceWrite = deviceWrite,
                Full = RateOf(store, full),
                FullSeconds = full.Duration.TotalSeconds,
                FullBytes = full.Bytes,
                Compressed = RateOf(store, smaller),
                Restore = restoreRate,
                IncrementalSeconds = incremental.Duration.TotalSeconds,
                IncrementalBytes = incremental.Bytes,
                Alone = alone,
                Beside = beside,
                BesidePaced = paced,
                LookupAlone = lookupAlone,
                LookupBeside = lookupBeside,
                LongestHold = hold,
                SlowBytes = slowBytes,
                UsualBytes = usualBytes,
            };
        }
        finally
        {
            foreach (var made in new[] { file, compressed, changes })
                File.Delete(made);
            if (Directory.Exists(restored))
                Directory.Delete(restored, recursive: true);
        }
    }

    private static double RateOf(BackupStore store, BackupReport report) =>
        report.Pages * (double)store.Environment.Options.PageSize!.Value / report.Duration.TotalSeconds / 1e6;

    private static async Task<double> RestoreAsync(string file, string directory, BackupReport backup, CancellationToken stop)
    {
        LinuxCalls.ForgetDirectory(Path.GetDirectoryName(file)!);
        var options = new RestoreOptions { VerifyRestored = false };
        var report = await BackupFile.RestoreAsync(file, directory, options, stop).ConfigureAwait(false);
        Directory.Delete(directory, recursive: true);
        return backup.Bytes / report.Duration.TotalSeconds / 1e6;
    }

    // Each put changes a leaf of its own.
    private static async Task<BackupReport> ChangeAndBackUpAsync(BackupStore store, string file, BackupReport full, CancellationToken stop)
    {
        var random = new Random(2);
        var pages = (int)(full.Pages / 100);
        for (var left = pages; left > 0; left -= 1000)
            store.Update(Math.Min(left, 1000), random);
        store.Forget();
        return await store.Environment.BackupAsync(
            file, new BackupOptions { Since = full.BackupId, Compress = false }, stop).ConfigureAwait(false);
    }

    private static async Task BackUpForAsync(BackupStore store, string file, long rate, Action<double> held, CancellationToken stop)
    {
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began) < LoadTime)
        {
            File.Delete(file);
            using var enough = CancellationTokenSource.CreateLinkedTokenSource(stop);
            enough.CancelAfter(LoadTime * 2);
            try
            {
                var options = new BackupOptions { Compress = false, MaxBytesPerSecond = rate };
                var report = await store.Environment.BackupAsync(file, options, enough.Token).ConfigureAwait(false);
                held(report.LongestHold.TotalMilliseconds);
            }
            catch (OperationCanceledException) when (!stop.IsCancellationRequested)
            {
                return;
            }
        }
    }

    // One writer, as long as a task runs. Returns its commits, and the most bytes of journal and scratch memory.
    private static async Task<(LatencySummary Commits, double Bytes)> WriteWhileAsync(BackupStore store, Task task)
    {
        var most = 0L;
        var commits = await WriterLoad.RunWhileAsync(task, random => store.Update(10, random), () =>
        {
            var statistics = store.Environment.GetStatistics();
            most = Math.Max(most, statistics.LiveJournalBytes + statistics.ScratchBytes);
        }).ConfigureAwait(false);
        return (commits, most);
    }

    // One reader of items that are in memory, as long as a task runs.
    private static async Task<LatencySummary> LookUpWhileAsync(BackupStore store, Task task)
    {
        var histogram = new LatencyHistogram();
        await Task.Factory.StartNew(
            () =>
            {
                var random = new Random(4);
                using var reading = store.Environment.BeginRead();
                for (var item = 0L; item < HotItems; item++)
                    BackupStore.TryRead(reading, item);
                while (!task.IsCompleted)
                {
                    var began = Stopwatch.GetTimestamp();
                    BackupStore.TryRead(reading, random.NextInt64(HotItems));
                    histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
                }
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).ConfigureAwait(false);
        await task.ConfigureAwait(false);
        return histogram.Summarise()!;
    }

    /// <summary>A stream that takes a number of bytes a second.</summary>
    private sealed class SlowStream(int bytesPerSecond) : MemoryStream
    {
        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
            await Task.Delay(TimeSpan.FromSeconds(buffer.Length / (double)bytesPerSecond), cancellationToken).ConfigureAwait(false);
    }
}
