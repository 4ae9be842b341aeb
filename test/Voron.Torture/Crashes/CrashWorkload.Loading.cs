using System.Collections.Immutable;
using System.Text;

namespace Voron.Torture.Crashes;

/// <content>Bulk loads, each open during several steps.</content>
internal sealed partial class CrashWorkload
{
    private OpenLoad? _load;

    /// <summary>Loads trees in bulk.</summary>
    public bool Loads { get; init; }

    private void StepOfLoading()
    {
        if (_load == null)
            BeginLoad();
        else if (_random.Next(3) > 0)
            PutIntoLoad(_load);
        else if (_random.Next(5) > 0)
            CompleteLoad(_load);
        else
            GiveUpLoad();
    }

    private void BeginLoad()
    {
        var name = ModelTransaction.DrawPlainName(_random);
        if (_random.Next(4) > 0)
            Commit(writing => writing.Remove(name, leavesEmpty: _random.Next(3) == 0));
        _run.Report($"begin a load of {name}");
        var load = _environment!.BeginBulkLoadAsync(name, new BulkLoadOptions { Sorted = true }).AsTask().GetAwaiter().GetResult();
        _load = new OpenLoad(load, name, IdOf(name));
        PutIntoLoad(_load);
    }

    private void PutIntoLoad(OpenLoad load)
    {
        _run.Report($"put into the load of {load.Tree}");
        for (var i = _random.Next(120); _random.GoesOn(i > 0); i--)
        {
            var length = _random.Next(20) switch { 0 => _random.Next(1200, 14_000), 1 => _random.Next(16_384, 90_000), _ => _random.Next(700) };
            var (key, value) = ($"key{load.Entries.Count:D4}", new ModelValue(_random.Next(), length));
            load.Load.Put(Encoding.ASCII.GetBytes(key), value.ToBytes());
            load.Entries[key] = value;
        }
    }

    private void CompleteLoad(OpenLoad load)
    {
        _run.Report($"complete the load of {load.Tree}");
        var before = Newest.Trees.GetValueOrDefault(load.Tree);
        var isRefused = load.Load.IsAtomic && (IdOf(load.Tree) != load.TreeId || before is { Count: > 0 });
        if (!isRefused)
            Submit(AfterLoad(load, before));
        try
        {
            load.Load.CompleteAsync().AsTask().GetAwaiter().GetResult();
            if (isRefused)
                throw new CrashViolationException($"A load has replaced the tree {load.Tree}, which was changed meanwhile.");
            Acknowledge();
            _counts.Loads++;
        }
        catch (InvalidOperationException) when (isRefused)
        {
            _counts.LoadsRefused++;
        }

        GiveUpLoad();
        ContentCheck.Check(_environment!, [Newest]);
        _readers.Check();
    }

    // A load without entries creates a tree only if it adopts one.
    private Content AfterLoad(OpenLoad load, ImmutableSortedDictionary<string, ModelValue>? before) => load.Load.IsAtomic || load.Entries.Count > 0
        ? Newest.With(load.Tree, (before ?? Content.EmptyTree).SetItems(load.Entries))
        : Newest;

    // Also when the environment has been closed.
    private void GiveUpLoad()
    {
        _load?.Load.Dispose();
        _load = null;
    }

    // 0 if there is no tree of the name.
    private uint IdOf(string name)
    {
        using var reading = _environment!.BeginRead();
        if (!reading.TryOpenTree(name, out _))
            return 0;
        _ = reading.GetTreeStatistics(name, out var header);
        return header.TreeId;
    }

    /// <summary>A load that is not complete.</summary>
    private sealed record OpenLoad(BulkLoad Load, string Tree, uint TreeId)
    {
        public ImmutableSortedDictionary<string, ModelValue>.Builder Entries { get; } = Content.EmptyTree.ToBuilder();
    }
}
