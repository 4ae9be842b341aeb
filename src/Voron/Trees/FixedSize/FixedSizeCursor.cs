using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>A position on an entry of a fixed-size tree that moves in both directions. Designed for pooling: moving allocates nothing.</summary>
/// <remarks>
/// The cursor keeps the key of its entry, and the change count of the tree at which it found the leaf. While the count remains the same, the leaf is
/// valid. Otherwise, the cursor restores its position by key, so the tree need not know its cursors. After its entry is deleted, the cursor keeps
/// the position: the next move leads to the neighbour. A failed seek leaves the cursor lost until another seek. A failed step leaves it at the entry
/// that it was about to leave.
/// </remarks>
internal sealed unsafe class FixedSizeCursor
{
    private TreeState? _tree;
    private PageReader? _reader;
    private ArrayLayout _layout;
    private TreePath _path;
    private Place _place;
    private byte* _leaf;
    private int _index;
    private int _count;
    private long _key;
    private long _changes;

    // The number of leaves that the cursor has moved since it last descended from the root; negative if it moved backwards.
    private long _distance;

    private enum Place
    {
        Unset,
        BeforeFirst,
        AfterLast,
        Entry,
        Lost,
    }

    /// <summary>The state of the tree over which the cursor is open.</summary>
    internal TreeState State => _tree!;

    /// <summary>True if the cursor is on an entry; false also if that entry has since been deleted.</summary>
    public bool IsOnEntry => _place == Place.Entry && (IsCurrent || TryRestore());

