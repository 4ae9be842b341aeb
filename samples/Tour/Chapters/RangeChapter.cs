using System.Text;
using Tour.Data;
using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>Reads groups of entries by the beginning of their keys, in order.</summary>
internal sealed class RangeChapter(TourContext tour)
{
    public void Run(IStore voron, IStore sqlite)
    {
        var prefixes = tour.Data.Prefixes;
        tour.Screen.Heading("4. Ranges");
        tour.Screen.Say(
            $"{prefixes.Length:N0} groups of {prefixes.Average(static prefix => prefix.Expected.Count):N0} entries on average, such as "
            + $"{Encoding.UTF8.GetString(prefixes[0].Start)}*, each read in key order.");
        var (ours, theirs) = (new Reader(prefixes, voron), new Reader(prefixes, sqlite));
        tour.Compare("entries read by ranges", "entries", ours.Contender, theirs.Contender);
        foreach (var reader in (Reader[])[ours, theirs])
        {
            tour.Checks.That(
                reader.Found == reader.Expected, $"{reader.Store.Name} returned the right {reader.Found.Count:N0} entries in the right order");
        }
    }

    private sealed class Reader(KeyPrefix[] prefixes, IStore store)
    {
        private int _next;

        public IStore Store => store;

        public Digest Found { get; private set; }

        public Digest Expected { get; private set; }

        public Contender Contender => new(store.Name, Read, static () => { });

        private long Read(TimeSlice slice)
        {
            using var snapshot = store.OpenSnapshot(Tables.Members);
            var first = Found.Count;
            while (!slice.IsOver)
            {
                var prefix = prefixes[_next++ % prefixes.Length];
                Found += snapshot.ReadRange(prefix);
                Expected += prefix.Expected;
            }

            return Found.Count - first;
        }
    }
}
