using System.Collections.Concurrent;
using Voron.Tests.Faults;

namespace Voron.Tests.Snapshots;

/// <summary>
/// A read transaction that two threads use while another disposes it: the mistake must harm only its caller, not the environment.
/// </summary>
public sealed class SharedReaderTests(ITestOutputHelper output)
{
    private const int Keys = 400;
    private static readonly int Rounds = SuiteShare.Rounds(500);
    private const int LeastReads = 1_000;
    private const int LeastReports = 10;

    [Fact]
    public async Task Two_threads_in_a_reader_and_its_disposal_do_no_harm()
    {
        var seed = TestSeed.Choose();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        Fill(environment, 0);
        using var limit = new CancellationTokenSource(TestWait.Limit);
        using var turn = new Barrier(3);
        var current = default(ReadTransaction);
        var isOver = false;
        var surprises = new ConcurrentQueue<Exception>();
        long reads = 0, reported = 0, rounds = 0;

        // Each round: one transaction, one thread that disposes it, and two threads that use it until an exception reports its end.
        var users = Enumerable.Range(0, 2).Select(user => Task.Factory.StartNew(
            () =>
            {
                var random = new Random(seed + user);
                while (true)
                {
                    turn.SignalAndWait(CancellationToken.None);
                    if (isOver)
                        return;
                    Use(current, random, surprises, ref reads, ref reported);
                    turn.SignalAndWait(CancellationToken.None);
                }
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default)).ToArray();
        var writing = Task.Factory.StartNew(
            () =>
            {
                for (var version = 1; !Volatile.Read(ref isOver); version++)
                {
                    Fill(environment, version);
                    if (version % 5 == 0)
                        environment.Flush();
                }
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        var wait = new Random(seed + 9);
        while (true)
        {
            isOver = limit.IsCancellationRequested
                || (rounds >= Rounds && Interlocked.Read(ref reads) > LeastReads && Interlocked.Read(ref reported) > LeastReports);
            if (isOver)
            {
                turn.SignalAndWait(CancellationToken.None);
                break;
            }

            current = environment.BeginRead();
            turn.SignalAndWait(CancellationToken.None);
            Thread.SpinWait(wait.Next(2000));
            DisposeAtLast(current, ref reported);
            turn.SignalAndWait(CancellationToken.None);
            rounds++;
        }

        await Task.WhenAll([.. users, writing]);
        output.WriteLine($"{rounds} transactions, {reads} reads, {reported} refusals");
        surprises.Should().BeEmpty();
        reads.Should().BeGreaterThan(LeastReads);
        reported.Should().BeGreaterThan(LeastReports);
        environment.GetStatistics().OpenReaders.Should().Be(0);
        environment.Flush();
        var statistics = environment.GetStatistics();
        statistics.CheckpointTransactionId.Should().Be(statistics.PublishedTransactionId, "no slot was left registered");
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static void Use(
        ReadTransaction reading, Random random, ConcurrentQueue<Exception> surprises, ref long reads, ref long reported)
    {
        while (true)
        {
            try
            {
                Read(reading, random);
                Interlocked.Increment(ref reads);
            }
            catch (ObjectDisposedException)
            {
                return;
            }
            catch (InvalidOperationException e) when (e.Message.Contains("Two threads", StringComparison.Ordinal))
            {
                Interlocked.Increment(ref reported);
            }
            catch (Exception e)
            {
                surprises.Enqueue(e);
                return;
            }
        }
    }

    // A result that a call returned before the end is right; the bytes of a span are checked only if the transaction is still open afterwards.
    private static void Read(ReadTransaction reading, Random random)
    {
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        var key = random.Next(Keys);
        if (random.Next(3) > 0)
        {
            tree.TryGet(FaultTestKit.Key(key), out var value).Should().BeTrue();
            var copy = value.ToArray();
            _ = reading.TransactionId;
            Check(key, copy);
            return;
        }

        using var cursor = tree.OpenCursor();
        cursor.SeekExact(FaultTestKit.Key(key)).Should().BeTrue();
        for (var i = key; i < Math.Min(Keys, key + 5); i++)
        {
            var copy = cursor.Value.ToArray();
            _ = reading.TransactionId;
            Check(i, copy);
            cursor.MoveNext().Should().Be(i < Keys - 1);
        }
    }

    private static void Check(int key, byte[] value)
    {
        value.Should().HaveCount(12 + key % 50 * 40);
        BitConverter.ToInt32(value, 0).Should().Be(key);
        var version = value[4];
        value.AsSpan(4).IndexOfAnyExcept(version).Should().Be(-1, "the value of key {0} is intact", key);
    }

    private static void DisposeAtLast(ReadTransaction reading, ref long reported)
    {
        while (true)
        {
            try
            {
                reading.Dispose();
                return;
            }
            catch (InvalidOperationException e) when (e is not ObjectDisposedException)
            {
                e.Message.Should().Contain("Two threads");
                Interlocked.Increment(ref reported);
            }
        }
    }

    private static void Fill(StorageEnvironment environment, int version)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = 0; i < Keys; i++)
        {
            var value = new byte[12 + i % 50 * 40];
            value.AsSpan().Fill((byte)version);
            BitConverter.TryWriteBytes(value, i);
            tree.Put(FaultTestKit.Key(i), value);
        }

        writing.Commit();
    }
}
