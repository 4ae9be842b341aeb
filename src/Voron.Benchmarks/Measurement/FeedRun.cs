using Voron.Feeds;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Puts of items of 16 + 100 bytes with random keys into a tree that a feed records, or not; and a consumer that reads the feed afterwards. Times
/// of puts include a share of the commit. Without a feed, those of reading are 0.
/// </summary>
internal sealed record FeedRun(
    string Way, int PerCommit, double PutNanoseconds, double CommitMicroseconds, double RecordBytes, double PutManagedBytes, double ReadNanoseconds,
    double ReadManagedBytes)
{
    public const string Unrecorded = "no feed";
    public const string Keys = "keys";
    public const string Values = "keys and values";

    private const string Tree = "items";
    private const string Feed = "changes";
    private const int KeyBytes = 16;
    private const int ValueBytes = 100;
    private const int Present = 200_000;
    private const int ReadPasses = 3;

    public static string[] Ways { get; } = [Unrecorded, Keys, Values];

    public static FeedRun Measure(string directory, string way, int puts, int perCommit, int seed)
    {
        using var place = new WorkArea(directory);
        using var environment = StorageEnvironment.Open(place.Path);
        var random = new Random(seed);
        environment.Write(writing => { writing.CreateTree(Tree); });
        Put(environment, random, Present, Present, new LatencyHistogram());
        if (way != Unrecorded)
            environment.Write(writing => Record(writing, way == Keys ? RecordedContent.KeysOnly : RecordedContent.NewValues));
        environment.Flush();
        var before = environment.GetStatistics().JournalTransactionBytes;
        var allocated = GC.GetTotalAllocatedBytes();
        var commits = new LatencyHistogram();
        var began = Stopwatch.GetTimestamp();
        Put(environment, random, puts, perCommit, commits);
        var nanoseconds = Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)puts;
        var managed = (GC.GetTotalAllocatedBytes() - allocated) / (double)puts;
        var records = (environment.GetStatistics().JournalTransactionBytes - before) / (double)puts;
        var (read, readManaged) = way == Unrecorded ? (0, 0) : Read(environment, puts);
        return new FeedRun(way, perCommit, nanoseconds, commits.Summarise()!.P50Microseconds, records, managed, read, readManaged);
    }

    /// <summary>Measures the time from a durable commit to the moment at which a consumer that waits has its change.</summary>
    public static async Task<LatencySummary> MeasureWaitAsync(string directory, int commits, CancellationToken stop)
    {
        using var place = new WorkArea(directory);
        using var environment = StorageEnvironment.Open(place.Path);
        environment.Write(writing => { writing.CreateTree(Tree); Record(writing, RecordedContent.NewValues); });
        var times = new LatencyHistogram();
        using var seen = new SemaphoreSlim(0);
        var received = 0L;
        ChangePosition start;
        using (var reading = environment.BeginRead())
            start = reading.GetNewestPosition(Feed);
        var consumer = Task.Run(
            async () =>
            {
                var left = commits;
                await foreach (var batch in environment.ReadChangesAsync(Feed, start, cancellationToken: stop).ConfigureAwait(false))
                {
                    Volatile.Write(ref received, Stopwatch.GetTimestamp());
                    left -= batch.Count;
                    seen.Release(batch.Count);
                    if (left == 0)
                        return;
                }
            },
            stop);
        var value = new byte[ValueBytes];
        for (var i = 0; i < commits; i++)
        {
            environment.Write(writing => writing.OpenTree(Tree).Put(BitConverter.GetBytes(i), value));
            var durable = Stopwatch.GetTimestamp();
            await seen.WaitAsync(stop).ConfigureAwait(false);
            times.Record(Math.Max(0, Clock.Nanoseconds(durable, Volatile.Read(ref received))));
        }

        await consumer.ConfigureAwait(false);
        return times.Summarise()!;
    }

    private static void Record(WriteTransaction writing, RecordedContent content)
    {
        writing.CreateFeed(Feed);
        writing.RecordTree(Feed, Tree, content);
    }

    private static void Put(StorageEnvironment environment, Random random, int puts, int perCommit, LatencyHistogram commits)
    {
        var (key, value) = (new byte[KeyBytes], new byte[ValueBytes]);
        for (var done = 0; done < puts; done += perCommit)
        {
            var began = Stopwatch.GetTimestamp();
            using var writing = environment.BeginWrite();
            var tree = writing.OpenTree(Tree);
            for (var i = 0; i < perCommit; i++)
            {
                random.NextBytes(key);
                random.NextBytes(value);
                tree.Put(key, value);
            }

            writing.Commit();
            commits.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
        }
    }

    private static (double Nanoseconds, double ManagedBytes) Read(StorageEnvironment environment, int puts)
    {
        var batch = new ChangeBatch();
        var best = double.MaxValue;
        var managed = 0.0;
        for (var pass = 0; pass < ReadPasses; pass++)
        {
            var allocated = GC.GetAllocatedBytesForCurrentThread();
            var began = Stopwatch.GetTimestamp();
            var (changes, sum) = (0L, 0L);
            for (var position = ChangePosition.Start; ; position = batch.Position)
            {
                using var reading = environment.BeginRead();
                if (!reading.ReadChanges(Feed, position, batch))
                    break;
                foreach (var change in batch)
                {
                    changes += change.Operation == ChangeOperation.Put ? 1 : 0;
                    sum += change.Key.Length + change.NewValue.Length;
                }
            }

            if (changes != puts || sum == 0)
                throw new BenchmarkException($"The feed has {changes:N0} changes of {puts:N0}.");
            best = Math.Min(best, Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)puts);
            managed = (GC.GetAllocatedBytesForCurrentThread() - allocated) / (double)puts;
        }

        return (best, managed);
    }
}
