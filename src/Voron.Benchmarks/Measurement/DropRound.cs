using System.Buffers.Binary;
using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>A tree dropped in steps, and the same tree deleted in one transaction, beside a writer of small durable commits.</summary>
internal sealed record DropRound
{
    private const int SmallItems = 10_000;
    private const int ItemsPerCommit = 10;
    private const int ValueBytes = 100;
    private const string SmallName = "small";

    private static readonly TimeSpan LoadTime = TimeSpan.FromSeconds(10);

    /// <summary>Commits with nothing beside them.</summary>
    public required LatencySummary Alone { get; init; }

    /// <summary>Commits beside a tree that is dropped.</summary>
    public required LatencySummary BesideDrop { get; init; }

    /// <summary>Commits beside a tree that is deleted.</summary>
    public required LatencySummary BesideDelete { get; init; }

    /// <summary>The time until the pages of the dropped tree are free.</summary>
    public required double DropMilliseconds { get; init; }

    /// <summary>The time for which the deletion holds the writer.</summary>
    public required double DeleteMilliseconds { get; init; }

    /// <summary>The pages that the drop has freed.</summary>
    public required long DroppedPages { get; init; }

    /// <summary>The pages that the deletion has freed.</summary>
    public required long DeletedPages { get; init; }

    /// <summary>Measures both, on two stores of the same content.</summary>
    /// <param name="directory">An empty directory.</param>
    /// <param name="bytes">The size of the tree.</param>
    /// <param name="dropsFirst">Which is measured first.</param>
    /// <param name="stop">Cancels the round.</param>
    public static async Task<DropRound> MeasureAsync(string directory, long bytes, bool dropsFirst, CancellationToken stop)
    {
        Removal deleted = null!;
        if (!dropsFirst)
            deleted = await MeasureRemovalAsync(Path.Combine(directory, "deleted"), bytes, Delete, stop).ConfigureAwait(false);
        var dropped = await MeasureRemovalAsync(Path.Combine(directory, "dropped"), bytes, Drop, stop).ConfigureAwait(false);
        if (dropsFirst)
            deleted = await MeasureRemovalAsync(Path.Combine(directory, "deleted"), bytes, Delete, stop).ConfigureAwait(false);
        return new DropRound
        {
            Alone = dropped.Alone,
            BesideDrop = dropped.Beside,
            BesideDelete = deleted.Beside,
            DropMilliseconds = dropped.Milliseconds,
            DeleteMilliseconds = deleted.Milliseconds,
            DroppedPages = dropped.FreedPages,
            DeletedPages = deleted.FreedPages,
        };
    }

    private static async Task<Removal> MeasureRemovalAsync(
        string directory, long bytes, Func<StorageEnvironment, CancellationToken, Task<double>> remove, CancellationToken stop)
    {
        using var store = BackupStore.Create(directory, bytes);
        var environment = store.Environment;
        PutSmall(environment);
        store.Forget();
        var alone = await WriteWhileAsync(environment, Task.Delay(LoadTime, stop)).ConfigureAwait(false);
        var before = FreePages(environment);
        var removal = Task.Run(() => remove(environment, stop), stop);
        var beside = await WriteWhileAsync(environment, removal).ConfigureAwait(false);
        var freed = FreePages(environment) - before;
        var verification = environment.Verify();
        if (!verification.IsSound)
            throw new BenchmarkException($"The environment of {directory} is not sound: {verification}");
        store.Dispose();
        Directory.Delete(directory, recursive: true);
        return new Removal(alone, beside, await removal.ConfigureAwait(false), freed);
    }

    private static async Task<double> Drop(StorageEnvironment environment, CancellationToken stop)
    {
        var began = Stopwatch.GetTimestamp();
        if (!await environment.DropTreeAsync(BackupStore.TreeName, stop).ConfigureAwait(false))
            throw new BenchmarkException("There is no tree to drop.");
        return Stopwatch.GetElapsedTime(began).TotalMilliseconds;
    }

    // The wait for the writer does not count.
    private static Task<double> Delete(StorageEnvironment environment, CancellationToken stop)
    {
        using var writing = environment.BeginWrite(TimeSpan.MaxValue, stop);
        var began = Stopwatch.GetTimestamp();
        if (!writing.DeleteTree(BackupStore.TreeName))
            throw new BenchmarkException("There is no tree to delete.");
        writing.Commit();
        return Task.FromResult(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
    }

    private static long FreePages(StorageEnvironment environment)
    {
        environment.Flush();
        return environment.GetStatistics().FreeDataFileBytes!.Value / environment.GetStatistics().PageSize;
    }

    private static void PutSmall(StorageEnvironment environment)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(SmallName);
        var random = new Random(6);
        for (var item = 0; item < SmallItems; item++)
            Put(tree, item, random);
        writing.Commit();
    }

    private static Task<LatencySummary> WriteWhileAsync(StorageEnvironment environment, Task task) => WriterLoad.RunWhileAsync(task, random =>
    {
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(SmallName);
        for (var i = 0; i < ItemsPerCommit; i++)
            Put(tree, random.Next(SmallItems), random);
        writing.Commit();
    });

    private static void Put(WriteTree tree, int item, Random random)
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        Span<byte> value = stackalloc byte[ValueBytes];
        BinaryPrimitives.WriteInt32BigEndian(key, item);
        random.NextBytes(value);
        tree.Put(key, value);
    }

    private sealed record Removal(LatencySummary Alone, LatencySummary Beside, double Milliseconds, long FreedPages);
}
