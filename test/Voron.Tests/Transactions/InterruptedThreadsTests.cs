using System.Diagnostics.CodeAnalysis;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// The engine's own threads that run user code, which can therefore get hold of them: an interruption ended the process. Alone, because it
/// occupies the pool of threads.
/// </summary>
[Collection(nameof(Alone))]
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is used once.")]
[Quick]
public sealed class InterruptedThreadsTests
{
    private const string GroupCommit = "Voron group commit";
    private const string Completions = "Voron completions";

    // More than the pool gets threads for while the test runs. The engine's two threads stand in for threads of the pool.
    private const int Blockers = 200;

    [Theory]
    [InlineData(GroupCommit)]
    [InlineData(Completions)]
    public void A_thread_that_is_interrupted_behind_the_code_of_the_user_continues(string name)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, [0]);
        using var mayEnd = new ManualResetEventSlim();
        using var ended = new CountdownEvent(Blockers);
        for (var i = 0; i < Blockers; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    mayEnd.Wait(TestWait.Limit);
                    ended.Signal();
                },
                null);
        }

        try
        {
            var thread = RunOn(environment, name, 1);

            // The thread is interrupted at its next wait.
            for (var i = 2; i < 6; i++)
            {
                thread.Interrupt();
                RunOn(environment, name, i).Should().BeSameAs(thread);
            }
        }
        finally
        {
            mayEnd.Set();
            ended.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        }

        for (var i = 0; i < 6; i++)
            FaultTestKit.Get(environment, i).Should().Equal((byte)i);
    }

    /// <summary>Writes, and returns the thread that ran the operation or completed its task.</summary>
    private static Thread RunOn(StorageEnvironment environment, string name, int key)
    {
        Thread? runs = null;
        Thread? completes = null;
        var hasContinuation = false;
        var waiting = new TestThread(() =>
        {
            var continued = environment
                .WriteAsync(
                    writing =>
                    {
                        // The continuation of a completed task would run at once, on the thread that adds it.
                        while (!Volatile.Read(ref hasContinuation))
                            Thread.Yield();
                        runs = Thread.CurrentThread;
                        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), [(byte)key]);
                    },
                    CancellationToken.None)
                .AsTask()
                .ContinueWith(
                    written =>
                    {
                        completes = Thread.CurrentThread;
                        written.GetAwaiter().GetResult();
                    },
                    CancellationToken.None,
                    TaskContinuationOptions.ExecuteSynchronously,
                    TaskScheduler.Default);
            Volatile.Write(ref hasContinuation, true);
            continued.Wait(TestWait.Limit).Should().BeTrue();
        });
        waiting.Join().Should().BeNull();
        var found = name == GroupCommit ? runs : completes;
        found!.Name.Should().Be(name, "all threads of the pool are blocked");
        return found;
    }
}