    /// <summary>The key of the entry.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry, or its entry has been deleted.</exception>
    public long Key
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            RequireEntry();
            return _key;
        }
    }

    /// <summary>The value of the entry. Valid as long as the pages are, and until the next change.</summary>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            RequireEntry();

            // Read once: another thread may end the transaction, and clear the leaf, between the check and the use.
            var leaf = _leaf;
            return leaf == null ? default : new ReadOnlySpan<byte>(ArrayPage.Value(leaf, _layout, _index), _layout.ValueSize);
        }
    }

    private bool IsCurrent
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _leaf != null && _tree is { } tree && _changes == tree.ChangeCount;
    }

    /// <summary>Opens a tree.</summary>
    public void Open(TreeState tree, PageReader reader)
    {
        Close();
        _tree = tree;
        _reader = reader;
        _layout = tree.Shape(reader.PageSize).Leaf;
    }

    /// <summary>Releases the tree. A second call does nothing.</summary>
    public void Close()
    {
        // The order matters: a thread still using the cursor must not mistake it for one that has to restore its position.
        _place = Place.Unset;
        _leaf = null;
        _tree = null;
        _reader = null;
    }

    /// <summary>Describes the position. Reads no page, and never throws.</summary>
    public string Describe() => _place switch
    {
        Place.Entry => $"at {_key}",
        Place.BeforeFirst => "before the first entry",
        Place.AfterLast => "after the last entry",
        Place.Lost => "lost: the last seek failed",
        _ => "not positioned",
    };

    /// <summary>Moves to the first entry whose key is not below this one; if there is none, returns false and moves past the end.</summary>
    public bool Seek(long key)
    {
        Leave();
        return SeekNear(key, 1, out _);
    }

    /// <summary>Moves to this key; if the tree does not contain it, returns false and moves to the entry after it.</summary>
    public bool SeekExact(long key)
    {
        Leave();
        SeekNear(key, 1, out var exact);
        return exact;
    }

    /// <summary>Moves to the last entry whose key is not above this one; if there is none, returns false and moves before the start.</summary>
    public bool SeekForPrevious(long key)
    {
        Leave();
        return SeekNear(key, -1, out _);
    }

    public bool SeekFirst()
    {
        Leave();
        return SeekEdge(first: true);
    }

    public bool SeekLast()
    {
        Leave();
        return SeekEdge(first: false);
    }

    /// <summary>Moves to the next entry if it is in the same leaf; otherwise does not move.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepNext()
    {
        var leaf = _leaf;
        if (!IsCurrent || _index + 1 >= _count)
            return false;
        _index++;
        _key = ArrayPage.Key(leaf, _layout, _index);
        return true;
    }

    /// <summary>Moves to the previous entry if it is in the same leaf; otherwise does not move.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepPrevious()
    {
        var leaf = _leaf;
        if (!IsCurrent || _index == 0)
            return false;
        _index--;
        _key = ArrayPage.Key(leaf, _layout, _index);
        return true;
    }

    /// <summary>Moves to the next entry, or to the first one if the cursor has not been positioned yet.</summary>
    public bool MoveNext() => TryStepNext() || MoveSlowly(1);

    /// <summary>Moves to the previous entry, or to the last one if the cursor has not been positioned yet.</summary>
    public bool MovePrevious() => TryStepPrevious() || MoveSlowly(-1);

    /// <summary>Removes the entry; returns false if it was already deleted. The next move leads to a neighbour.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry.</exception>
    public bool Delete(PageWriter writer)
    {
        if (_place != Place.Entry)
            TreeErrors.ThrowNoEntry();
        return FixedSizeWriter.Delete(writer, _tree!, _key);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void RequireEntry()
    {
        if (!IsCurrent)
            RestoreOrThrow();
    }

    // The seek that follows can fail halfway.
    private void Leave()
    {
        _leaf = null;
        _place = Place.Lost;
    }

    /// <summary>Sets the position to an entry. Cannot fail.</summary>
    private void SetPlace(byte* leaf, int index)
    {
        _count = ArrayPage.Count(leaf);
        _index = index;
        _key = ArrayPage.Key(leaf, _layout, index);
        _changes = _tree!.ChangeCount;
        _leaf = leaf;
        _place = Place.Entry;
    }

    private bool SeekNear(long key, int step, out bool exact)
    {
        exact = false;
        var tree = _tree!;
        if (tree.Root.IsNone)
            return End(step);

        _distance = 0;
        var leaf = FixedSizePath.Descend(tree, _reader!, key, ref _path);
        var index = ArrayPage.Search(leaf, _layout, key);
        exact = index >= 0;
        if (!exact)
            index = step > 0 ? ~index : ~index - 1;
        if ((uint)index >= (uint)ArrayPage.Count(leaf))
            return StepLeaf(step);
        SetPlace(leaf, index);
        return true;
    }

    private bool SeekEdge(bool first)
    {
        var tree = _tree!;
        if (tree.Root.IsNone)
            return End(first ? 1 : -1);

        _distance = 0;
        var leaf = FixedSizePath.DescendToEdge(tree, _reader!, first, ref _path);
        SetPlace(leaf, first ? 0 : ArrayPage.Count(leaf) - 1);
        return true;
    }

    /// <summary>Moves to the first entry of the next leaf, or to the last entry of the previous one; past the end if there is none.</summary>
    private bool StepLeaf(int step)
    {
        // If the step fails, the path is unusable: the next move starts from the key.
        _leaf = null;
        var leaf = FixedSizePath.Step(_tree!, _reader!, step, ref _path);
        if (leaf == null)
            return End(step);

        // A scan of a tree whose branches form a cycle would never end.
        _distance += step;
        if (Math.Abs(_distance) >= _tree!.LeafPages)
            TreeErrors.ThrowLeaves(_reader!, _tree.LeafPages);
        SetPlace(leaf, step > 0 ? 0 : ArrayPage.Count(leaf) - 1);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveSlowly(int step)
    {
        switch (_place)
        {
            case Place.Entry when IsCurrent:
                return StepLeaf(step);
            case Place.Entry:
                var key = _key;
                _leaf = null;
                return SeekNear(key, step, out var exact) && (!exact || (step > 0 ? MoveNext() : MovePrevious()));
            case Place.AfterLast when step > 0:
            case Place.BeforeFirst when step < 0:
                return false;
            case Place.Lost:
                TreeErrors.ThrowLost();
                return false;
            default:
                return step > 0 ? SeekFirst() : SeekLast();
        }
    }

    private bool End(int step)
    {
        _leaf = null;
        _place = step > 0 ? Place.AfterLast : Place.BeforeFirst;
        return false;
    }

    /// <summary>Finds the entry of the key again; if it no longer exists, returns false, and the cursor keeps its position.</summary>
    private bool TryRestore()
    {
        var key = _key;
        SeekNear(key, 1, out var exact);
        if (!exact)
        {
            _leaf = null;
            _key = key;
            _place = Place.Entry;
        }

        return exact;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RestoreOrThrow()
    {
        if (_place != Place.Entry || _tree == null || _reader == null || !TryRestore())
            TreeErrors.ThrowNoEntry();
    }
}
