using Voron.IO;
using Voron.Primitives;

namespace Voron.ChangeTracking;

/// <summary>Pages that a transaction has written directly to the data file, and that no version in the version table shows.</summary>
internal readonly record struct DirectWrite(long TransactionId, long FirstPage, long Pages);

/// <summary>
/// The pages that transactions since the checkpoint have written directly: the holder of the writer adds them before it submits the record, and
/// the flusher removes them when the checkpoint has reached their transaction.
/// </summary>
internal sealed class DirectWrites(NativeHeap heap)
{
    private const int MaxKept = 16 << 10;

    // Protects the list. Comes after the lock of the change log, and before those of the journal.
    private readonly EngineLock _lock = new(LockRank.DirectWrites);
    private readonly NativeList<DirectWrite> _writes = new(heap);

    /// <summary>Notes pages. The ids never decrease.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing was noted.</exception>
    public void Add(long transactionId, long firstPage, long pages)
    {
        using (_lock.Enter())
            _writes.Add(new DirectWrite(transactionId, firstPage, pages));
    }

    /// <summary>Removes the pages of a transaction that was not submitted.</summary>
    public void Withdraw(long transactionId)
    {
        using (_lock.Enter())
        {
            var count = _writes.Count;
            while (count > 0 && _writes[count - 1].TransactionId == transactionId)
                count--;
            _writes.Truncate(count);
        }
    }

    /// <summary>Adds the pages of the transactions after one and up to another to a set.</summary>
    public void CopyTo(ExtentSet pages, long after, long upTo)
    {
        using (_lock.Enter())
        {
            foreach (var write in _writes.AsSpan())
            {
                if (write.TransactionId > after && write.TransactionId <= upTo)
                    pages.Add(write.FirstPage, write.Pages);
            }
        }
    }

    /// <summary>Removes the pages of the transactions up to one.</summary>
    public void Release(long upTo)
    {
        using (_lock.Enter())
        {
            while (_writes.Count > 0 && _writes[0].TransactionId <= upTo)
                _writes.RemoveFirst();
            if (_writes.Count == 0)
                _writes.ClearAndTrim(MaxKept);
        }
    }

    public void Clear() => Release(long.MaxValue);
}
