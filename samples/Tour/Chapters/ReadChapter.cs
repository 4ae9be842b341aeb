using Tour.Data;
using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>Reads entries by key in random order, and hashes all of their bytes.</summary>
internal sealed class ReadChapter(TourContext tour)
{
    private const int ReadsPerLook = 32;

    public void Run(IStore voron, IStore sqlite)
    {
        tour.Screen.Heading("3. Reads by key");
        tour.Screen.Say("One thread reads random keys and hashes every byte of each text in place. Neither engine copies a text.");
        var (ours, theirs) = (new Reader(tour.Data, voron), new Reader(tour.Data, sqlite));
        tour.Compare("reads by key, random order", "reads", ours.Contender, theirs.Contender);
        foreach (var reader in (Reader[])[ours, theirs])
            tour.Checks.That(reader.Found == reader.Expected(), $"{reader.Store.Name} returned the right text in all {reader.Count:N0} reads");
    }

    private sealed class Reader(DataSet data, IStore store)
    {
        public IStore Store => store;

        public long Count { get; private set; }

        /// <summary>The sum of the hashes of all texts.</summary>
        public ulong Found { get; private set; }

        public Contender Contender => new(store.Name, Read, static () => { });

        public ulong Expected()
        {
            // The order repeats itself, so that a round need be added up once.
            var (rounds, rest) = Math.DivRem(Count, data.Count);
            return (ulong)rounds * SumOf(data.Count) + SumOf(rest);
        }

        private long Read(TimeSlice slice)
        {
            using var snapshot = store.OpenSnapshot(Tables.Members);
            var first = Count;
            while (!slice.IsOver)
            {
                for (var i = 0; i < ReadsPerLook; i++)
                    Found += snapshot.Read(data.Shuffled(Count++).Key);
            }

            return Count - first;
        }

        private ulong SumOf(long reads)
        {
            var sum = 0ul;
            for (var i = 0L; i < reads; i++)
                sum += Digest.HashOf(data.Shuffled(i).Text);
            return sum;
        }
    }
}
