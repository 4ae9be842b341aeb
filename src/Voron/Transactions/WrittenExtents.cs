using Voron.Format;

namespace Voron.Transactions;

/// <summary>A run that the open transaction has written straight to the data file.</summary>
/// <param name="FreedAtStamp">The savepoint stamp at which the same transaction freed it; -1 while it is in use.</param>
internal readonly record struct WrittenExtent(long FirstPage, uint Pages, DirectExtent Run, int FreedAtStamp)
{
    public bool IsFreed => FreedAtStamp >= 0;
}

/// <summary>
/// The runs that the open transaction has written straight to the data file, in the order in which they were written. Freeing one, and
/// rolling back to a savepoint, cost what they change, however many runs there are.
/// </summary>
internal sealed class WrittenExtents
{
    /// <summary>Entries that are kept for the next transaction.</summary>
    private const int MaxKept = 1024;

    private readonly List<WrittenExtent> _runs = [];

    // Those in use, by their first page. No two begin there: pages that a transaction frees are not written directly again before a flush.
    // Null while there are none: what has grown too large is dropped, and made when it is needed, which may fail.
    private Dictionary<long, int>? _inUse;

    // Those that were freed, in that order: their stamps never fall.
    private readonly List<int> _freed = [];

    public List<WrittenExtent> All => _runs;

    public int Count => _runs.Count;

    public void Add(in WrittenExtent run)
    {
        // Nothing is noted if there is no memory for it.
        _runs.EnsureCapacity(_runs.Count + 1);
        (_inUse ??= [])[run.FirstPage] = _runs.Count;
        _runs.Add(run);
    }

    /// <summary>Notes that a run has been freed; does nothing when no run in use begins with the page.</summary>
    public void TryFree(long firstPage, int stamp)
    {
        if (_inUse == null || !_inUse.TryGetValue(firstPage, out var index))
            return;
        _freed.Add(index);
        _inUse.Remove(firstPage);
        _runs[index] = _runs[index] with { FreedAtStamp = stamp };
    }

    /// <summary>Forgets the runs behind the first ones, and that runs were freed at a stamp or later. Asks for no memory.</summary>
    public void RollBack(int count, int stamp)
    {
        // Before the others come back, which were in use together at that time: so there is room for them.
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

    /// <summary>Forgets all. Asks for no memory: the transaction may have been submitted.</summary>
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
