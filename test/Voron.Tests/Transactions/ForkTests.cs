using Voron.Simulation.Harness;
using Voron.Snapshots;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>A fork of a read transaction sees the same snapshot, whatever is committed, flushed or disposed of meanwhile.</summary>
public sealed class ForkTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Fact]
    public void A_fork_sees_the_state_of_the_original_after_newer_commits_and_outlives_it()
    {
        Fill(0);
        var original = _environment.BeginRead();
        var id = original.TransactionId;
        for (var version = 1; version <= 5; version++)
            Fill(version);
        var fork = original.Fork();
        fork.TransactionId.Should().Be(id);
        original.Dispose();
        for (var version = 6; version <= 20; version++)
        {
            Fill(version);
            _environment.Flush();
        }

        using (var second = fork.Fork())
        {
            fork.Dispose();
            Check(second, 0);
            second.TransactionId.Should().Be(id);
            second.GetTreeNames().Should().Equal(FaultTestKit.TreeName);
        }

        using (var reading = _environment.BeginRead())
            Check(reading, 20);
        _environment.GetStatistics().OpenReaders.Should().Be(0);
        _environment.Flush();
        _environment.GetStatistics().CheckpointTransactionId
            .Should().Be(_environment.GetStatistics().PublishedTransactionId, "no reader holds it back");
    }

    [Fact]
    public void Handles_of_the_one_and_of_the_other_are_independent()
    {
        Fill(0);
        var original = _environment.BeginRead();
        var tree = original.OpenTree(FaultTestKit.TreeName);
        var fork = original.Fork();
        var forkTree = fork.OpenTree(FaultTestKit.TreeName);
        using var cursor = forkTree.OpenCursor();
        cursor.SeekFirst().Should().BeTrue();
        original.Dispose();
        FluentActions.Invoking(() => tree.Count).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => original.Fork()).Should().Throw<ObjectDisposedException>().WithMessage("The transaction has ended.*");
        forkTree.Count.Should().Be(20);
        cursor.MoveNext().Should().BeTrue();
        fork.Dispose();
        FluentActions.Invoking(() => forkTree.Count).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => default(ReadTransaction).Fork()).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void The_oldest_reader_keeps_its_age_and_its_snapshot_over_a_fork()
    {
        Fill(0);
        var original = _environment.BeginRead();
        Fill(1);
        var engine = _environment.Internals.Engine;
        TestWait.Until(() => Age(Reader()) >= TimeSpan.FromMilliseconds(40));
        var before = Age(Reader());
        var fork = original.Fork();
        original.Dispose();
        Reader().Snapshot.Should().Be(fork.TransactionId);
        Age(Reader()).Should().BeGreaterThanOrEqualTo(before);
        fork.Dispose();

        ActiveReader Reader()
        {
            var readers = new List<ActiveReader>();
            engine.Readers.Collect(readers, engine.FlusherSlot);
            return readers.Where(found => found.Slot != engine.FlusherSlot).Should().ContainSingle().Which;
        }

        TimeSpan Age(ActiveReader reader) => engine.Readers.Describe(reader)!.Value.Age;
    }

    [Fact]
    public void The_maximum_number_of_readers_counts_forks()
    {
        Fill(0);
        var readers = new List<ReadTransaction>(ReaderTable.MaxReaders) { _environment.BeginRead() };
        while (readers.Count < ReaderTable.MaxReaders)
            readers.Add(readers[0].Fork());
        FluentActions.Invoking(() => readers[0].Fork())
            .Should().Throw<InvalidOperationException>().WithMessage($"*{ReaderTable.MaxReaders}*maximum*");
        _environment.GetStatistics().OpenReaders.Should().Be(ReaderTable.MaxReaders);
        Check(readers[^1], 0);
        readers[5].Dispose();
        readers[5] = readers[0].Fork();
        Check(readers[5], 0);
        foreach (var reader in readers)
            reader.Dispose();
        _environment.GetStatistics().OpenReaders.Should().Be(0);
    }

    [Fact]
    public void A_leaked_fork_is_reported()
    {
        var logger = new ListLogger();
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions
            {
                BackgroundFlush = false,
                CaptureTransactionStacks = true,
                LeakGrace = TimeSpan.Zero,
                LoggerFactory = OneLoggerFactory.Of(logger),
            });
        FaultTestKit.Put(environment, 1, [1]);
        using (var original = environment.BeginRead())
            Leak(original);
        TestWait.WorkUntil(() => environment.GetStatistics().LeakedReaders > 0, () =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        });

        environment.GetStatistics().OpenReaders.Should().Be(0);
        TestWait.Until(() => logger.Warnings.Any());
        logger.Warnings.Should().ContainSingle().Which.Should().Contain("snapshot 1").And.Contain(nameof(Leak));
    }

    [Fact]
    public void After_the_close_of_the_environment_a_reader_can_be_used_but_not_forked()
    {
        var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var original = environment.BeginRead();
        var fork = original.Fork();
        environment.Dispose();
        original.Dispose();
        fork.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();
        FluentActions.Invoking(() => fork.Fork()).Should().Throw<ObjectDisposedException>().WithMessage("The environment in * is closed.*");
        fork.Dispose();
        FluentActions.Invoking(() => fork.Fork()).Should().Throw<ObjectDisposedException>().WithMessage("The transaction has ended.*");
    }

    [Fact]
    public async Task Several_threads_fork_one_transaction_in_which_another_reads()
    {
        Fill(0);
        using var original = _environment.BeginRead();
        var tree = original.OpenTree(FaultTestKit.TreeName);
        Fill(1);
        using var start = new Barrier(5);
        var workers = Enumerable.Range(0, 4).Select(_ => Task.Factory.StartNew(
            () =>
            {
                start.SignalAndWait(TestWait.Limit).Should().BeTrue();
                for (var i = 0; i < 500; i++)
                {
                    using var fork = original.Fork();
                    if (i % 50 == 0)
                        Check(fork, 0);
                }
            },
            Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default)).ToList();
        start.SignalAndWait(TestWait.Limit, Cancellation).Should().BeTrue();
        for (var version = 2; !Task.WhenAll(workers).IsCompleted; version++)
        {
            tree.Contains(FaultTestKit.Key(version % 20)).Should().BeTrue();
            Fill(version);
        }

        await Task.WhenAll(workers).WaitAsync(TestWait.Limit, Cancellation);
        Check(original, 0);
    }

    // The original is disposed of on one thread while another forks it: the fork either has the snapshot or does not exist.
    [Fact]
    public void A_fork_that_races_with_the_disposal_has_the_snapshot_or_throws()
    {
        var rounds = SuiteShare.Rounds(2_000);
        var forked = 0;
        for (var round = 0; round < rounds; round++)
        {
            if (round % 8 == 0)
                Fill(round);
            var version = round - (round % 8);
            var original = _environment.BeginRead();
            // On a crowded machine the thread that gives the start is always ahead: they take turns.
            var forkIsAhead = round % 2 == 0;
            using var isReady = new ManualResetEventSlim();
            var isStarted = false;
            ReadTransaction fork = default;
            Exception? refused = null;
            var thread = new TestThread(() =>
            {
                isReady.Set();
                if (forkIsAhead)
                    Volatile.Write(ref isStarted, true);
                else
                    TestWait.Until(() => Volatile.Read(ref isStarted));
                try
                {
                    fork = original.Fork();
                }
                catch (Exception e)
                {
                    refused = e;
                }
            });
            isReady.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
            if (forkIsAhead)
                TestWait.Until(() => Volatile.Read(ref isStarted));
            else
                Volatile.Write(ref isStarted, true);
            Thread.SpinWait(round % 100);
            original.Dispose();
            thread.Join().Should().BeNull();
            if (refused != null)
            {
                refused.Should().BeOfType<ObjectDisposedException>();
                continue;
            }

            forked++;
            Fill(version);
            Check(fork, version);
            fork.Dispose();
        }

        forked.Should().BeGreaterThan(0);
        _environment.GetStatistics().OpenReaders.Should().Be(0);
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void Leak(ReadTransaction original) => original.Fork().OpenTree(FaultTestKit.TreeName);

    private static void Check(ReadTransaction reading, int version)
    {
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        for (var key = 0; key < 20; key++)
        {
            tree.TryGet(FaultTestKit.Key(key), out var value).Should().BeTrue();
            value.SequenceEqual(FaultTestKit.Value((version * 100) + key, 600)).Should().BeTrue("key {0} of version {1}", key, version);
        }
    }

    private void Fill(int version)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var key = 0; key < 20; key++)
            tree.Put(FaultTestKit.Key(key), FaultTestKit.Value((version * 100) + key, 600));
        writing.Commit();
    }
}
