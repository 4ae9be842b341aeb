using System.Buffers.Binary;

namespace Voron.Tests.Trees.KeyHeads;

/// <summary>
/// Key heads kept beside data-file pages never outlive the contents that they stand for, whatever a flush writes there; otherwise a lookup
/// would miss its key or return a value of another snapshot.
/// </summary>
public sealed class DataFileKeyHeadsTests
{
    private const int Keys = 3_000;
    private const int Versions = 300;
    private const int Snapshots = 100;

    [Theory]
    [InlineData(1 << 20, 1)]
    [InlineData(16 << 10, 2)]
    public void Lookups_agree_with_their_snapshot_while_pages_are_flushed(int keyHeadCacheBytes, int seed)
    {
        var random = new Random(seed);
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, KeyHeadCacheBytes = keyHeadCacheBytes });
        var newest = new Dictionary<int, long>();
        var readers = new List<(ReadTransaction Read, Dictionary<int, long> Content)>();
        for (var step = 1; step <= 400; step++)
        {
            Change(environment, newest, step, random);
            if (random.Next(3) == 0)
                environment.Flush();
            if (random.Next(6) == 0)
                readers.Add((environment.BeginRead(), new Dictionary<int, long>(newest)));
            if (readers.Count > 4)
            {
                var ended = random.Next(readers.Count);
                readers[ended].Read.Dispose();
                readers.RemoveAt(ended);
            }

            using (var read = environment.BeginRead())
                Check(read, newest, random, $"seed {seed}, step {step}, newest");
            foreach (var (read, content) in readers)
                Check(read, content, random, $"seed {seed}, step {step}, snapshot {read.TransactionId}");
        }

        foreach (var (read, _) in readers)
            read.Dispose();
    }

    [Fact]
    public async Task Readers_of_many_threads_see_whole_transactions_while_a_flusher_runs()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, KeyHeadCacheBytes = 32 << 10 });
        using (var write = environment.BeginWrite())
        {
            Fill(write.CreateTree("t"), 0);
            write.Commit();
        }

        using var stop = new CancellationTokenSource();
        var snapshots = 0;
        var readers = Enumerable.Range(0, 3)
            .Select(thread => Task.Factory.StartNew(
                () => Read(environment, new Random(thread), () => Interlocked.Increment(ref snapshots), stop.Token),
                CancellationToken.None,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default))
            .ToArray();
        var flushes = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
                environment.Flush();
        }, CancellationToken.None);
        for (var version = 1L; version <= Versions || Volatile.Read(ref snapshots) < Snapshots; version++)
        {
            using var write = environment.BeginWrite();
            Fill(write.OpenTree("t"), version);
            write.Commit();

            // Lets the flusher catch up, so that readers find pages in the data file.
            if (version % 8 == 0)
                TestWait.Until(() => environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId);
        }

        await stop.CancelAsync();

        await Task.WhenAll([.. readers, flushes]);
        readers.Sum(reader => reader.Result).Should().BePositive();
    }

    /// <summary>Puts every hundredth key, and a different set of keys for each version, so that pages are split and merged.</summary>
    private static void Fill(WriteTree tree, long version)
    {
        var value = new byte[100];
        BinaryPrimitives.WriteInt64LittleEndian(value, version);
        for (var i = 0; i < Keys / 10; i++)
        {
            tree.Put(Key(i * 10 + 1 + (int)(version % 7)), value);
            tree.Delete(Key(i * 10 + 1 + (int)((version + 3) % 7)));
        }

        for (var i = 0; i < Keys; i += 100)
            tree.Put(Key(i), value);
    }

    private static long Read(StorageEnvironment environment, Random random, Action opened, CancellationToken stop)
    {
        var lookups = 0L;
        var batch = new LookupBatch();
        while (!stop.IsCancellationRequested)
        {
            using var read = environment.BeginRead();
            opened();
            var tree = read.OpenTree("t");
            var version = -1L;
            for (var round = 0; round < 3; round++)
            {
                batch.Clear();
                for (var i = 0; i < Keys; i += 100)
                {
                    var key = Key(i);
                    batch.Add(key);
                    tree.TryGet(key, out var value).Should().BeTrue();
                    Same(ref version, value);
                    lookups++;
                }

                tree.GetMany(batch).Should().Be(batch.Count);
                for (var i = 0; i < batch.Count; i++)
                {
                    batch.TryGetValue(i, out var value);
                    Same(ref version, value);
                }

                if (random.Next(4) == 0)
                    Thread.Yield();
            }
        }

        return lookups;
    }

    private static void Same(ref long version, ReadOnlySpan<byte> value)
    {
        var found = BinaryPrimitives.ReadInt64LittleEndian(value);
        if (version < 0)
            version = found;
        if (version != found)
            throw new InvalidOperationException($"a snapshot has versions {version} and {found}");
    }

    private static void Change(StorageEnvironment environment, Dictionary<int, long> content, int step, Random random)
    {
        var newest = new Dictionary<int, long>(content);
        using var write = environment.BeginWrite();
        var tree = write.CreateTree("t");
        var value = new byte[random.Next(8, 200)];
        BinaryPrimitives.WriteInt64LittleEndian(value, step);

        // Changes neighbouring keys together, so that leaves come and go.
        var first = random.Next(Keys);
        var isDelete = random.Next(3) == 0;
        for (var i = first; i < Math.Min(Keys, first + random.Next(1, 200)); i++)
        {
            if (isDelete)
            {
                tree.Delete(Key(i)).Should().Be(newest.Remove(i));
            }
            else
            {
                tree.Put(Key(i), value);
                newest[i] = step;
            }
        }

        if (step > 1 && random.Next(10) == 0)
            return;
        write.Commit();
        content.Clear();
        foreach (var (key, version) in newest)
            content.Add(key, version);
    }

    private static void Check(ReadTransaction read, Dictionary<int, long> content, Random random, string where)
    {
        var tree = read.OpenTree("t");
        var batch = new LookupBatch();
        for (var i = 0; i < 40; i++)
            batch.Add(Key(random.Next(Keys)));
        tree.GetMany(batch);
        for (var i = 0; i < batch.Count; i++)
        {
            var number = BinaryPrimitives.ReadInt32BigEndian(batch.Key(i)[^4..]);
            var isThere = tree.TryGet(batch.Key(i), out var alone);
            var isThereTogether = batch.TryGetValue(i, out var together);
            var isExpected = content.TryGetValue(number, out var step);
            if (isThere != isExpected || isThereTogether != isExpected)
                throw new InvalidOperationException($"{where}: key {number} exists: {isThere}, {isThereTogether}, expected {isExpected}");
            if (isExpected && (BinaryPrimitives.ReadInt64LittleEndian(alone) != step || !alone.SequenceEqual(together)))
                throw new InvalidOperationException($"{where}: key {number} has a value of another snapshot");
        }
    }

    private static byte[] Key(int number)
    {
        var key = new byte[12];
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(8), number);
        return key;
    }
}
