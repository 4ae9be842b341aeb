using System.Text;
using Tour.Data;
using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>Loads the data set, and measures how fast more of it is loaded.</summary>
internal sealed class LoadChapter(TourContext tour)
{
    private const int EntriesPerCommit = 1000;

    public void Run(IStore voron, IStore sqlite)
    {
        tour.Screen.Heading("2. Bulk load");
        tour.Screen.Say(
            $"{EntriesPerCommit:N0} entries per commit. Each commit is on disk when it returns, and the time includes moving everything "
            + "to the data file.");
        foreach (var store in (IStore[])[voron, sqlite])
        {
            foreach (var chunk in tour.Data.Members.Chunk(EntriesPerCommit))
                store.PutMany(Tables.Members, chunk);
            store.Settle();
        }

        var (ours, theirs) = (new Loader(tour.Data, voron), new Loader(tour.Data, sqlite));
        tour.Compare($"bulk load, {EntriesPerCommit:N0} entries per commit", "entries", ours.Contender, theirs.Contender);
        foreach (var loader in (Loader[])[ours, theirs])
            tour.Checks.That(loader.HasAll(), $"{loader.Store.Name} holds the data set and the {loader.Count:N0} entries loaded while measuring");
        var sample = tour.Data.Sample;
        tour.Screen.Say($"One entry, {Encoding.UTF8.GetString(sample.Key)}: {Shortened(Encoding.UTF8.GetString(sample.Text))}");
    }

    private static string Shortened(string text)
    {
        var line = text.Split('\n')[0];
        return line.Length < 150 ? line : $"{line[..147]}...";
    }

    private sealed class Loader(DataSet data, IStore store)
    {
        public IStore Store => store;

        public long Count { get; private set; }

        public Contender Contender => new(store.Name, Load, static () => { });

        public bool HasAll()
        {
            using var members = store.OpenSnapshot(Tables.Members);
            using var loaded = store.OpenSnapshot(Tables.Load);
            return members.ReadAll() == data.Content && loaded.ReadAll() == data.ContentOf(Count);
        }

        private long Load(TimeSlice slice)
        {
            var first = Count;
            for (; !slice.IsOver; Count += EntriesPerCommit)
                store.PutMany(Tables.Load, Enumerable.Range(0, EntriesPerCommit).Select(i => data.EntryAt(Count + i)));
            store.Settle();
            return Count - first;
        }
    }
}
