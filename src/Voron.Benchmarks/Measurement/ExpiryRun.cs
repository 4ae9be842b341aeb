using System.Diagnostics;
using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of deleting rows that are due: all of a table with three indexes, in steps.</summary>
/// <param name="Rows">The rows of the table.</param>
/// <param name="Milliseconds">The time until all are deleted.</param>
internal sealed record ExpiryRun(int Rows, double Milliseconds)
{
    private static readonly TimeSpan Ahead = TimeSpan.FromDays(200 * 366);

    /// <param name="directory">A new directory.</param>
    /// <param name="packages">Makes the rows.</param>
    /// <param name="rows">The rows of the table.</param>
    /// <param name="stop">Cancels the run.</param>
    public static async Task<ExpiryRun> MeasureAsync(string directory, PackageGenerator packages, int rows, CancellationToken stop)
    {
        Directory.CreateDirectory(directory);
        try
        {
            var time = new MovedTime();
            using var store = new VoronTable(directory, VoronTable.Expiring, time);
            store.Fill(packages, rows);
            time.Move(Ahead);
            var began = Stopwatch.GetTimestamp();

            // The background may begin, too, because the table was opened to write: a call that finds nothing is the end.
            while (await store.DeleteExpiredAsync(stop).ConfigureAwait(false) > 0)
            {
            }

            return new ExpiryRun(rows, Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>The clock of the system, moved ahead.</summary>
    private sealed class MovedTime : TimeProvider
    {
        private long _ticks;

        public void Move(TimeSpan ahead) => Volatile.Write(ref _ticks, ahead.Ticks);

        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + new TimeSpan(Volatile.Read(ref _ticks));
    }
}
