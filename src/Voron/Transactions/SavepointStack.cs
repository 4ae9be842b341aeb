using System.Diagnostics;
using Voron.Format;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>The open savepoints and nested transactions of the write transaction, from the outermost to the innermost.</summary>
/// <remarks>Used by the holder of the writer.</remarks>
internal sealed class SavepointStack
{
    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKeptEntries = 1024;

    private readonly List<SavepointFrame> _frames = [];
    private long _nextId = 1;

    /// <summary>The number of open savepoints.</summary>
    public int Count => _frames.Count;

    public SavepointFrame this[int index] => _frames[index];

    /// <summary>Ensures that the next <see cref="Add"/> allocates no memory.</summary>
    public void EnsureRoom() => _frames.EnsureCapacity(_frames.Count + 1);

    /// <summary>Returns the id of the next savepoint, which no other savepoint of the environment has.</summary>
    public long NextId() => _nextId++;

    /// <summary>Adds the innermost savepoint.</summary>
    public void Add(in SavepointFrame frame)
    {
        Debug.Assert(_frames.Count == 0 || frame.Id > _frames[^1].Id, "The ids of savepoints must rise from the outermost to the innermost.");
        Debug.Assert(_frames.Count == 0 || frame.Stamp > _frames[^1].Stamp, "The stamps of savepoints must rise from the outermost to the innermost.");
        _frames.Add(frame);
    }

    /// <summary>Removes the savepoints from an index on.</summary>
    public void Truncate(int count)
    {
        Debug.Assert(count <= _frames.Count, "Only savepoints that are open can end.");
        _frames.RemoveRange(count, _frames.Count - count);
    }

    /// <summary>Removes all savepoints, at the end of the transaction.</summary>
    public void Clear()
    {
        _frames.Clear();
        if (_frames.Capacity > MaxKeptEntries)
            _frames.Capacity = 0;
    }

    /// <summary>Refuses a call that would keep the changes of a nested transaction uncommitted.</summary>
    /// <exception cref="InvalidOperationException">A nested transaction from that index on is open.</exception>
    public void ThrowIfNestedOpen(int from, string consequence)
    {
        if (!PlantedFault.KeepUncommittedNested && FindNested(from) >= 0)
        {
            throw new InvalidOperationException(
                $"{consequence}: a nested transaction inside it is still open. Nothing has changed. " +
                "Commit or dispose the nested transaction, then try again.");
        }
    }

    /// <summary>Returns the index of the outermost nested transaction from an index on, or -1.</summary>
    public int FindNested(int from)
    {
        for (var i = from; i < _frames.Count; i++)
        {
            if (_frames[i].IsNested)
                return i;
        }

        return -1;
    }

    /// <summary>Returns the index of an open savepoint, from 0 for the outermost.</summary>
    /// <exception cref="ObjectDisposedException">The savepoint has ended.</exception>
    public int Find(long id)
    {
        var index = IndexOf(id);
        if (index < 0)
            EndedErrors.ThrowSavepoint();
        return index;
    }

    /// <summary>Returns the index of a savepoint; -1 when it has ended.</summary>
    /// <remarks>Ids increase from the outermost savepoint to the innermost.</remarks>
    public int IndexOf(long id)
    {
        var low = 0;
        var high = _frames.Count - 1;
        while (low <= high)
        {
            var middle = (low + high) / 2;
            if (_frames[middle].Id == id)
                return middle;
            if (_frames[middle].Id < id)
                low = middle + 1;
            else
                high = middle - 1;
        }

        return -1;
    }
}

/// <summary>An open savepoint, and the state of the transaction when it began.</summary>
/// <param name="Id">The number that identifies it to its handle.</param>
/// <param name="IsNested">True for a nested transaction, whose changes are kept only if it is released explicitly.</param>
/// <param name="Stamp">Its stamp among the versions: see <see cref="CopyOnWritePages"/>.</param>
/// <param name="FirstSavedTree">The index of its first entry in the <see cref="SavedTrees"/>.</param>
/// <param name="Trees">The number of open trees.</param>
/// <param name="Catalog">The catalog tree.</param>
/// <param name="Attached">The objects attached to the transaction's state; null for none.</param>
internal readonly record struct SavepointFrame(
    long Id, bool IsNested, int Stamp, int FirstSavedTree, int Trees, TreeHeader Catalog, AttachedObjects? Attached);
