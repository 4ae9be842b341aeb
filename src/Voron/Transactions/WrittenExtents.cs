using Voron.Format;

namespace Voron.Transactions;

/// <summary>An extent that the open transaction has written directly to the data file.</summary>
/// <param name="FreedAtStamp">The savepoint stamp at which the same transaction freed it; -1 while it is in use.</param>
internal readonly record struct WrittenExtent(long FirstPage, uint Pages, DirectExtent Run, int FreedAtStamp)
{
    public bool IsFreed => FreedAtStamp >= 0;
}

/// <summary>
/// The extents that the open transaction has written directly to the data file, in the order in which they were written. Freeing an extent
/// and rolling back to a savepoint cost only as much as they change, however many extents there are.
/// </summary>
internal sealed class WrittenExtents
{
    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKept = 1024;

    private readonly List<WrittenExtent> _runs = [];

    // The extents in use, by their first page. No two begin at the same page: pages that a transaction frees are not written directly again
    // before a flush. Null while there are none: a table that has grown too large is dropped, and created when it is needed, which may fail.
    private Dictionary<long, int>? _inUse;

    // The extents that were freed, in that order: their stamps never decrease.
    private readonly List<int> _freed = [];

    public List<WrittenExtent> All => _runs;

    public int Count => _runs.Count;

    public void Add(in WrittenExtent run)
    {
        // Ensured first, so that nothing is noted if there is no memory for it.
        _runs.EnsureCapacity(_runs.Count + 1);
        (_inUse ??= [])[run.FirstPage] = _runs.Count;
        _runs.Add(run);
    }

    /// <summary>Notes that an extent has been freed; does nothing when no extent in use begins at the page.</summary>
    public void TryFree(long firstPage, int stamp)
    {
        if (_inUse == null || !_inUse.TryGetValue(firstPage, out var index))
            return;
        _freed.Add(index);
        _inUse.Remove(firstPage);
        _runs[index] = _runs[index] with { FreedAtStamp = stamp };
    }

    /// <summary>Keeps the first <paramref name="count"/> extents only, and undoes frees at the stamp or later. Allocates no memory.</summary>
    public void RollBack(int count, int stamp)
    {
        // Removed before the freed extents return. The extents that are then in use were in use together before, so the table has room for them.
        for (var index = _runs.Count - 1; index >= count; index--)
        {
            if (!_runs[index].IsFreed)
                _inUse!.Remove(_runs[index].FirstPage);
        }

        while (_freed.Count > 0 && _runs[_freed[^1]].FreedAtStamp >= stamp)
        {
            var index = _freed[^1];
            if (index < count)
            {
                _inUse![_runs[index].FirstPage] = index;
                _runs[index] = _runs[index] with { FreedAtStamp = -1 };
            }

            _freed.RemoveAt(_freed.Count - 1);
        }

        _runs.RemoveRange(count, _runs.Count - count);
    }

    /// <summary>Removes all extents. Allocates no memory, because the transaction may have been submitted.</summary>
    public void Clear()
    {
        _inUse?.Clear();
        _runs.Clear();
        if (_runs.Capacity > MaxKept)
        {
            _inUse = null;
            _runs.Capacity = 0;
        }

        _freed.Clear();
        if (_freed.Capacity > MaxKept)
            _freed.Capacity = 0;
    }
}
