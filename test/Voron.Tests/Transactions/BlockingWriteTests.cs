using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>: the caller's thread runs the batch, its own operation and those of
/// other callers.
/// </summary>
public sealed class BlockingWriteTests
{
    // Operations that are queued together run together, however slow the machine is.
    private static readonly StorageOptions Options = new() { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) };

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void It_runs_on_the_calling_thread_and_is_durable_when_it_returns()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        var thread = 0;
        environment.Write(writing =>
        {
            thread = Environment.CurrentManagedThreadId;
            writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), [1]);
        });
        thread.Should().Be(Environment.CurrentManagedThreadId);
        FaultTestKit.Get(environment, 1).Should().Equal(1);
        environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Delete(FaultTestKit.Key(1))).Should().BeTrue();
        FaultTestKit.Get(environment, 1).Should().BeNull();
        environment.Invoking(open => open.Write((Action<WriteTransaction>)(_ => throw new InvalidDataException("no"))))
            .Should().Throw<InvalidDataException>().WithMessage("no");
    }

    [Fact]
    public async Task Blocking_and_waiting_callers_share_transactions()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        environment.Write(writing => writing.CreateTree(FaultTestKit.TreeName));
        var before = environment.GetStatistics().CommittedTransactions;
        var threads = new List<Task>();
        Task[] waiting;
        using (environment.BeginWrite())
        {
            for (var i = 0; i < 16; i++)
                threads.Add(Start(environment, i));
            waiting = Enumerable.Range(16, 16)
                .Select(i => environment.WriteAsync(
                    writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), [2]), Cancellation).AsTask())
                .ToArray();

            // One of the callers leads, and waits for the writer with its operation still in the queue.
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 32);
        }

        await Task.WhenAll([.. threads, .. waiting]).WaitAsync(TestWait.Limit, Cancellation);
        using var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(32);
        (environment.GetStatistics().CommittedTransactions - before).Should().Be(1, "all of them waited together");
        environment.GetStatistics().QueuedOperations.Should().Be(0);
    }

    [Fact]
    public async Task An_operation_runs_in_the_context_of_its_own_caller()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        var ambient = new AsyncLocal<int>();
        var seen = new int[3];
        var contexts = new SynchronizationContext?[3];
        var window = new SynchronizationContext();
        void Note(int i)
        {
            seen[i] = ambient.Value;
            contexts[i] = SynchronizationContext.Current;
        }

        Task waiting, leading;
        using (environment.BeginWrite())
        {
            leading = Task.Factory.StartNew(
                () =>
                {
                    ambient.Value = 1;
                    SynchronizationContext.SetSynchronizationContext(window);
                    environment.Write(_ => Note(1));
                },
                Cancellation,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default);
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 1);
            ambient.Value = 2;
            waiting = environment.WriteAsync(_ => Note(2), Cancellation).AsTask();
        }

        await leading.WaitAsync(TestWait.Limit, Cancellation);
        await waiting.WaitAsync(TestWait.Limit, Cancellation);
        seen.Should().Equal(0, 1, 2);
        contexts.Should().NotContain(window, "an operation has nothing to do with the window of another caller, and may run on any thread");
    }

    [Fact]
    public void Inside_an_operation_it_is_refused_also_through_another_environment()
    {
        using var outer = StorageEnvironment.OpenInMemory(Options);
        using var inner = StorageEnvironment.OpenInMemory(Options);
        outer.Write(writing =>
        {
            writing.CreateTree("outer");
            inner.Write(_ => outer.Invoking(environment => environment.Write(_ => { }))
                .Should().Throw<InvalidOperationException>().WithMessage("Write*"));
            inner.Write(other => other.CreateTree("inner"));
            outer.Invoking(environment => environment.Write(_ => { })).Should().Throw<InvalidOperationException>();
        });
        outer.Write(writing => writing.OpenTree("outer"));
        inner.Write(writing => writing.OpenTree("inner"));
    }

    [Fact]
    public async Task Inside_an_operation_reads_succeed_and_calls_that_need_the_writer_are_refused()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        FaultTestKit.Put(environment, 1, [1]);
        var refused = new List<Action>
        {
            () => environment.Write(_ => { }),
            () => _ = environment.WriteAsync(_ => { }).AsTask(),
            () => _ = environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult(),
            () => environment.BeginWrite(TimeSpan.Zero),
            () => environment.Flush(),
            () => environment.ReclaimSpace(),
        };
        await environment.WriteAsync(
            writing =>
            {
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
                foreach (var call in refused)
                    call.Should().Throw<InvalidOperationException>();
                FaultTestKit.Get(environment, 2).Should().BeNull("a snapshot shows only durable commits");
                FaultTestKit.Get(environment, 1).Should().Equal(1);
                environment.Verify().Problems.Should().BeEmpty();
                environment.GetStatistics().QueuedOperations.Should().Be(0);
            },
            Cancellation);
        FaultTestKit.Get(environment, 2).Should().Equal(2);
    }

    [Fact]
    public void A_caller_that_is_interrupted_is_so_after_its_write()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        var wasInterrupted = false;
        var thread = new Thread(() =>
        {
            environment.Write(writing => writing.CreateTree("interrupted"));
            try
            {
                Thread.Sleep(Timeout.Infinite);
            }
            catch (ThreadInterruptedException)
            {
                wasInterrupted = true;
            }
        });
        using (environment.BeginWrite())
        {
            thread.Start();
            TestWait.Until(
                () => environment.GetStatistics().QueuedOperations == 1 && (thread.ThreadState & ThreadState.WaitSleepJoin) != 0);
            thread.Interrupt();
        }

        thread.Join(TestWait.Limit).Should().BeTrue();
        wasInterrupted.Should().BeTrue();
        environment.Write(writing => writing.OpenTree("interrupted"));
    }

    [Fact]
    public async Task Cancelled_operations_leave_the_queue_at_once()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        using var source = new CancellationTokenSource();
        var run = 0;
        Task[] tasks;
        Task last;
        using (environment.BeginWrite())
        {
            tasks = Enumerable.Range(0, 1000).Select(_ => environment.WriteAsync(_ => run++, source.Token).AsTask()).ToArray();
            last = environment.WriteAsync(writing => writing.CreateTree("last"), Cancellation).AsTask();
            environment.GetStatistics().QueuedOperations.Should().Be(1001);
            source.Cancel();
            environment.GetStatistics().QueuedOperations.Should().Be(1);
        }

        await last.WaitAsync(TestWait.Limit, Cancellation);
        foreach (var task in tasks)
            await FluentActions.Awaiting(() => task.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<OperationCanceledException>();
        run.Should().Be(0);
    }

    [Fact]
    public async Task Closing_an_environment_ends_all_waits()
    {
        // Each operation ends its batch.
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions(FaultTestKit.Options()) { MaxGroupCommitDuration = TimeSpan.Zero });
        using var isRunning = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var first = environment.WriteAsync(
            writing =>
            {
                writing.CreateTree("first");
                isRunning.Set();
                mayGoOn.Wait(TestWait.Limit);
            },
            Cancellation).AsTask();
        isRunning.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        var blocked = Enumerable.Range(0, 3).Select(i => Start(environment, i)).ToArray();
        TestWait.Until(() => environment.GetStatistics().QueuedOperations == 3);
        var waiting = environment.WriteAsync(writing => writing.CreateTree("waiting"), Cancellation).AsTask();
        var closing = Task.Factory.StartNew(environment.Dispose, Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        TestWait.Until(() => IsClosed(environment));
        mayGoOn.Set();
        await first.WaitAsync(TestWait.Limit, Cancellation);
        foreach (var task in blocked.Append(waiting))
            await FluentActions.Awaiting(() => task.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<ObjectDisposedException>();
        await closing.WaitAsync(TestWait.Limit, Cancellation);
    }

    [Fact]
    public async Task No_continuation_runs_on_a_thread_that_commits()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        FaultTestKit.Put(environment, 0, [0]);
        string? grouped = null, committed = null;
        Task first, second;
        var writer = environment.BeginWrite();
        first = environment.WriteAsync(writing => writing.CreateTree("grouped"), Cancellation).AsTask().ContinueWith(
            _ => grouped = Thread.CurrentThread.Name, Cancellation, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        writer.CreateTree("committed");
        second = writer.CommitAsync(Cancellation).AsTask().ContinueWith(
            _ => committed = Thread.CurrentThread.Name, Cancellation, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        await first.WaitAsync(TestWait.Limit, Cancellation);
        await second.WaitAsync(TestWait.Limit, Cancellation);
        grouped.Should().NotBe("Voron group commit");
        committed.Should().NotBe("Voron journal");
    }

    private static Task Start(StorageEnvironment environment, int i) => Task.Factory.StartNew(
        () => environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), [1])),
        Cancellation,
        TaskCreationOptions.LongRunning,
        TaskScheduler.Default);

    private static bool IsClosed(StorageEnvironment environment)
    {
        try
        {
            _ = environment.WriteAsync(_ => { }, new CancellationToken(canceled: true)).AsTask();
            return false;
        }
        catch (ObjectDisposedException)
        {
            return true;
        }
    }
}
