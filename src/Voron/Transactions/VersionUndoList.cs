using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>A version pushed by the open write transaction.</summary>
/// <param name="Node">The version; 0 once it has been joined with the one below it.</param>
/// <param name="Savepoint">The savepoint that needs the transaction's version below this one; -1 if none does.</param>
/// <param name="Next">The next older entry that covers a version for the same savepoint, or -1.</param>
internal readonly record struct PushedVersion(nint Node, int Savepoint, int Next);

/// <summary>The versions pushed by the open write transaction, in order, and the savepoints that need them.</summary>
/// <remarks>
/// A version is copied when it is older than the innermost savepoint: the copy *covers* it. The covered version belongs to the
/// innermost savepoint that was open when it was made, or to the transaction as a whole. When that savepoint is the innermost again, no
/// rollback can end between the two versions, and the copy takes the place of the version that it covers. Each savepoint therefore has a
/// list of the entries that cover its versions. Releasing a savepoint examines only these entries, and each of them once.
///
/// Joined entries leave holes. Holes at the end are removed immediately, the others when they make up more than half of the list. Used by the
/// holder of the writer.
/// </remarks>
internal sealed unsafe class VersionUndoList(NativeHeap heap)
{
    /// <summary>The covered stamp of an entry that covers no version of the same transaction.</summary>
    public const int CoversNothing = -1;

    private const int MaxKeptEntries = 16 << 10;
    private const int MinHoles = 1024;

    private readonly NativeList<PushedVersion> _pushed = new(heap);

    // The first one represents the transaction as a whole, and never ends.
    private readonly List<Savepoint> _savepoints = [new Savepoint(0, 0)];
    private int _holes;

    /// <summary>The number of entries, including holes.</summary>
    public int Count => _pushed.Count;

    /// <summary>Ensures that <paramref name="versions"/> versions can be added without allocating memory.</summary>
    public void EnsureRoom(int versions) => _pushed.EnsureRoom(versions);

    /// <summary>Records a version that has become the newest of its page.</summary>
    /// <param name="node">The version.</param>
    /// <param name="coveredStamp">The stamp of the version of the same transaction below it, or <see cref="CoversNothing"/>.</param>
    public void Add(VersionNode* node, int coveredStamp)
    {
        if (coveredStamp == CoversNothing)
        {
            _pushed.Add(new PushedVersion((nint)node, -1, -1));
            return;
        }

        var index = FindSavepoint(coveredStamp);
        ref var savepoint = ref CollectionsMarshal.AsSpan(_savepoints)[index];
        _pushed.Add(new PushedVersion((nint)node, index, savepoint.FirstCover));
        savepoint.FirstCover = _pushed.Count - 1;
    }

    /// <summary>Begins a savepoint, whose stamp is above those of all versions so far.</summary>
    public void BeginSavepoint(int stamp)
    {
        Debug.Assert(stamp > _savepoints[^1].Stamp, "The stamp of a savepoint must be above those of the savepoints around it.");
        _savepoints.Add(new Savepoint(stamp, _pushed.Count));
    }

    /// <summary>
    /// Ends a savepoint and those inside it; call it until it returns false. Each call yields a version to be joined with the version that
    /// it covers; by then it is the newest of its page.
    /// </summary>
    /// <param name="savepoint">Its number, from 0 for the outermost.</param>
    /// <param name="node">The version to be joined.</param>
    public bool TryEndSavepoint(int savepoint, out VersionNode* node)
    {
        // From the innermost outward: the newest of several versions of a page comes first.
        var savepoints = CollectionsMarshal.AsSpan(_savepoints);
        var last = PlantedFault.JoinNeededCopies ? 0 : savepoint;
        for (var i = savepoints.Length - 1; i >= last; i--)
        {
            var cover = savepoints[i].FirstCover;
            if (cover < 0)
                continue;
            var change = _pushed[cover];
            savepoints[i].FirstCover = change.Next;
            _pushed[cover] = default;
            _holes++;
            node = (VersionNode*)change.Node;
            return true;
        }

        // The caller's number 0 is the second entry here: the savepoints that end follow the one that becomes the innermost.
        _savepoints.RemoveRange(savepoint + 1, _savepoints.Count - savepoint - 1);
        TakeHolesOffTheEnd();
        if (_holes > MinHoles && _holes > _pushed.Count / 2)
            TakeHolesOut();
        node = null;
        return false;
    }

