using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Maintenance;

/// <summary>Walks the trees of a snapshot until one is found that owns a page. Damage on the way is skipped.</summary>
internal sealed unsafe class PageOwnerSearch : ITreeCheckHost
{
    private readonly ReadingEngine _engine;
    private readonly SnapshotPages _snapshot;
    private readonly long _page;
    private readonly CancellationToken _stop;
    private string? _tree;
    private bool _isValueChecked;
    private string? _valueFault;

    private PageOwnerSearch(ReadingEngine engine, SnapshotPages snapshot, long page, CancellationToken stop) =>
        (_engine, _snapshot, _page, _stop) = (engine, snapshot, page, stop);

    /// <summary>The owner; null if there is none.</summary>
    public PageOwner? Owner { get; private set; }

    /// <summary>The fault in the page's part of a large value; null if there is none, or if the owner is not a value.</summary>
    public string? ValueFault => _valueFault != null || _isValueChecked || Owner is not { IsValue: true }
        ? _valueFault
        : $"Page {_page} of '{_snapshot.FilePath}' cannot be verified: the checksums of the value at page {Owner.First} cannot be read.";

    int ITreeCheckHost.PageSize => _engine.PageSize;

    long ITreeCheckHost.PageLimit => _snapshot.PageCount;

    bool ITreeCheckHost.IsOver => Owner != null;

    /// <summary>Searches for the owner of a page.</summary>
    /// <exception cref="OperationCanceledException">The search was stopped.</exception>
    public static PageOwnerSearch Run(ReadingEngine engine, SnapshotPages snapshot, long page, CancellationToken stop)
    {
        var search = new PageOwnerSearch(engine, snapshot, page, stop);
        search.WalkTrees();
        return search;
    }

    void ITreeCheckHost.Report(string problem)
    {
    }

    bool ITreeCheckHost.Own(long first, int pages, bool isValue)
    {
        _stop.ThrowIfCancellationRequested();
        if (_page >= first && _page < first + pages)
            Owner ??= new PageOwner(_tree, first, pages, isValue);
        return true;
    }

    byte* ITreeCheckHost.Read(PageNumber page, bool again)
    {
        _stop.ThrowIfCancellationRequested();
        try
        {
            return _snapshot.Read(page);
        }
        catch (VoronException)
        {
            return null;
        }
    }

    string? ITreeCheckHost.FindFault(byte* record, uint treeId) => null;

    bool ITreeCheckHost.CheckValue(in LargeExtentReference reference, ref long chunk)
    {
        var from = (_page - reference.FirstPage) * _engine.PageSize;
        if (Owner is not { IsValue: true } || Owner.First != reference.FirstPage || from < 0 || from >= reference.Length)
            return true;
        _isValueChecked = true;
        try
        {
            var checksums = LargeValueReader.Checksums(_snapshot, reference);
            LargeValues.Verify(
                _engine.DataFile, reference, checksums, from, Math.Min(_engine.PageSize, reference.Length - from), always: true);
        }
        catch (VoronException e)
        {
            _valueFault = e.Message;
        }

        return false;
    }

    private void WalkTrees()
    {
        var walk = new TreeChecker(this);
        Walk(walk, _snapshot.State.Catalog);
        var cursor = new TreeCursor();
        try
        {
            cursor.Open(new TreeState(_snapshot.State.Catalog), _snapshot, canChange: false);
            for (var found = cursor.SeekFirst(); found && Owner == null; found = cursor.MoveNext())
            {
                _tree = Catalog.ShownName(cursor.Key);
                Walk(walk, Catalog.ToHeader(cursor.Key, cursor.Value, _snapshot.PageCount, _snapshot.PageSize, _snapshot.FilePath));
            }
        }
        catch (VoronException)
        {
            // The trees beyond the damage cannot be found.
        }
        finally
        {
            cursor.Close();
        }
    }

    private static void Walk(TreeChecker walk, TreeHeader tree)
    {
        walk.Begin();
        walk.Run(tree);
    }
}
