using System.Diagnostics;
using Voron.Benchmarks.Engines.Tables;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of deleting rows that are due: all of a table with three indexes, in steps.</summary>
/// <param name="Rows">The rows of the table.</param>
/// <param name="Milliseconds">The time until all are deleted.</param>
internal sealed record ExpiryRun(int Rows, double Milliseconds)
{
    private const int RowsPerFill = 10_000;

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
            for (var from = 0; from < rows; from += RowsPerFill)
            {
                store.BeginWrite();
                store.Insert(packages.Make(from, Math.Min(RowsPerFill, rows - from)));
                store.Commit();
            }

            store.Settle();
            time.Move(Ahead);
            var began = Stopwatch.GetTimestamp();
            var deleted = await store.DeleteExpiredAsync(stop).ConfigureAwait(false);
            var milliseconds = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            if (deleted != rows)
                throw new BenchmarkException($"{deleted} rows of {rows} were deleted");
            return new ExpiryRun(rows, milliseconds);
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
