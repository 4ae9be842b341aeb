using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>
/// Changes trees and tables that feeds record, reads the feeds and compares the copies that their changes make, then cuts the power or kills the
/// process at any call, and continues with what is left.
/// </summary>
internal sealed class FeedRun<TKey> : IDisposable
{
    private const int FewOperations = 1_500;
    private const int ManyOperations = 8_000;
    private const int MaxCuts = 24;
    private const int MaxStepsAfterCut = 6;

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly FeedStore<TKey> _store;

    // The calls of the disk before which a transaction was durable.
    private readonly List<(int Calls, long TransactionId)> _durable = [];

    public FeedRun(SuiteRun run, TableKind<TKey> kind)
    {
        _run = run;
        _choices = run.Choices;
        var disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        World = new FeedWorld<TKey>(run, kind);
        _store = new FeedStore<TKey>(World, disk) { OnDurable = id => _durable.Add((disk.TraceCount, id)) };
    }

    public FeedWorld<TKey> World { get; }

    public void Run()
    {
        _store.Create();
        var first = _store.Disk.TraceCount;
        var operations = _choices.Next(3) == 2 ? ManyOperations : FewOperations;
        while (true)
        {
            _choices.Mark();
            if (!_choices.GoesOn(World.Operations < operations && !_run.Stop.IsCancellationRequested))
                break;
            _store.Step();
        }

        _store.CheckAll();
        Cut(first);
    }

    public void Dispose()
    {
        _store.Dispose();
        _store.Disk.Dispose();
    }

    private void Cut(int first)
    {
        var images = new CrashImages(_store.Disk);
        var cuts = _store.Disk.TraceCount - first + 1;
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxCuts && !_run.Stop.IsCancellationRequested))
                return;
            var cut = first + _choices.Next(cuts);
            var isKill = _choices.Next(4) == 3;
            World.History.Add($"{(isKill ? "kill" : "power cut")} after call {cut} of {_store.Disk.TraceCount}");
            _run.Tally(isKill ? "kills" : "power cuts");
            using var disk = isKill ? images.BuildKilled(cut, _choices) : images.Build(cut, _choices);
            Examine(disk, cut);
            _choices.Forget(drawn);
        }
    }

    private void Examine(SimulatedDisk disk, int cut)
    {
        using var store = new FeedStore<TKey>(World, disk);
        store.OpenLeft(_store);
        var expected = _durable.Where(durable => durable.Calls <= cut).Select(durable => durable.TransactionId).DefaultIfEmpty(0).Max();
        if (store.NewestId < expected)
            throw new CrashViolationException($"transaction {expected} was durable, but the environment has {store.NewestId}");
        store.CheckAll();
        if (_choices.Next(3) < 2)
            return;
        for (var i = _choices.Next(MaxStepsAfterCut); i >= 0; i--)
            store.Step();
        store.CheckAll();
    }
}
