using System.Runtime.ExceptionServices;

namespace Voron.Benchmarks.Workloads;

/// <summary>Runs threads that start together, and waits for all of them.</summary>
internal static class ParallelCallers
{
    /// <summary>Rethrows the first exception of any thread.</summary>
    public static void Run(int threads, Action<int> body)
    {
        using var start = new Barrier(threads);
        ExceptionDispatchInfo? failure = null;
        var all = new Thread[threads];
        for (var i = 0; i < threads; i++)
        {
            var number = i;
            all[i] = new Thread(() =>
            {
                start.SignalAndWait();
                try
                {
                    body(number);
                }
                catch (Exception error)
                {
                    Interlocked.CompareExchange(ref failure, ExceptionDispatchInfo.Capture(error), null);
                }
            });
            all[i].Start();
        }
        foreach (var thread in all)
            thread.Join();
        failure?.Throw();
    }
}
