using System.Diagnostics.CodeAnalysis;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Callers that block on a write make progress without a free thread in the pool. Alone, because each process has one pool.</summary>
[Collection(nameof(Alone))]
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is used once; it is the way of using it that is tested.")]
[Quick]
public sealed class BlockingCallerTests
{
    private const int Callers = 200;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Threads_of_the_pool_may_block_on_writes(bool commits)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 9999, [9]);
        var done = 0;
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var pool = new SmallPool();
        using (environment.BeginWrite())
        {
            for (var i = 0; i < Callers; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(
                    caller =>
                    {
                        if (commits)
                        {
                            using var writing = environment.BeginWrite();
                            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(caller), [1]);
                            writing.CommitAsync().AsTask().Wait();
                        }
                        else
                        {
                            environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(caller), [1]))
                                .AsTask().Wait();
                        }

                        if (Interlocked.Increment(ref done) == Callers)
                            all.SetResult();
                    },
                    i,
                    preferLocal: false);
            }
        }

        // This thread blocks because a timer's callback would need a thread of the pool.
        var inTime = ((IAsyncResult)all.Task).AsyncWaitHandle.WaitOne(TestWait.Limit);
        var then = done;
        pool.Dispose();
        await all.Task.WaitAsync(TestWait.Limit, Cancellation);
        inTime.Should().BeTrue($"only {then} of {Callers} blocked callers had finished by then");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_context_that_refuses_a_continuation_does_no_harm(bool commits)
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        journal.Hold();
        var before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(new RefusingContext());
        try
        {
            if (commits)
            {
                var writing = environment.BeginWrite();
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
                writing.CommitAsync(CancellationToken.None).GetAwaiter().OnCompleted(() => { });
            }
            else
            {
                environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]), CancellationToken.None)
                    .GetAwaiter().OnCompleted(() => { });
            }
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(before);
        }

        journal.WaitUntilHeld();
        journal.Release();
        FaultTestKit.Put(environment, 3, [3]);
        await environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(4), [4]), Cancellation).AsTask()
            .WaitAsync(TestWait.Limit, Cancellation);
        FaultTestKit.Get(environment, 2).Should().Equal(2);
    }

    /// <summary>A context like that of a window that has been closed.</summary>
    private sealed class RefusingContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => throw new ObjectDisposedException("window");
    }

    /// <summary>Keeps the pool from adding threads for those that block, which would let any engine finish in the end.</summary>
    private sealed class SmallPool : IDisposable
    {
        private readonly int _threads;
        private readonly int _ports;

        public SmallPool()
        {
            ThreadPool.GetMaxThreads(out _threads, out _ports);
            ThreadPool.GetMinThreads(out var least, out _);
            ThreadPool.SetMaxThreads(Math.Max(least, Environment.ProcessorCount), _ports).Should().BeTrue();
        }

        public void Dispose() => ThreadPool.SetMaxThreads(_threads, _ports);
    }
}
