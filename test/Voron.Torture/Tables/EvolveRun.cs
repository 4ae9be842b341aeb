using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Feeds;

namespace Voron.Torture.Tables;

/// <summary>
/// Changes the definition of a table again and again while its rows change, then cuts the power or kills the process at any call, and continues with
/// what is left.
/// </summary>
internal sealed class EvolveRun<TKey> : IDisposable
{
    private const int MaxSteps = 14;
    private const int MaxCuts = 300;

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly TableKind<TKey> _kind;
    private readonly RowDrawer _rows;
    private readonly StorageOptions _options;
    private readonly EvolvingStore<TKey> _store;
    private readonly StepClock? _clock;

    // What the table has after each transaction, with the definition that the program has then.
    private readonly List<(long TransactionId, TableContent Content)> _contents = [];

    // The calls of the disk before which a transaction was durable.
    private readonly List<(int Calls, long TransactionId)> _durable = [];

    public EvolveRun(SuiteRun run, TableKind<TKey> kind)
    {
        _run = run;
        _choices = run.Choices;
        _kind = kind;
        var disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        _options = CrashOptions.Choose(_choices, _choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages);
        var clock = new StepClock();
        var keys = _choices.Next(3) switch { 0 => 40, 1 => 8, _ => 150 };
        _rows = new RowDrawer(_choices, keys, hasLongBodies: _choices.Next(4) == 3, hasRareKeys: _choices.Next(4) > 0);
        _rows.DrawCompression();
        if (_choices.Next(2) == 1)
            (_clock, _options.TimeProvider, _rows.Now) = (clock, clock, () => clock.Milliseconds);
        _store = new EvolvingStore<TKey>(run, kind, _rows, disk, _options)
        {
            Clock = _clock,
            OnCommit = id => _contents.Add((id, _store!.Content.Copy())),
            OnDurable = id => _durable.Add((_store!.Disk.TraceCount, id)),
        };
    }

    public void Run()
    {
        _store.Open();
        var first = _store.Disk.TraceCount;
        _contents.Add((0, new TableContent()));
        if (_choices.Next(2) == 1)
            _store.CreateNeighbours();
        _ = _store.Evolve(_store.DrawNext(), isStopped: false);
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxSteps && !_run.Stop.IsCancellationRequested))
                break;
            Step();
        }

        Cut(first);
    }

    public void Dispose()
    {
        _store.Dispose();
        _store.Disk.Dispose();
    }

    private void Step()
    {
        if (_clock != null && _choices.Next(3) == 2)
            _store.PassTime();
        if (_clock != null && _choices.Next(12) == 11)
            _store.DeleteExpired();
        switch (_choices.Next(14))
        {
            case < 5:
                _store.Write(_choices.Next(1, 40));
                break;
            case < 9:
                // A call that was stopped is mostly made again.
                var next = _choices.Next(3) == 2 ? _store.Define(_store.Setting.Indexes, _store.Setting.Version) : _store.DrawNext();
                _ = _store.Evolve(next, isStopped: true);
                break;
            case 9:
                _run.Report("flush");
                _store.Environment.Flush();
                if (_choices.Next(2) == 1)
                    _store.Setting.Recompress(_store.Environment);
                break;
            case 10:
                _store.FreeDropped();
                if (_choices.Next(2) == 1)
                    _store.EvolveWithout();
                break;
            case < 13:
                _store.Load();
                break;
            default:
                _run.Report("reopen");
                _store.Close();
                _store.Open();
                _store.Check(isEvolved: true);
                _store.WriteWithChangedFunction();
                break;
        }
    }

    private void Cut(int first)
    {
        var images = new CrashImages(_store.Disk);
        var cuts = _store.Disk.TraceCount - first + 1;
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < Math.Min(cuts, MaxCuts) && !_run.Stop.IsCancellationRequested))
                return;
            var cut = first + (cuts > MaxCuts ? _choices.Next(cuts) : _choices.Choose(i % cuts, cuts));
            var isKill = _choices.Next(4) == 3;
            _run.Report($"{(isKill ? "kill" : "power cut")} after call {cut} of {_store.Disk.TraceCount}");
            _run.Count();
            using var disk = isKill ? images.BuildKilled(cut, _choices) : images.Build(cut, _choices);
            Examine(disk, cut);
            _choices.Forget(drawn);
        }
    }

    private void Examine(SimulatedDisk disk, int cut)
    {
        using var store = new EvolvingStore<TKey>(_run, _kind, _rows, disk, _options)
        {
            Clock = _clock,
            Setting = _store.Setting,
            IsKnown = false,
            Seen = [.. _store.Seen],
        };
        store.Open();
        store.TakeNeighbours(_store);
        var found = store.NewestId;
        var expected = _durable.Where(durable => durable.Calls <= cut).Select(durable => durable.TransactionId).DefaultIfEmpty(0).Max();
        if (found < expected)
            throw new CrashViolationException($"transaction {expected} was durable, but the environment has {found}");
        store.Content = _contents.Last(content => content.TransactionId <= found).Content.Copy();
        store.Check(isEvolved: false);

        // With the same definition, or with another one.
        if (_choices.Next(4) == 3)
        {
            _ = store.Evolve(store.DrawNext(), isStopped: true);
            store.IsKnown = true;
        }

        var isReady = store.Evolve(store.Define(store.Setting.Indexes, store.Setting.Version), isStopped: false);
        _run.Tally(isReady ? "ready after a cut" : "failed after a cut");
        if (_choices.Next(4) == 3)
        {
            store.FreeDropped();
            store.Write(_choices.Next(1, 10));
            store.Check(isEvolved: true);
        }
    }
}
