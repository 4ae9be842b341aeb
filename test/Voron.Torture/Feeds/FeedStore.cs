using Voron.Feeds;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Torture.Crashes;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>An environment with trees, tables and feeds, beside a model of them.</summary>
internal sealed partial class FeedStore<TKey> : IDisposable
{
    private readonly FeedWorld<TKey> _world;
    private readonly Random _random;
    private readonly SortedList<long, FeedVersion> _versions = [];

    // By the numbers of the feeds: those of feeds that were deleted as well, because a power cut may bring them back.
    private readonly Dictionary<int, FeedLog> _logs = [];

    // Positions of feeds that were deleted.
    private readonly List<ChangePosition> _stale = [];
    private StorageEnvironment? _environment;
    private StagedValue? _staged;
    private Model.ModelEntry _stagedEntry;

    public FeedStore(FeedWorld<TKey> world, SimulatedDisk disk)
    {
        _world = world;
        _random = world.Run.Choices;
        Disk = disk;
    }

    public SimulatedDisk Disk { get; }

    /// <summary>Called after each durable transaction, with the id of the newest one.</summary>
    public Action<long>? OnDurable { get; init; }

    public StorageEnvironment Environment => _environment!;

    public long NewestId => Environment.Internals.Engine.Ring.PublishedId;

    private ModelState Newest => _versions.Values[^1].State;

    private FeedState Feeds => Newest.Feeds!;

    /// <summary>Creates the environment.</summary>
    public void Create()
    {
        Open();
        Add(NewestId, ModelState.Empty.WithFeeds(FeedState.Empty));
    }

    /// <summary>Opens what a power cut or a kill has left, and takes over the model as it was at the transaction that was found.</summary>
    /// <param name="other">The store before.</param>
    public void OpenLeft(FeedStore<TKey> other)
    {
        Open();
        foreach (var (id, version) in other._versions.Where(version => version.Key <= NewestId))
            _versions.Add(id, version);
        using var reading = Environment.BeginRead();
        foreach (var feed in Feeds.Feeds.Values)
            _logs.Add(feed.Number, Cut(reading, other._logs[feed.Number]));
    }

    public void Close()
    {
        _staged?.Dispose();
        _staged = null;
        _environment?.Dispose();
        _environment = null;
    }

    public void Dispose() => Close();

    /// <summary>Reads all feeds to their ends, and compares everything.</summary>
    public void CheckAll()
    {
        Settle();
        CatchUp();
        CheckFeeds();
        using (var reading = Environment.BeginRead())
        {
            new ModelReader(reading, Newest).CheckAll(_world.History);
            foreach (var table in _world.Tables)
            {
                var isThere = reading.TryOpenTable(table.Definition, out var open);
                if (isThere != Feeds.Tables.TryGetValue(table.Name, out var content))
                    throw new ModelMismatchException($"the table '{table.Name}' is {(isThere ? "" : "not ")}there");
                if (isThere)
                    new TableReader<TKey>(table, open).LookAtAll(content!);
            }
        }

        ContentCheck.Verify(Environment);
    }

    /// <summary>Makes one step.</summary>
    public void Step()
    {
        if (_random.Next(3) == 2)
            _world.Clock.Advance(TimeSpan.FromMinutes(_random.Next(1, 20)));
        if (_world.Expires)
            StepInTime();
        switch (_random.Next(100))
        {
            case < 50:
                Write();
                break;
            case < 58:
                RunGroupCommit();
                break;
            case < 70:
                CatchUp();
                break;
            case < 80:
                CheckReads();
                break;
            case < 83:
                Follow();
                break;
            case < 89:
                Trim();
                break;
            case < 92:
                Drop();
                break;
            case < 96:
                _world.History.Add("flush");
                Environment.Flush();
                if (_random.Next(2) == 1)
                    _world.Tables[_random.Next(_world.Tables.Count)].Recompress(Environment);
                break;
            case < 99:
                _world.History.Add("reopen");
                Close();
                Open();
                CheckReads();
                break;
            default:
                CheckAll();
                break;
        }
    }

    private void Open() => _environment = StorageEnvironment.Open(Disk, _world.Settings.Options);

    private void Add(long id, ModelState state)
    {
        _versions[id] = new FeedVersion(state, _world.Clock.Ticks);
        OnDurable?.Invoke(NewestId);
    }

    private void Note(string what) => _world.History.Add(what);

    private FeedLog LogOf(ModelFeed feed)
    {
        if (!_logs.TryGetValue(feed.Number, out var log))
            _logs.Add(feed.Number, log = NewLog(feed));
        return log;
    }

    private FeedLog NewLog(ModelFeed feed) => new(feed, new FeedCopy(feed.Name, _world.Settings.Options.LargeValueBytes, ReadRow));

    // The same feed as a crash has left it.
    private FeedLog Cut(ReadTransaction reading, FeedLog whole)
    {
        var name = whole.Feed.Name;
        var log = NewLog(whole.Feed);
        log.Position = reading.GetNewestPosition(name);
        log.ThroughId = reading.TransactionId;
        log.Through = Newest;
        log.Changes.AddRange(whole.Changes.TakeWhile(change => change.Position.TransactionId <= reading.TransactionId));
        log.Copy.Take(Newest);
        log.Oldest = reading.GetFeeds().Single(info => info.Name == name).Oldest;
        var newest = log.Changes.Count == 0 ? (whole.Feed.CreatedId, 0u) : (log.Changes[^1].Position.TransactionId, log.Changes[^1].Position.Ordinal);
        if ((log.Position.TransactionId, log.Position.Ordinal) != newest)
            throw new ModelMismatchException($"the last change of '{name}' is at {log.Position}, and should be at {newest}");
        if (log.Oldest > whole.Oldest || !IsEnd(log, log.Oldest))
            throw new ModelMismatchException($"the feed '{name}' begins at {log.Oldest}");
        foreach (var lost in whole.Changes.Skip(log.Changes.Count).Take(1))
            ModelWriter.Fails<ChangesLostException>(() => reading.ReadChanges(name, lost.Position, new ChangeBatch()));
        return log;
    }

    private TableRow ReadRow(Change change, bool isOld)
    {
        var definition = _world.Tables.First(table => table.Name == change.Source.Name).Definition;
        return isOld ? change.GetOldRow(definition) : change.GetRow(definition);
    }
}
