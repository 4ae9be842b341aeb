using System.Diagnostics;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Measurement;

/// <summary>Flushes and commits of two stores, of which one keeps a change log. They take turns, so that both meet the same device.</summary>
internal sealed record ChangeLogRound
{
    /// <summary>The items that each flush has to write, at random places.</summary>
    public const int ItemsPerFlush = 5_000;

    private const int ItemsPerTransaction = 10;
    private const int Flushes = 24;

    /// <summary>The flushes of the store with the log, in milliseconds.</summary>
    public required IReadOnlyList<double> FlushesWith { get; init; }

    /// <summary>The flushes of the store without a log, in milliseconds.</summary>
    public required IReadOnlyList<double> FlushesWithout { get; init; }

    public required LatencySummary CommitsWith { get; init; }

    public required LatencySummary CommitsWithout { get; init; }

    public double MedianWith => Figures.Median(FlushesWith);

    public double MedianWithout => Figures.Median(FlushesWithout);

    public static async Task<ChangeLogRound> MeasureAsync(string directory, long bytes, CancellationToken stop)
    {
        using var with = BackupStore.Create(Path.Combine(directory, "with-log"), bytes, OptionsWith(isTracking: true));
        using var without = BackupStore.Create(Path.Combine(directory, "without-log"), bytes, OptionsWith(isTracking: false));

        // The log begins with the first backup to build on.
        await with.Environment.BackupAsync(Stream.Null, new BackupOptions { IsBase = true }, stop).ConfigureAwait(false);
        with.Forget();
        without.Forget();
        var (flushesWith, commitsWith) = (new List<double>(), new LatencyHistogram());
        var (flushesWithout, commitsWithout) = (new List<double>(), new LatencyHistogram());
        for (var flush = 0; flush < Flushes; flush++)
        {
            stop.ThrowIfCancellationRequested();
            if (flush % 2 == 0)
                flushesWith.Add(ChangeAndFlush(with, commitsWith, flush));
            flushesWithout.Add(ChangeAndFlush(without, commitsWithout, flush));
            if (flush % 2 == 1)
                flushesWith.Add(ChangeAndFlush(with, commitsWith, flush));
        }

        return new ChangeLogRound
        {
            FlushesWith = flushesWith,
            FlushesWithout = flushesWithout,
            CommitsWith = commitsWith.Summarise()!,
            CommitsWithout = commitsWithout.Summarise()!,
        };
    }

    private static StorageOptions OptionsWith(bool isTracking) => new() { TrackChanges = isTracking, BackgroundFlush = false };

    // Returns the flush's time in milliseconds.
    private static double ChangeAndFlush(BackupStore store, LatencyHistogram commits, int seed)
    {
        var random = new Random(seed);
        for (var left = ItemsPerFlush; left > 0; left -= ItemsPerTransaction)
        {
            var began = Stopwatch.GetTimestamp();
            store.Update(ItemsPerTransaction, random);
            commits.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
        }

        var flushing = Stopwatch.GetTimestamp();
        store.Environment.Flush();
        return Stopwatch.GetElapsedTime(flushing).TotalMilliseconds;
    }
}
