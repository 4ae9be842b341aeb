namespace Voron.Benchmarks.Measurement;

/// <summary>One run of deleting rows that are due: all of a table with three indexes, in steps.</summary>
internal sealed record ExpiryRun(int Rows, double Milliseconds)
{
    private static readonly TimeSpan Ahead = TimeSpan.FromDays(200 * 366);

    public static async Task<ExpiryRun> MeasureAsync(string directory, PackageGenerator packages, int rows, CancellationToken stop)
    {
        using var place = new WorkArea(directory);
        var time = new MovedTime();
        using var store = new VoronTable(place.Path, VoronTable.Expiring, time);
        store.Fill(packages, rows);
        time.Move(Ahead);
        var began = Stopwatch.GetTimestamp();

        // The background may begin, too, because the table was opened to write: a call that finds nothing is the end.
        while (await store.DeleteExpiredAsync(stop).ConfigureAwait(false) > 0)
        {
        }

        return new ExpiryRun(rows, Stopwatch.GetElapsedTime(began).TotalMilliseconds);
    }

    /// <summary>The clock of the system, moved ahead.</summary>
    private sealed class MovedTime : TimeProvider
    {
        private long _ticks;

        public void Move(TimeSpan ahead) => Volatile.Write(ref _ticks, ahead.Ticks);

        public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + new TimeSpan(Volatile.Read(ref _ticks));
    }
}
