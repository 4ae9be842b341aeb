using Tour.Engines;
using Tour.Measuring;

namespace Tour.Chapters;

/// <summary>A reader scans one snapshot again and again while a writer changes the same entries.</summary>
internal sealed class SnapshotChapter(TourContext tour)
{
    private const int ChangesPerCommit = 10;

    public void Run(IStore voron, IStore sqlite)
    {
        tour.Screen.Heading("5. A snapshot while a writer commits");
        tour.Screen.Say($"One thread scans the same snapshot again and again while another replaces its texts, {ChangesPerCommit} per commit.");
        var (ours, theirs) = (new Pair(tour, voron), new Pair(tour, sqlite));
        var scanned = tour.Contest.Run(ours.Contender, theirs.Contender);
        tour.AddRate("snapshot scans during commits, entries", "entries", scanned[0], scanned[1]);
        tour.AddRate($"commits during snapshot scans, {ChangesPerCommit} changes each", "commits", ours.CommitRate, theirs.CommitRate);
        foreach (var (pair, rate) in ((Pair, double)[])[(ours, scanned[0]), (theirs, scanned[1])])
        {
            tour.Screen.Rate($"{pair.Store.Name}, the reader", rate, "entries");
            tour.Screen.Rate($"{pair.Store.Name}, the writer", pair.CommitRate, "commits");
        }

        foreach (var pair in (Pair[])[ours, theirs])
        {
            tour.Checks.That(
                pair.Differences == 0,
                $"{pair.Store.Name}'s snapshots stayed the same in {pair.Scans:N0} scans during {pair.Commits:N0} commits");
            tour.Checks.That(pair.HasAll(), $"{pair.Store.Name} holds all of these changes afterwards");
        }
    }

    private sealed class Pair(TourContext tour, IStore store)
    {
        private readonly Revision _revision = new(tour.Data);
        private TimeSpan _elapsed;
        private long _measuredCommits;
        private bool _isWarm;

        public IStore Store => store;

        public long Scans { get; private set; }

        public long Commits { get; private set; }

        /// <summary>The scans that have not found what the snapshot had at its beginning.</summary>
        public long Differences { get; private set; }

        public double CommitRate => _measuredCommits / _elapsed.TotalSeconds;

        public Contender Contender => new(store.Name, Work, store.Settle);

        public bool HasAll()
        {
            using var snapshot = store.OpenSnapshot(Tables.Members);
            return snapshot.ReadAll() == _revision.Content;
        }

        private long Work(TimeSlice slice)
        {
            var expected = _revision.Content;
            using var snapshot = store.OpenSnapshot(Tables.Members);
            var writing = Task.Run(() => Write(slice));
            var (entries, commits) = (0L, 0L);
            try
            {
                while (!slice.IsOver)
                {
                    var found = snapshot.ReadAll();
                    entries += found.Count;
                    Scans++;
                    if (found != expected)
                        Differences++;
                }
            }
            finally
            {
                Commits += commits = writing.GetAwaiter().GetResult();
            }

            // As for the reader, the first time does not count.
            if (_isWarm)
            {
                _elapsed += slice.Elapsed;
                _measuredCommits += commits;
            }

            _isWarm = true;
            return entries;
        }

        private long Write(TimeSlice slice)
        {
            var commits = 0L;
            for (; !slice.IsOver; commits++)
                store.PutMany(Tables.Members, _revision.Next(ChangesPerCommit));
            return commits;
        }
    }
}
