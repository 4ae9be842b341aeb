using Voron.ChangeTracking;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Torture.Crashes;
using Voron.Transactions;

namespace Voron.Torture.ChangeTracking;

/// <summary>
/// One environment through flushes, journal snapshots, crashes and reopenings. Moments are remembered with all their pages; later, the pages that the
/// engine says have changed since must be all that differ, and a moment that was acknowledged as a backup to build on must still be one.
/// </summary>
internal sealed class ChangeRun(SuiteRun run) : IDisposable
{
    private const int MaxSteps = 60;
    private const int Keys = 40;

    private static readonly SchedulePlace[] Places =
        [SchedulePlace.CollectingChanges, SchedulePlace.VersionsCollected, SchedulePlace.DirectWritesCollected];

    private readonly Tape _choices = run.Choices;
    private readonly List<Moment> _moments = [];
    private readonly List<ReadTransaction> _readers = [];
    private readonly ForeignLogs _foreignLogs = new(run.Choices);
    private StorageOptions _options = null!;
    private SimulatedDisk _disk = null!;
    private StorageEnvironment _environment = null!;
    private int _opened;

    private Engine Engine => _environment.Internals.Engine;

    public void Run()
    {
        _disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        _options = CrashOptions.Choose(_choices, _choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages);
        _options.LoggerFactory = OneLoggerFactory.Of(new ReportingLogger(Report));
        Open();
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxSteps && !run.Stop.IsCancellationRequested))
                break;
            Step();
        }
    }

    public void Dispose()
    {
        EndReaders();
        _environment?.Dispose();
        _disk?.Dispose();
    }

    private void Step()
    {
        switch (_choices.Next(16))
        {
            case < 6:
                Write();
                break;
            case < 8:
                Remember();
                break;
            case < 10:
                Check();
                break;
            case 10 or 11:
                Report("flush");
                _environment.Flush();
                break;
            case 12:
                Report($"journal snapshot: {_environment.Internals.WriteJournalSnapshot()}");
                break;
            case 13:
                ToggleReader();
                break;
            case 14:
                Reopen();
                break;
            default:
                Crash();
                break;
        }
    }

    private void Write()
    {
        if (run.Index % 4 == 1 && _choices.Next(3) == 2)
        {
            WriteRecorded();
            return;
        }

        using var staged = _choices.Next(8) == 7 ? Stage() : null;
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        if (staged != null)
            tree.Put([(byte)_choices.Next(Keys)], staged);
        var puts = _choices.Next(1, 12);
        for (var i = 0; i < puts; i++)
        {
            var key = new[] { (byte)_choices.Next(Keys) };
            if (_choices.Next(4) == 3)
                tree.Delete(key);
            else
                tree.Put(key, Value(_choices.Next(1, _choices.Next(6) switch { 5 => 120_000, 4 => 20_000, _ => 2_000 })));
        }

        if (_choices.Next(24) == 23)
            writing.DeleteTree("t");
        if (_choices.Next(8) == 7)
        {
            Report("roll back");
            return;
        }

        writing.Commit();
        Report($"write of {puts}{(staged != null ? ", one staged" : "")}");
        if (_choices.Next(8) == 7)
            _environment.ReclaimSpace();
    }

    // The steps of a trim and of a training are transactions of the engine's own.
    private void WriteRecorded()
    {
        if (_choices.Next(4) == 3)
        {
            var trains = _choices.Next(2) == 1;
            Report($"{(trains ? "train a dictionary" : "trim the feed")}: {RecordedWork.TryMaintain(_environment, trains)}");
            return;
        }

        using var writing = _environment.BeginWrite();
        RecordedWork.Change(writing, _choices);
        writing.Commit();
        run.Tally("table commits");
        Report("write of tables");
    }

    private StagedValue Stage()
    {
        using var source = new MemoryStream(Value(_choices.Next(20_000, 120_000)));
        return _environment.StageAsync(source).AsTask().GetAwaiter().GetResult();
    }

    private byte[] Value(int length)
    {
        var value = new byte[length];
        _choices.NextBytes(value);
        return value;
    }

    private void Remember()
    {
        if (!Engine.ChangedPages!.IsOn && _choices.Next(3) < 2)
            _environment.Internals.BeginChangeLog();
        var moment = Capture();
        moment.IsPoint = _environment.Internals.AddBackupPoint(new BackupPoint { BackupId = moment.BackupId, TransactionId = moment.Id });
        moment.MadeAt = _disk.TraceCount;
        if (_choices.Next(2) == 1)
            _environment.Flush();
        _moments.Add(moment);
        NoteDurable();
        Report($"moment {moment.Id}, {(moment.IsDurable ? "durable" : moment.IsPoint ? "pending" : "no point")}");
    }

    private void NoteDurable()
    {
        var changed = Engine.ChangedPages!;
        foreach (var moment in _moments.Where(moment => moment is { IsPoint: true, IsDurable: false } && changed.IsDurable(moment.BackupId)))
        {
            // The flush that makes it durable may have moved the checkpoint at any call before this one.
            moment.IsDurable = true;
            moment.DurableAt = _disk.TraceCount;
        }
    }

    private Moment Capture()
    {
        using var held = new EngineSnapshot(Engine);
        return new Moment(held.Snapshot.Id, PageImages.Of(Engine, held.Snapshot)) { BackupId = new RandomId(1, (ulong)_choices.NextInt64()) };
    }

    private void Check()
    {
        if (_moments.Count == 0)
            return;
        var moment = _moments[_choices.Next(_moments.Count)];
        run.Count();
        using var held = new EngineSnapshot(Engine);
        Check(moment, held.Snapshot);
    }

    private void Check(Moment moment, SnapshotPages snapshot)
    {
        var images = PageImages.Of(Engine, snapshot);
        var isKnown = Engine.ChangedPages!.FindPoint(moment.BackupId) != null;
        if (moment.IsDurable && !isKnown)
            throw new CrashViolationException($"backup {moment.BackupId} as of transaction {moment.Id} was durable as one to build on, and is not known any more");

        // Within one life of the environment, the state need not be a point.
        if (!isKnown && moment.IsFromEarlierLife)
            return;
        using var changed = new ChangedPages(snapshot.PageCount, Engine.Heap);
        var place = Places[_choices.Next(Places.Length)];
        SchedulePoint.Current = _choices.Next(2) == 1 ? new FlushWhileCollecting(place, () => _environment.Flush()) : null;
        bool isComplete;
        try
        {
            isComplete = Engine.ChangedPages.TryCollect(Engine.Versions, moment.Id, snapshot.State, changed);
        }
        finally
        {
            SchedulePoint.Current = null;
        }

        NoteDurable();
        if (!isComplete)
        {
            if (isKnown)
                throw new CrashViolationException($"the log does not reach back to transaction {moment.Id}, though that is a backup to build on");
            run.Tally("refused");
            return;
        }

        run.Tally("compared");
        foreach (var (page, image) in images)
        {
            run.Tally(changed.Contains(page) ? "pages found" : "pages left out");
            if (!changed.Contains(page) && (!moment.Images.TryGetValue(page, out var old) || old != image))
                throw new CrashViolationException($"page {page} has changed between transactions {moment.Id} and {snapshot.Id}, and was not found");
        }
    }

    private void ToggleReader()
    {
        if (_readers.Count > 0 && _choices.Next(2) == 1)
        {
            var index = _choices.Next(_readers.Count);
            _readers[index].Dispose();
            _readers.RemoveAt(index);
        }
        else if (_readers.Count < 3)
        {
            _readers.Add(_environment.BeginRead());
        }
    }

    private void EndReaders()
    {
        foreach (var reader in _readers)
            reader.Dispose();
        _readers.Clear();
    }

    private void Reopen()
    {
        Report("close and open");
        if (_choices.Next(2) == 1)
            EndReaders();
        NoteDurable();
        CloseBeneathReaders();
        _foreignLogs.Keep(_disk);
        NoteEnd(int.MaxValue);
        ExchangeLog();
        Open();
    }

    // A reader that is open while the environment is closed keeps the last flush back.
    private void CloseBeneathReaders()
    {
        _environment.Dispose();
        EndReaders();
    }

    private void Crash()
    {
        NoteDurable();

        // Either now, or anywhere since the environment was opened: mostly near the end.
        var most = _disk.TraceCount - _opened;
        var cut = _disk.TraceCount - _choices.Next(_choices.Next(3) == 2 ? most + 1 : Math.Min(most, 40) + 1);
        var images = new CrashImages(_disk);
        var next = _choices.Next(3) == 0 ? images.BuildKilled(cut, _choices) : images.Build(cut, _choices);
        Report($"crash after call {cut} of {_disk.TraceCount}");
        CloseBeneathReaders();

        // What came after the cut, the closing included, is a copy that has continued separately.
        _foreignLogs.Keep(_disk);
        _disk = next;
        NoteEnd(cut);
        ExchangeLog();
        Open();
    }

    // The answer may be that the changes are not known; otherwise, none may be missing.
    private void ExchangeLog()
    {
        if (_choices.Next(4) < 3 || !_foreignLogs.TryPut(_disk, _options, out var what))
            return;
        run.Tally("foreign logs");
        Report($"the change log is that of {what}");
        foreach (var moment in _moments)
            moment.IsDurable = false;
    }

    private void Open()
    {
        _environment = StorageEnvironment.Open(_disk, _options);
        RecordedWork.Check(_environment, "after an opening");
        Engine.ChangedPages!.LimitBytes = 64 << 10;
        _opened = _disk.TraceCount;
    }

    // The states that came after a cut have never been, and points that were on their way may be lost.
    private void NoteEnd(int cut)
    {
        _moments.RemoveAll(moment => moment.MadeAt > cut && !moment.IsFromEarlierLife);
        foreach (var moment in _moments)
        {
            moment.IsDurable &= moment.DurableAt <= cut || moment.IsFromEarlierLife;
            moment.IsFromEarlierLife = true;
        }
    }

    private void Report(string what) => run.Report(what);

    private sealed record Moment(long Id, Dictionary<long, ulong> Images)
    {
        public required RandomId BackupId { get; init; }

        public bool IsPoint { get; set; }

        public bool IsDurable { get; set; }

        public int MadeAt { get; set; }

        public int DurableAt { get; set; }

        public bool IsFromEarlierLife { get; set; }
    }
}
