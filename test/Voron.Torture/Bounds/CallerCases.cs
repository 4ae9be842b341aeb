using System.Diagnostics;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Bounds;

/// <summary>Checks how long callers that block a thread wait for their turn, and for the outcome of their writes.</summary>
internal static class CallerCases
{
    private const int Callers = 200;

    /// <summary>After this time, the first caller that waits for the writer gets it before any newcomer.</summary>
    private static readonly TimeSpan Barging = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan Patience = HangLimit.OfSeconds(20);

    /// <summary>
    /// A thread that commits in a loop takes the writer again before a sleeping caller has woken up; the number of such commits has a
    /// limit.
    /// </summary>
    public static void TurnOfBlockedCaller(BoundPlace place)
    {
        var hold = TimeSpan.FromMicroseconds(300 + place.Run.Choices.Next(1_000));
        var most = (int)(Barging / hold) + 3;
        using var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual());
        var hasHadTurn = false;
        var caller = new Thread(() =>
        {
            using (environment.BeginWrite())
                Volatile.Write(ref hasHadTurn, true);
        });
        var writing = environment.BeginWrite();
        caller.Start();
        WaitUntilQueued(environment);
        var passed = 0;
        for (; passed <= most && !Volatile.Read(ref hasHadTurn); passed++)
        {
            var start = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(start) < hold)
                Thread.SpinWait(20);
            writing.Dispose();
            writing = environment.BeginWrite();
        }
        writing.Dispose();
        caller.Join();
        BrokenPromiseException.Require(
            passed <= most, $"A caller waits for the writer, and {passed} transactions of {hold.TotalMicroseconds} us have passed it.");
    }

    /// <summary>All threads of the pool block on writes: nothing that ends their waits may be queued behind them in the pool.</summary>
    public static void BlockedPool(BoundPlace place)
    {
        var merges = place.Run.Choices.Next(2) == 0;
        using var environment = StorageEnvironment.Open(place.Disk, BoundPlace.Manual(4 << 20));
        BoundPlace.Put(environment, 0, 10);

        // Delays writes so that no record is written before its caller waits; otherwise there would be nothing left to wait for.
        place.Disk.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.Write)
                    Thread.Sleep(2);
                return false;
            },
            DiskError.Failed);
        using var done = new CountdownEvent(Callers);
        var failed = 0;
        using (environment.BeginWrite())
        {
            for (var i = 0; i < Callers; i++)
                ThreadPool.UnsafeQueueUserWorkItem(Write, i, preferLocal: false);
        }

        var inTime = done.Wait(Patience);
        var then = Callers - done.CurrentCount;
        if (!inTime)
        {
            // Adds enough threads for all callers, so that they end before the environment does.
            ThreadPool.GetMinThreads(out var threads, out var ports);
            ThreadPool.SetMinThreads(Callers + 50, ports);
            done.Wait();
            ThreadPool.SetMinThreads(threads, ports);
        }
        BrokenPromiseException.Require(failed == 0, $"{failed} writes have failed.");
        BrokenPromiseException.Require(inTime, $"After {Patience.TotalSeconds} s {then} of {Callers} callers that block threads of the pool have continued.");

        void Write(int caller)
        {
            try
            {
                if (merges)
                    environment.WriteAsync(writing => BoundPlace.Put(writing, caller, 100)).AsTask().Wait();
                else
                    Commit(environment, caller);
            }
            catch (Exception)
            {
                Interlocked.Increment(ref failed);
            }
            finally
            {
                done.Signal();
            }
        }
    }

    private static void Commit(StorageEnvironment environment, int caller)
    {
        using var writing = environment.BeginWrite();
        BoundPlace.Put(writing, caller, 100);
        writing.CommitAsync().AsTask().Wait();
    }

    private static void WaitUntilQueued(StorageEnvironment environment)
    {
        var start = Stopwatch.GetTimestamp();
        while (!environment.Internals.Engine.WriterLock!.HasQueue)
        {
            BrokenPromiseException.Require(Stopwatch.GetElapsedTime(start) < Patience, "The writer is taken, and a second caller does not wait for it.");
            Thread.Sleep(1);
        }
    }
}