    /// <summary>
    /// Takes back the versions added since a savepoint, which stays open, while those inside it end; call it until it returns false. The
    /// versions come from the newest to the oldest.
    /// </summary>
    /// <param name="savepoint">Its number, from 0 for the outermost; -1 for the transaction as a whole.</param>
    /// <param name="node">The version to be removed from its page.</param>
    public bool TryTakeBack(int savepoint, out VersionNode* node)
    {
        var savepoints = CollectionsMarshal.AsSpan(_savepoints);
        var first = savepoints[savepoint + 1].FirstChange + (PlantedFault.KeepPageInRollback && savepoint >= 0 ? 1 : 0);
        while (_pushed.Count > first)
        {
            var last = _pushed.Count - 1;
            var change = _pushed[last];
            _pushed.Truncate(last);
            if (change.Node == 0)
            {
                _holes--;
                continue;
            }

            if (change.Savepoint >= 0)
            {
                Debug.Assert(savepoints[change.Savepoint].FirstCover == last, "The versions of a savepoint must be taken back from the newest to the oldest.");
                savepoints[change.Savepoint].FirstCover = change.Next;
            }

            node = (VersionNode*)change.Node;
            return true;
        }

        _savepoints.RemoveRange(savepoint + 2, _savepoints.Count - savepoint - 2);
        node = null;
        return false;
    }

    /// <summary>Returns all versions, without holes. No savepoint is open.</summary>
    public ReadOnlySpan<PushedVersion> Compact()
    {
        Debug.Assert(_savepoints.Count == 1, "No savepoint may be open when the changes are packed.");
        if (_holes > 0)
            TakeHolesOut();
        return _pushed.AsSpan();
    }

    /// <summary>Clears everything at the end of the transaction. After a large transaction, most of the memory is freed.</summary>
    public void Clear()
    {
        _pushed.ClearAndTrim(MaxKeptEntries);
        _savepoints.RemoveRange(1, _savepoints.Count - 1);
        _savepoints[0] = new Savepoint(0, 0);
        if (_savepoints.Capacity > MaxKeptEntries)
            _savepoints.TrimExcess();
        _holes = 0;
    }

    /// <summary>Returns the innermost of the open savepoints that was already open when a version with that stamp was made.</summary>
    private int FindSavepoint(int stamp)
    {
        var low = 0;
        var high = _savepoints.Count - 1;
        while (low < high)
        {
            var middle = (low + high + 1) / 2;
            if (_savepoints[middle].Stamp <= stamp)
                low = middle;
            else
                high = middle - 1;
        }

        return low;
    }

    // Not beyond the beginning of a savepoint: entries added later must follow it.
    private void TakeHolesOffTheEnd()
    {
        var first = _savepoints[^1].FirstChange;
        var count = _pushed.Count;
        while (count > first && _pushed[count - 1].Node == 0)
            count--;
        _holes -= _pushed.Count - count;
        _pushed.Truncate(count);
    }

    private void TakeHolesOut()
    {
        var savepoints = CollectionsMarshal.AsSpan(_savepoints);
        foreach (ref var savepoint in savepoints)
            savepoint.FirstCover = -1;
        var kept = 0;
        var next = 0;
        for (var i = 0; i < _pushed.Count; i++)
        {
            for (; next < savepoints.Length && savepoints[next].FirstChange == i; next++)
                savepoints[next].FirstChange = kept;
            var change = _pushed[i];
            if (change.Node == 0)
                continue;
            if (change.Savepoint >= 0)
            {
                change = change with { Next = savepoints[change.Savepoint].FirstCover };
                savepoints[change.Savepoint].FirstCover = kept;
            }

            _pushed[kept++] = change;
        }

        for (; next < savepoints.Length; next++)
            savepoints[next].FirstChange = kept;
        _pushed.Truncate(kept);
        _holes = 0;
    }

    /// <summary>A savepoint.</summary>
    /// <param name="stamp">The stamp of the versions made in it, until a savepoint inside it begins.</param>
    /// <param name="firstChange">The first entry that was added in it.</param>
    private struct Savepoint(int stamp, int firstChange)
    {
        public readonly int Stamp = stamp;
        public int FirstChange = firstChange;

        /// <summary>The newest entry that covers a version of this savepoint, or -1.</summary>
        public int FirstCover = -1;
    }
}
