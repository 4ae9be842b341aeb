namespace Voron.Benchmarks.Measurement;

/// <summary>Compactions after two thirds of the items were deleted at random: alone, and beside a writer.</summary>
internal sealed class CompactionRound
{
    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(10);

    /// <summary>The compaction with nothing beside it.</summary>
    public required CompactionReport Alone { get; init; }

    /// <summary>The compaction beside a writer.</summary>
    public required CompactionReport Beside { get; init; }

    /// <summary>The bytes that the process wrote during the first one.</summary>
    public double WrittenBytes { get; private init; }

    /// <summary>The bytes by which the directory took more room during the first one than before it, at most.</summary>
    public double ExtraBytes { get; private init; }

    /// <summary>The bytes that the journal may take.</summary>
    public double JournalLimitBytes { get; private init; }

    /// <summary>Commits without a compaction.</summary>
    public required LatencySummary CommitsAlone { get; init; }

    /// <summary>Commits beside a compaction.</summary>
    public required LatencySummary CommitsBeside { get; init; }

    public static async Task<CompactionRound> MeasureAsync(string directory, long bytes, CancellationToken stop)
    {
        directory = Path.Combine(directory, "store");
        using (var store = Fragmented(directory, bytes))
        {
            var written = ProcessWrites.Bytes();
            var before = DiskUsage.AllocatedBytes(directory);
            var compaction = store.Environment.CompactAsync(null, stop).AsTask();
            var most = before;
            while (await Task.WhenAny(compaction, Task.Delay(10, stop)).ConfigureAwait(false) != compaction)
                most = Math.Max(most, DiskUsage.AllocatedBytes(directory));
            var alone = await compaction.ConfigureAwait(false);
            written = ProcessWrites.Bytes() - written;
            store.Dispose();
            Directory.Delete(directory, recursive: true);
            using var other = Fragmented(directory, bytes);
            var commitsAlone = await WriteWhileAsync(other, Task.Delay(LoadTime, stop)).ConfigureAwait(false);
            var second = other.Environment.CompactAsync(null, stop).AsTask();
            var commitsBeside = await WriteWhileAsync(other, second).ConfigureAwait(false);
            return new CompactionRound
            {
                Alone = alone,
                Beside = await second.ConfigureAwait(false),
                WrittenBytes = written,
                ExtraBytes = most - before,
                JournalLimitBytes = other.Environment.Options.JournalLimitBytes,
                CommitsAlone = commitsAlone,
                CommitsBeside = commitsBeside,
            };
        }
    }

    // Free space is returned first: the places to which pages move have no blocks then.
    private static BackupStore Fragmented(string directory, long bytes)
    {
        var store = BackupStore.Create(directory, bytes);
        store.DeleteMost();
        store.Environment.ReclaimSpace();
        store.Forget();
        return store;
    }

    private static Task<LatencySummary> WriteWhileAsync(BackupStore store, Task task) =>
        WriterLoad.RunWhileAsync(task, random => store.UpdateKept(10, random));
}
