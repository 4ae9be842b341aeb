using System.Diagnostics;
using Voron.Format;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>An extent that the open transaction has written directly to the data file.</summary>
/// <param name="FreedAtStamp">The savepoint stamp at which the same transaction freed it; -1 while it is in use.</param>
/// <param name="IsDurable">True if its bytes were synced before the transaction took it, as for a staged value.</param>
internal readonly record struct TransactionExtent(long FirstPage, uint Pages, DirectExtent Value, int FreedAtStamp, bool IsDurable = false)
{
    public bool IsFreed => FreedAtStamp >= 0;

    /// <summary>True for pages of a bulk load, which are trees and values, each freed on its own.</summary>
    public bool IsLoaded => Value.Length == 0;
}

/// <summary>
/// The extents that the open transaction has written directly to the data file, in the order in which they were written, and the staged values
/// that it has taken. The cost of freeing an extent and of rolling back to a savepoint depends on the changes, not on the number of extents.
/// </summary>
internal sealed class DirectExtentList
{
    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKept = 1024;

    private readonly List<TransactionExtent> _extents = [];

    // The extents in use, by their first page. No two begin at the same page: pages that a transaction frees are not written directly again before
    // a flush. Null while there are none: a table that has grown too large is dropped, and created again when needed, which may fail.
    private Dictionary<long, int>? _inUse;

    // The extents that were freed, in that order: their stamps never decrease.
    private readonly List<int> _freed = [];

    // The staged values that the transaction has taken, in that order: the stamps of their savepoints never decrease.
    private readonly List<(StagedContent Content, int Stamp)> _taken = [];

    public List<TransactionExtent> All => _extents;

    public int Count => _extents.Count;

    /// <summary>The number of pages in extents that have not been freed again.</summary>
    public long PagesInUse
    {
        get
        {
            var pages = 0L;
            foreach (var extent in _extents)
                pages += extent.IsFreed ? 0 : extent.Pages;
            return pages;
        }
    }

    public void Add(in TransactionExtent extent)
    {
        // Ensured first, so that nothing is noted if there is no memory for it.
        _extents.EnsureCapacity(_extents.Count + 1);
        if (extent.IsLoaded)
        {
            _extents.Add(extent);
            return;
        }

        Debug.Assert(_inUse?.ContainsKey(extent.FirstPage) != true, "No two extents in use may begin at the same page.");
        (_inUse ??= [])[extent.FirstPage] = _extents.Count;
        _extents.Add(extent);
    }

    /// <summary>Takes a staged value, which is returned if this is rolled back.</summary>
    /// <param name="content">The value.</param>
    /// <param name="stamp">The current stamp of the savepoints.</param>
    /// <inheritdoc cref="StagedContent.Take"/>
    public void Take(StagedContent content, int stamp)
    {
        // Ensured first, so that nothing is taken if there is no memory for it.
        _taken.EnsureCapacity(_taken.Count + 1);
        content.Take();
        _taken.Add((content, stamp));
    }

    /// <summary>Notes that an extent has been freed; does nothing when no extent in use begins at the page.</summary>
    public void TryFree(long firstPage, int stamp)
    {
        if (_inUse == null || !_inUse.TryGetValue(firstPage, out var index))
            return;
        Debug.Assert(
            _freed.Count == 0 || _extents[_freed[^1]].FreedAtStamp <= stamp,
            "Extents must be freed in the order of the savepoints' stamps.");
        _freed.Add(index);
        _inUse.Remove(firstPage);
        _extents[index] = _extents[index] with { FreedAtStamp = stamp };
    }

    /// <summary>
    /// Keeps the first <paramref name="count"/> extents only, undoes frees at the stamp or later, and returns the staged values that were taken
    /// then. Allocates no memory.
    /// </summary>
    public void RollBack(int count, int stamp)
    {
        // Removed before the freed extents return. The extents that are then in use were in use together before, so the table has space for them.
        for (var index = _extents.Count - 1; index >= count; index--)
        {
            if (!_extents[index].IsFreed)
                _inUse?.Remove(_extents[index].FirstPage);
        }

        while (_freed.Count > 0 && _extents[_freed[^1]].FreedAtStamp >= stamp)
        {
            var index = _freed[^1];
            if (index < count)
            {
                _inUse![_extents[index].FirstPage] = index;
                _extents[index] = _extents[index] with { FreedAtStamp = -1 };
            }

            _freed.RemoveAt(_freed.Count - 1);
        }

        _extents.RemoveRange(count, _extents.Count - count);
        while (_taken.Count > 0 && _taken[^1].Stamp >= stamp && !PlantedFault.KeepTakenStages)
        {
            _taken[^1].Content.Return();
            _taken.RemoveAt(_taken.Count - 1);
        }
    }

    /// <summary>
    /// Removes all extents. The staged values that were not returned belong to the transaction for good. Allocates no memory, because the
    /// transaction may have been submitted.
    /// </summary>
    public void Clear()
    {
        foreach (var (content, _) in _taken)
            content.Commit();
        _taken.Clear();
        if (_taken.Capacity > MaxKept)
            _taken.Capacity = 0;
        _inUse?.Clear();
        _extents.Clear();
        if (_extents.Capacity > MaxKept)
        {
            _inUse = null;
            _extents.Capacity = 0;
        }

        _freed.Clear();
        if (_freed.Capacity > MaxKept)
            _freed.Capacity = 0;
    }
}
