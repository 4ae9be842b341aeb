using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Tests.Primitives;

/// <summary>A background thread exists while there is work, and no work waits for one that has ended.</summary>
public sealed class BackgroundThreadTests
{
    /// <summary>
    /// With no idle time at all, the thread ends after each piece of work, often at the very moment at which the next piece comes. A thread that
    /// does not check for work once more when it ends loses one of them.
    /// </summary>
    [Fact]
    public void No_work_is_lost_when_the_thread_is_just_ending()
    {
        var rounds = SuiteShare.Rounds(20_000);
        const int Starts = 5_000;
        var asked = 0;
        var done = 0;
        var starts = 0;
        BackgroundThread? thread = null;
        thread = new BackgroundThread("test", TimeSpan.Zero, () =>
        {
            Interlocked.Increment(ref starts);
            while (!thread!.IsStopping && thread.WaitOrEnd())
                Volatile.Write(ref done, Volatile.Read(ref asked));
        });
        for (var round = 1; round <= rounds && Volatile.Read(ref starts) < Starts; round++)
        {
            Volatile.Write(ref asked, round);
            thread.TryWake().Should().BeTrue();
            var begun = Stopwatch.GetTimestamp();
            var spins = 0;
            while (Volatile.Read(ref done) != round)
            {
                if (++spins % 100 == 0)
                    Thread.Yield();
                if (Stopwatch.GetElapsedTime(begun) > TestWait.Limit)
                    Assert.Fail($"The work of round {round} was lost: the thread {(thread.IsRunning ? "waits" : "has ended")}.");
            }

            // So that the next piece comes a little earlier or later each time.
            Thread.SpinWait(round % 200);
        }

        starts.Should().BeGreaterThan(10, "the thread must have ended often");
        thread.RefuseStart();
        thread.Join();
        thread.IsRunning.Should().BeFalse();
    }

    [Fact]
    public void A_thread_ends_when_it_is_idle_and_another_one_takes_the_next_work()
    {
        using var worked = new AutoResetEvent(false);
        BackgroundThread? thread = null;
        thread = new BackgroundThread("test", TimeSpan.FromMilliseconds(20), () =>
        {
            while (!thread!.IsStopping && thread.WaitOrEnd())
                worked.Set();
        });
        thread.IsRunning.Should().BeFalse("there has been no work yet");
        for (var i = 0; i < 3; i++)
        {
            thread.TryWake().Should().BeTrue();
            worked.WaitOne(TestWait.Limit).Should().BeTrue();
            TestWait.Until(() => !thread.IsRunning, "nothing is left to do");
        }

        thread.RefuseStart();
        thread.TryWake().Should().BeTrue("the environment is being closed, and needs no thread");
        thread.IsRunning.Should().BeFalse();
        thread.Join();
    }

    [Fact]
    public void Joining_waits_for_the_work_under_way()
    {
        using var begun = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        var hasEnded = false;
        BackgroundThread? thread = null;
        thread = new BackgroundThread("test", TestWait.Limit, () =>
        {
            thread!.WaitOrEnd().Should().BeTrue();
            begun.Set();
            mayEnd.Wait(TestWait.Limit);
            Volatile.Write(ref hasEnded, true);
        });
        thread.TryWake().Should().BeTrue();
        begun.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        thread.RefuseStart();
        var joining = new TestThread(thread.Join);
        joining.WaitUntilBlockedOrEnded();
        joining.HasEnded.Should().BeFalse();
        mayEnd.Set();
        joining.Join().Should().BeNull();
        hasEnded.Should().BeTrue();
    }

    /// <summary>The thread serves all callers: it must not keep the context of the one whose work happens to start it.</summary>
    [Fact]
    public void The_thread_does_not_inherit_the_context_of_the_caller_that_starts_it()
    {
        var local = new AsyncLocal<string?> { Value = "the caller's" };
        var seen = "nothing";
        BackgroundThread? thread = null;
        thread = new BackgroundThread("test", TimeSpan.Zero, () =>
        {
            seen = local.Value;
            thread!.WaitOrEnd();
        });
        thread.TryWake().Should().BeTrue();
        thread.RefuseStart();
        thread.Join();
        TestWait.Until(() => Volatile.Read(ref seen) == null);
    }
}
