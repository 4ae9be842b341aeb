using Tour.Data;
using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>Many callers put an entry each, wait until it is on disk, and come again.</summary>
internal sealed class CallersChapter(TourContext tour)
{
    private const int CallerCount = 64;

    public async Task RunAsync(IStore voron, SqliteStore sqlite)
    {
        tour.Screen.Heading($"6. {CallerCount} callers at once");
        tour.Screen.Say(
            "Each caller puts one entry, waits until it is on disk, and starts over. Voron's WriteAsync commits waiting callers together. "
            + "SQLite has no counterpart, so it runs twice: with callers taking turns, as in most programs, and behind a queue that commits "
            + "all waiting entries in one transaction, the fastest way we know (samples/Tour/Engines/SqliteQueue.cs).");
        await using var queue = new SqliteQueue(sqlite, Tables.Queue);
        var ours = new Callers(tour.Data, voron, Tables.Callers, member => voron.PutAsync(Tables.Callers, member));
        var theirs = new Callers(tour.Data, sqlite, Tables.Callers, member => sqlite.PutAsync(Tables.Callers, member));
        var queued = new Callers(tour.Data, sqlite, Tables.Queue, queue.PutAsync);
        Contender[] contenders =
        [
            ours.ContenderAs("Voron"), theirs.ContenderAs("SQLite, taking turns"), queued.ContenderAs("SQLite, behind a queue"),
        ];
        var rates = tour.Contest.Run(contenders);
        tour.AddRate($"{CallerCount} callers, puts; SQLite taking turns", "puts", rates[0], rates[1]);
        tour.AddRate($"{CallerCount} callers, puts; SQLite behind a queue", "puts", rates[0], rates[2]);
        foreach (var (contender, rate) in contenders.Zip(rates))
            tour.Screen.Rate(contender.Name, rate, "puts");
        tour.Checks.That(ours.HasAll(), $"Voron holds the {ours.Count:N0} entries it acknowledged, and no others");
        tour.Checks.That(theirs.HasAll() && queued.HasAll(), $"SQLite holds the {theirs.Count:N0} and {queued.Count:N0} entries it acknowledged");
    }

    private sealed class Callers(DataSet data, IStore store, string table, Func<Member, ValueTask> put)
    {
        private long _next;

        public long Count => _next;

        public Contender ContenderAs(string name) => new(name, slice => WorkAsync(slice).GetAwaiter().GetResult(), store.Settle);

        public bool HasAll()
        {
            using var snapshot = store.OpenSnapshot(table);
            return snapshot.ReadAll() == data.ContentOf(Count);
        }

        private async Task<long> WorkAsync(TimeSlice slice)
        {
            var first = _next;
            await Task.WhenAll(Enumerable.Range(0, CallerCount).Select(_ => Task.Run(() => CallAsync(slice))));
            return _next - first;
        }

        private async Task CallAsync(TimeSlice slice)
        {
            while (!slice.IsOver)
                await put(data.EntryAt(Interlocked.Increment(ref _next) - 1));
        }
    }
}
