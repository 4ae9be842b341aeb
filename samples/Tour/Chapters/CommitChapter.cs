using Tour.Data;
using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>One caller commits one entry at a time, and each commit is on disk when it returns.</summary>
internal sealed class CommitChapter(TourContext tour)
{
    public void Run(IStore voron, IStore sqlite)
    {
        tour.Screen.Heading("1. Durable commits, one at a time");
        tour.Screen.Say("Each commit puts one entry and returns once the entry is on disk.");
        var (ours, theirs) = (new Committer(tour.Data, voron), new Committer(tour.Data, sqlite));
        tour.Compare("durable commits, one at a time", "commits", ours.Contender, theirs.Contender);
        foreach (var committer in (Committer[])[ours, theirs])
            tour.Checks.That(committer.HasAll(), $"{committer.Store.Name} holds the {committer.Count:N0} entries it acknowledged, and no others");
    }

    private sealed class Committer(DataSet data, IStore store)
    {
        public IStore Store => store;

        public long Count { get; private set; }

        public Contender Contender => new(store.Name, Commit, store.Settle);

        public bool HasAll()
        {
            using var snapshot = store.OpenSnapshot(Tables.Commits);
            return snapshot.ReadAll() == data.ContentOf(Count);
        }

        private long Commit(TimeSlice slice)
        {
            var first = Count;
            for (; !slice.IsOver; Count++)
                store.Put(Tables.Commits, data.EntryAt(Count));
            return Count - first;
        }
    }
}
