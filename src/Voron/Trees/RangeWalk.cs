using System.Runtime.CompilerServices;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Moves a cursor through the entries between two places, in either direction.</summary>
/// <remarks>
/// When the cursor reaches a leaf, the walk determines its window: the entries of the leaf that belong to the walk. Steps within the window neither
/// compare keys nor count entries. A change to the tree makes the cursor release its leaf, and the next step opens another window. The walk thus
/// includes entries added ahead of it and omits removed ones.
/// </remarks>
internal unsafe ref struct RangeWalk
{
    /// <summary>Longer than any key: a bound truncated to this length does not equal any key.</summary>
    private static readonly int MaxBoundBytes = TreeLimits.MaxKeyLength(1 << 16) + 1;

    private readonly KeyBound _start;
    private readonly KeyBound _end;

    // The window: the entries from _first on, in the leaf of this cursor visit. If _isLast is set, it contains the last entries of the walk.
    private long _visit;
    private int _first;
    private int _count;
    private int _step;
    private bool _isLast;

    // The number of entries that may follow those in the window.
    private long _left;

    public RangeWalk(KeyBound start, KeyBound end)
    {
        _start = start;
        _end = end;
    }

    /// <summary>Moves to the next entry if it is in the window; otherwise the cursor does not move.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool TryStep(TreeCursor cursor) => cursor.TryStepWithin(_visit, _step, _first, _count);

    /// <summary>True while the cursor is in the leaf of the window.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool IsIn(TreeCursor cursor) => cursor.LeafVisits == _visit;

    /// <summary>Moves to the first entry; returns false if there is none. A failed call can be repeated.</summary>
    /// <exception cref="CorruptionException">A visited page is damaged.</exception>
    public bool Begin(TreeCursor cursor, in RangeSlice slice)
    {
        _step = slice.IsReversed ? -1 : 1;
        if (slice.Limit == 0 || _start.CompareTo(_end) >= 0 || !Seek(cursor) || !OpenWindow(cursor) || !Skip(cursor, slice.Skipped))
            return false;

        _left = slice.Limit;
        if (slice.IsTurned)
        {
            var passed = PassAll(cursor);
            if (slice.OuterSkipped >= passed || slice.OuterLimit == 0)
                return false;
            _left = Math.Min(passed - slice.OuterSkipped, slice.OuterLimit);
            _step = -_step;
            if (!OpenWindow(cursor) || !Skip(cursor, slice.OuterSkipped))
                return false;
        }

        CutWindow();
        return true;
    }

    /// <summary>Moves to the next entry if <see cref="TryStep"/> returned false; returns false at the end. A failed call can be repeated.</summary>
    /// <exception cref="CorruptionException">A visited page is damaged.</exception>
    public bool Continue(TreeCursor cursor)
    {
        var hasChanged = cursor.Leaf == null || cursor.LeafVisits != _visit;
        if (hasChanged)
            AbandonWindow(cursor.Index);
        if (hasChanged ? _left == 0 : _isLast)
            return false;
        if (!Move(cursor) || !OpenWindow(cursor))
            return false;
        CutWindow();
        return true;
    }

    /// <summary>Adds the unreturned entries of the window to the number of those that may follow.</summary>
    private void AbandonWindow(int index)
    {
        if (_visit == 0)
            return;
        _left += _step > 0 ? _first + _count - 1 - index : index - _first;
        _visit = 0;
    }

    private readonly bool Move(TreeCursor cursor) => _step > 0 ? cursor.MoveNext() : cursor.MovePrevious();

    /// <summary>Determines which entries of the leaf lie between the bounds, from the cursor's on; returns false if not even that one does.</summary>
    private bool OpenWindow(TreeCursor cursor)
    {
        var leaf = cursor.Leaf;
        var index = cursor.Index;
        var count = SlottedPage.Count(leaf);
        _visit = cursor.LeafVisits;
        if (_step > 0)
        {
            _isLast = !_end.IsEnd && !_end.IsAfter(LeafPage.Key(SlottedPage.Record(leaf, count - 1)));
            _first = index;
            _count = (_isLast ? PageSearch.FindEnd<LeafPage>(leaf, index, _end) : count) - index;
        }
        else
        {
            _isLast = !_start.IsStart && _start.IsAfter(LeafPage.Key(SlottedPage.Record(leaf, 0)));
            _first = _isLast ? PageSearch.FindEnd<LeafPage>(leaf, 0, _start) : 0;
            _count = index + 1 - _first;
        }

        return _count > 0;
    }

    /// <summary>Drops surplus entries from the window, and counts the others as returned.</summary>
    private void CutWindow()
    {
        if (_left > _count)
        {
            _left -= _count;
            return;
        }

        if (_step < 0)
            _first += _count - (int)_left;
        _count = (int)_left;
        _left = 0;
        _isLast = true;
    }

    /// <summary>Skips entries leaf by leaf, starting with the cursor's; returns false if none remain.</summary>
    private bool Skip(TreeCursor cursor, long skipped)
    {
        while (skipped >= _count)
        {
            skipped -= _count;
            GoToEdge(cursor);
            if (_isLast || !Move(cursor) || !OpenWindow(cursor))
                return false;
        }

        if (_step > 0)
            _first += (int)skipped;
        _count -= (int)skipped;
        cursor.GoTo(_step > 0 ? _first : _first + _count - 1);
        return true;
    }

    /// <summary>Moves to the last entry of the walk, leaf by leaf.</summary>
    /// <returns>The number of entries from the cursor's initial one to the last, both included.</returns>
    private long PassAll(TreeCursor cursor)
    {
        for (long passed = 0; ;)
        {
            CutWindow();
            passed += _count;
            GoToEdge(cursor);
            if (_isLast)
                return passed;
            if (Move(cursor) && OpenWindow(cursor))
                continue;

            // The cursor has left the range or the tree.
            _step = -_step;
            Move(cursor);
            _step = -_step;
            return passed;
        }
    }

    private readonly void GoToEdge(TreeCursor cursor) => cursor.GoTo(_step > 0 ? _first + _count - 1 : _first);

    private readonly bool Seek(TreeCursor cursor)
    {
        if (_step > 0 ? _start.IsStart : _end.IsEnd)
            return _step > 0 ? cursor.SeekFirst() : cursor.SeekLast();
        return (_step > 0 ? _start : _end).TryGetBytes(out var bytes) ? Seek(cursor, bytes) : SeekCopy(cursor);
    }

    [SkipLocalsInit]
    private readonly bool SeekCopy(TreeCursor cursor)
    {
        var bound = _step > 0 ? _start : _end;
        Span<byte> bytes = stackalloc byte[Math.Min(bound.Length, MaxBoundBytes)];
        bound.CopyTo(bytes);
        return Seek(cursor, bytes);
    }

    private readonly bool Seek(TreeCursor cursor, scoped ReadOnlySpan<byte> bound)
    {
        if (_step > 0)
            return cursor.Seek(bound);
        return cursor.SeekForPrevious(bound) && (!cursor.Key.SequenceEqual(bound) || cursor.MovePrevious());
    }
}
