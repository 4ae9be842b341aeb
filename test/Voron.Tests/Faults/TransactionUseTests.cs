using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Faults;

/// <summary>Transactions that are abandoned, leaked, handed on, cancelled, or called from where they must not be.</summary>
public sealed class TransactionUseTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void A_write_transaction_that_is_not_ended_is_named_with_its_age()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var abandoned = environment.BeginWrite();
        abandoned.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
        var begin = () => environment.BeginWrite(TimeSpan.FromMilliseconds(20), Cancellation);
        begin.Should().Throw<TimeoutException>().WithMessage("Write transaction 2 has been open for * ms*20 ms*");
        FaultTestKit.Get(environment, 1).Should().Equal(1);
        FaultTestKit.Get(environment, 2).Should().BeNull();
        abandoned.Dispose();
        FaultTestKit.Put(environment, 2, [3]);
        FaultTestKit.Get(environment, 2).Should().Equal(3);
    }

    [Fact]
    public void An_environment_is_closed_over_an_abandoned_write_transaction()
    {
        var logger = new ListLogger();
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options(logger));
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        var abandoned = environment.BeginWrite();
        var tree = abandoned.OpenTree(FaultTestKit.TreeName);
        tree.Put(FaultTestKit.Key(2), [2]);
        environment.Dispose();
        logger.Warnings.Should().ContainSingle(message => message.Contains("write transaction 2", StringComparison.Ordinal));
        FluentActions.Invoking(() => environment.BeginRead()).Should().Throw<ObjectDisposedException>();

        // The abandoned transaction still has its memory.
        tree.Put(FaultTestKit.Key(3), FaultTestKit.Value(3, 3000));
        tree.TryGet(FaultTestKit.Key(1), out var value).Should().BeTrue();
        value.Length.Should().Be(100);
        FluentActions.Invoking(() => StorageEnvironment.Open(disk, FaultTestKit.Options())).Should().Throw<EnvironmentInUseException>();
        abandoned.Dispose();
        disk.HeldLocks.Should().Be(0);

        var left = new CrashImages(disk).BuildLost(disk.TraceCount);
        using var reopened = StorageEnvironment.Open(left, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(reopened, 2).Should().BeNull();
    }

    [Fact]
    public void A_leaked_read_transaction_is_named_and_its_snapshot_is_released()
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
        LeakReader(environment);
        FaultTestKit.Put(environment, 1, [2]);
        environment.GetStatistics().OpenReaders.Should().BeInRange(0, 1);
        TestWait.WorkUntil(() => environment.GetStatistics().LeakedReaders > 0, () =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        });

        environment.GetStatistics().LeakedReaders.Should().Be(1);
        environment.GetStatistics().OpenReaders.Should().Be(0);
        TestWait.Until(() => logger.Warnings.Any());
        logger.Warnings.Should().ContainSingle().Which.Should().Contain("snapshot 1").And.Contain(nameof(LeakReader));
        FaultTestKit.Put(environment, 1, [3]);
        environment.Flush();
        environment.GetStatistics().CheckpointTransactionId.Should().Be(3, "no reader holds the flush back any more");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_read_transaction_may_be_handed_from_thread_to_thread()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 300));
        var reading = environment.BeginRead();
        for (var thread = 0; thread < 10; thread++)
        {
            var part = thread;
            await Task.Factory.StartNew(
                () =>
                {
                    for (var i = part * 20; i < (part + 1) * 20; i++)
                    {
                        reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(i), out var value).Should().BeTrue();
                        value.SequenceEqual(FaultTestKit.Value(i, 300)).Should().BeTrue();
                    }

                    FaultTestKit.Put(environment, 500 + part, [1]);
                    environment.Flush();
                },
                Cancellation,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
        }

        await Task.Run(() => reading.Dispose(), Cancellation);
        environment.GetStatistics().OpenReaders.Should().Be(0);
        FluentActions.Invoking(() => reading.GetTreeNames()).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public async Task Two_threads_in_one_read_transaction_get_an_exception()
    {
        var disk = new SimulatedDisk();
        using (var first = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            FaultTestKit.Put(first, 1, [1]);
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        using var isInside = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        disk.FailNext(
            call =>
            {
                // The catalog's page is read for the first time while the tree is being opened.
                if (call.Kind == DiskCallKind.Read && call.Name == "voron.data" && !isInside.IsSet)
                {
                    isInside.Set();
                    mayGoOn.Wait(TestWait.Limit);
                }

                return false;
            },
            DiskError.Failed,
            forever: true);
        using var reading = environment.BeginRead();
        var opening = Task.Run(() => reading.OpenTree(FaultTestKit.TreeName), Cancellation);
        isInside.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        FluentActions.Invoking(() => reading.OpenTree(FaultTestKit.TreeName))
            .Should().Throw<InvalidOperationException>().WithMessage("*Two threads*");
        mayGoOn.Set();
        (await opening).Contains(FaultTestKit.Key(1)).Should().BeTrue();
        disk.ClearFaults();
    }

    [Fact]
    public async Task Waiting_for_the_writer_can_be_cancelled()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var source = new CancellationTokenSource();
        using (var writing = environment.BeginWrite())
        {
            var waiting = environment.BeginWriteAsync(source.Token).AsTask();
            var blocked = Task.Run(() => environment.BeginWrite(TestWait.Limit, source.Token), Cancellation);
            var queued = environment.WriteAsync(transaction => transaction.CreateTree("queued"), source.Token).AsTask();
            source.Cancel();
            await FluentActions.Awaiting(() => waiting).Should().ThrowAsync<OperationCanceledException>();
            await FluentActions.Awaiting(() => blocked).Should().ThrowAsync<OperationCanceledException>();
            await FluentActions.Awaiting(() => queued).Should().ThrowAsync<OperationCanceledException>();
            var late = () => environment.WriteAsync(_ => { }, source.Token).AsTask();
            await late.Should().ThrowAsync<OperationCanceledException>();
            await FluentActions.Awaiting(() => writing.CommitAsync(source.Token).AsTask()).Should().ThrowAsync<OperationCanceledException>();
            writing.CreateTree("kept");
            await writing.CommitAsync(Cancellation);
        }

        await environment.WriteAsync(transaction => transaction.CreateTree("last"), Cancellation);
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal(["kept", "last"], "operations cancelled in the queue never ran");
    }

    [Fact]
    public async Task Cancelling_a_running_or_submitted_operation_only_ends_the_wait()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20 });
        FaultTestKit.Put(environment, 1, [1]);
        using var isRunning = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        using (var source = new CancellationTokenSource())
        {
            var running = environment.WriteAsync(
                transaction =>
                {
                    transaction.CreateTree("running");
                    isRunning.Set();
                    mayGoOn.Wait(TestWait.Limit);
                },
                source.Token).AsTask();
            isRunning.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
            source.Cancel();
            await FluentActions.Awaiting(() => running).Should().ThrowAsync<OperationCanceledException>();
            mayGoOn.Set();
        }

        await environment.WriteAsync(transaction => transaction.OpenTree("running"), Cancellation);
        using (var source = new CancellationTokenSource())
        {
            using var isWriting = new ManualResetEventSlim();
            mayGoOn.Reset();
            disk.InProgress = entry =>
            {
                if (entry.Kind == TraceKind.Write && !isWriting.IsSet)
                {
                    isWriting.Set();
                    mayGoOn.Wait(TestWait.Limit);
                }
            };
            var writing = environment.BeginWrite();
            writing.CreateTree("submitted");
            var commit = writing.CommitAsync(source.Token).AsTask();
            isWriting.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
            source.Cancel();
            await FluentActions.Awaiting(() => commit).Should().ThrowAsync<OperationCanceledException>();
            mayGoOn.Set();
            disk.InProgress = null;
        }

        await environment.WriteAsync(transaction => transaction.CreateTree("last"), Cancellation);
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Contain(["running", "submitted"], "neither could be taken back any more");
    }

    [Fact]
    public async Task An_operation_that_would_wait_for_itself_is_refused()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        var inner = new List<Exception?>();
        await environment.WriteAsync(
            transaction =>
            {
                transaction.CreateTree("outer");
                inner.Add(Try(() => environment.BeginWrite().Dispose()));
                inner.Add(Try(() => environment.BeginWrite(TimeSpan.Zero).Dispose()));
                inner.Add(Try(() => environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult().Dispose()));
                inner.Add(Try(() => environment.WriteAsync(_ => { }).AsTask().GetAwaiter().GetResult()));
                inner.Add(Try(() => environment.Flush()));
                inner.Add(Try(() => transaction.Commit()));
                inner.Add(Try(() => transaction.CommitAsync().AsTask().GetAwaiter().GetResult()));
                transaction.CreateTree("still open");
            },
            Cancellation).AsTask().WaitAsync(TestWait.Limit, Cancellation);
        inner.Should().HaveCount(7).And.AllBeOfType<InvalidOperationException>();
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal("outer", "still open");
    }

    [Fact]
    public async Task An_operation_that_throws_is_undone_alone()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        Task[] tasks;
        using (environment.BeginWrite())
        {
            tasks = Enumerable.Range(0, 20).Select(i => environment.WriteAsync(transaction =>
            {
                transaction.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 500));
                if (i % 3 == 0)
                    throw new InvalidDataException($"no {i}");
            }, Cancellation).AsTask()).ToArray();
        }

        for (var i = 0; i < tasks.Length; i++)
        {
            if (i % 3 == 0)
                await FluentActions.Awaiting(() => tasks[i]).Should().ThrowAsync<InvalidDataException>().WithMessage($"no {i}");
            else
                await tasks[i];
            FaultTestKit.Get(environment, i).Should().Equal(i % 3 == 0 ? null : FaultTestKit.Value(i, 500));
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_flush_asked_for_inside_an_open_write_transaction_returns()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        for (var i = 0; i < 50; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), [1]);
            var flush = Task.Run(environment.Flush, Cancellation);
            (await flush.WaitAsync(TestWait.Limit, Cancellation))!.Value.TransactionId.Should().Be(50);
            environment.Verify().Problems.Should().BeEmpty();
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(1);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Observers_that_throw_do_no_harm()
    {
        var logger = new ListLogger();
        var options = new StorageOptions
        {
            LoggerFactory = OneLoggerFactory.Of(logger),
            BackgroundFlush = true,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            CommitObserver = report => throw new InvalidOperationException($"commit {report.TransactionId} is not liked"),
            FlushObserver = _ => throw new InvalidOperationException("no flush is liked"),
        };
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            for (var i = 0; i < 30; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 200));
            await environment.WriteAsync(transaction => transaction.CreateTree("other"), Cancellation);
            environment.Flush();
            FaultTestKit.Put(environment, 30, FaultTestKit.Value(30, 200));
            environment.Verify().Problems.Should().BeEmpty();
        }

        logger.Warnings.Should().Contain(message => message.Contains("commit 3 is not liked", StringComparison.Ordinal));
        logger.Warnings.Should().Contain(message => message.Contains("no flush is liked", StringComparison.Ordinal));
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i <= 30; i++)
            FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, 200));
    }

    [Fact]
    public async Task A_poisoning_write_fails_all_waiting_commits()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20 });
        FaultTestKit.Put(environment, 0, [0]);
        using var isWriting = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        disk.InProgress = entry =>
        {
            if (entry.Kind == TraceKind.Write && entry.WriteThrough && !isWriting.IsSet)
            {
                isWriting.Set();
                mayGoOn.Wait(TestWait.Limit);
            }
        };
        var commits = new List<Task>();
        for (var i = 1; i <= 5; i++)
        {
            var writing = environment.BeginWrite();
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), [(byte)i]);
            commits.Add(writing.CommitAsync(Cancellation).AsTask());
            if (i == 1)
                isWriting.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        }

        // Growing the data file, in a transaction that waits for nothing, fails in its sync while the first commit is being written.
        disk.FailNext(call => call.Kind == DiskCallKind.Sync && call.Name == "voron.data", DiskError.Failed);
        using (var growing = environment.BeginWrite())
        {
            var grow = () => growing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(9), FaultTestKit.Value(9, 3_000_000));
            grow.Should().Throw<EnvironmentPoisonedException>().Which.Outcome.Should().Be(CommitOutcome.NotCommitted);
        }

        mayGoOn.Set();
        await commits[0].WaitAsync(TestWait.Limit, Cancellation);
        foreach (var commit in commits.Skip(1))
        {
            var waiting = () => commit.WaitAsync(TestWait.Limit, Cancellation);
            var thrown = await waiting.Should().ThrowAsync<EnvironmentPoisonedException>();
            thrown.Which.Outcome.Should().Be(CommitOutcome.NotCommitted);
        }

        environment.Dispose();
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(1);
        for (var i = 2; i <= 9; i++)
            FaultTestKit.Get(reopened, i).Should().BeNull("it was reported as not committed");
    }

    private static Exception? Try(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void LeakReader(StorageEnvironment environment)
    {
        var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();
    }
}
