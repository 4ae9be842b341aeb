using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>One writer beside other work: transactions, with 100 us of computing after each.</summary>
internal static class WriterLoad
{
    /// <summary>Writes as long as a task runs, once at least, and returns the times that the transactions took.</summary>
    /// <param name="task">The task.</param>
    /// <param name="write">Makes one durable transaction.</param>
    public static async Task<LatencySummary> RunWhileAsync(Task task, Action<Random> write)
    {
        var histogram = new LatencyHistogram();
        await Task.Factory.StartNew(
            () =>
            {
                var random = new Random(3);
                var computation = new Computation();
                do
                {
                    var began = Stopwatch.GetTimestamp();
                    write(random);
                    histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
                    computation.Run(100_000);
                }
                while (!task.IsCompleted);
            },
            CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).ConfigureAwait(false);
        await task.ConfigureAwait(false);
        return histogram.Summarise()!;
    }
}
