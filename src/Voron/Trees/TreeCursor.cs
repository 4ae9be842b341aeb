using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>A position on an entry of a tree that moves in both directions. Designed for pooling: moving allocates nothing.</summary>
/// <remarks>
/// <code>
///           Seek..., Move...               the tree is about to change
/// Unset  ----------------------&gt;  Entry  ----------------------------&gt;  Saved
///                                 |   ^                                   |
///                past either end  |   |  Move..., Value: by the key       |
///                                 v   +-----------------------------------+
///                       BeforeFirst, AfterLast
/// </code>
/// In the Saved state, the cursor holds a copy of its key and no address. After its entry is deleted, the cursor keeps the position: the next
/// move leads to the neighbour.
///
/// The leaf is set if and only if the place is Entry, and both are set only when nothing can fail any more. A failed seek leaves the cursor Lost
/// until another seek. A failed step leaves it Saved, at the entry that it was about to leave.
/// </remarks>
internal sealed unsafe partial class TreeCursor
{
    private TreeState? _tree;
    private PageReader? _reader;
    private byte* _leaf;
    private int _index;
    private int _count;
    private CursorPath _path = new();
    private Place _place;
    private bool _canChange;
    private byte[] _savedKey = [];
    private int _savedLength;

    private enum Place
    {
        Unset,
        BeforeFirst,
        AfterLast,
        Entry,
        Saved,
        Lost,
    }

    /// <summary>The state of the tree over which the cursor is open.</summary>
    internal TreeState State => _tree!;

    /// <summary>True while the cursor is in the tree's list, so that it releases its page before a change.</summary>
    internal bool IsAttached { get; set; }

    internal TreeCursor? NextOfTree { get; set; }

    internal TreeCursor? PreviousOfTree { get; set; }

    /// <summary>
    /// Increases each time the cursor reaches a leaf. While it remains the same and <see cref="Leaf"/> is not null, the leaf does not change.
    /// </summary>
    internal long LeafVisits { get; private set; }

    /// <summary>The leaf of the entry; null while the cursor has no address of an entry.</summary>
    internal byte* Leaf => _leaf;

    /// <summary>The index of the entry in the leaf, or that of the last entry before the cursor released its leaf.</summary>
    internal int Index => _index;

    /// <summary>True if the cursor is on an entry; false also if that entry has since been deleted.</summary>
    public bool IsOnEntry => _place == Place.Entry || (_place == Place.Saved && TryRestore());

    /// <summary>The key of the entry. Valid until the next move or change.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry, or its entry has been deleted.</exception>
    public ReadOnlySpan<byte> Key
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            // Read once: another thread may end the transaction, and clear the leaf, between the check and the use.
            var leaf = _leaf;
            return leaf != null ? LeafPage.Key(SlottedPage.Record(leaf, _index)) : RestoredKey();
        }
    }

    /// <summary>The value of the entry, from the leaf or from its extent. Valid as long as the pages are; if compressed, until a move.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry, or its entry has been deleted.</exception>
    /// <exception cref="CorruptionException">The value contradicts its record, or its bytes are damaged.</exception>
    public ReadOnlySpan<byte> Value
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var record = Record;
            return LeafPage.Packed(record) != null ? Unpack(record) : LeafValue.Read(_reader!, record, _tree!.TreeId);
        }
    }

    /// <summary>The record of the entry; null while the cursor has no address of an entry.</summary>
    internal byte* RecordIfAny
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var leaf = _leaf;
            return leaf == null ? null : SlottedPage.Record(leaf, _index);
        }
    }

    /// <summary>The record of the entry, to be read with <see cref="LeafPage"/>.</summary>
    public byte* Record
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            RequireEntry();
            return SlottedPage.Record(_leaf, _index);
        }
    }

    /// <summary>Opens a tree. Until <see cref="Close"/>, the tree notifies this cursor of changes if <paramref name="canChange"/> is true.</summary>
    public void Open(TreeState tree, PageReader reader, bool canChange = true)
    {
        Close();
        _tree = tree;
        _reader = reader;
        _place = Place.Unset;
        _canChange = canChange;
    }

    /// <summary>Releases the tree. A second call does nothing.</summary>
    public void Close()
    {
        if (IsAttached)
            _tree?.Detach(this);
        _tree = null;
        _reader = null;
        _leaf = null;
        _place = Place.Unset;
        ForgetUnpacked();
    }

    /// <summary>Moves to the first entry whose key is not below this one; if there is none, returns false and moves past the end.</summary>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        Leave();
        return SeekNear(key, 1, out _);
    }

    /// <summary>Moves to this key; if the tree does not contain it, returns false and moves to the entry after it.</summary>
    public bool SeekExact(ReadOnlySpan<byte> key)
    {
        Leave();
        SeekNear(key, 1, out var exact);
        return exact;
    }

    /// <summary>Moves to the last entry whose key is not above this one; if there is none, returns false and moves before the start.</summary>
    public bool SeekForPrevious(ReadOnlySpan<byte> key)
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

    /// <summary>Returns the value of the entry if the cursor is on one and its value is stored in the leaf.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryGetInlineValue(out ReadOnlySpan<byte> value)
    {
        var leaf = _leaf;
        if (leaf != null)
        {
            var record = SlottedPage.Record(leaf, _index);
            if (LeafPage.Kind(record) == ValueKind.Inline)
            {
                value = new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));
                return true;
            }
        }

        value = default;
        return false;
    }

    /// <summary>Moves to the next entry if it is in the same leaf; otherwise does not move.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepNext()
    {
        if (_place != Place.Entry || _index + 1 >= _count)
            return false;
        _index++;
        return true;
    }

    /// <summary>Moves to the previous entry if it is in the same leaf; otherwise does not move.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepPrevious()
    {
        if (_place != Place.Entry || _index == 0)
            return false;
        _index--;
        return true;
    }

    /// <summary>
    /// Moves by a step of 1 or -1 if that leads to one of the <paramref name="count"/> entries from <paramref name="first"/> on, in the leaf of that
    /// visit. A visit from before the cursor was closed and reopened is a different one.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryStepWithin(long visit, int step, int first, int count)
    {
        var index = _index + step;
        if (_leaf == null || LeafVisits != visit || (uint)(index - first) >= (uint)count)
            return false;
        _index = index;
        return true;
    }

    /// <exception cref="InvalidOperationException">The cursor is on no entry, or its entry has been deleted.</exception>
    internal void RequireEntry()
    {
        if (_place != Place.Entry)
            RestoreOrThrow();
    }

    /// <summary>Moves to another entry in the same leaf.</summary>
    internal void GoTo(int index)
    {
        Debug.Assert(_leaf != null && (uint)index < (uint)_count, "The entry must be in the leaf that the cursor has.");
        _index = index;
    }

    /// <summary>Moves to the next entry, or to the first one if the cursor has not been positioned yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => TryStepNext() || MoveSlowly(1);

    /// <summary>Moves to the previous entry, or to the last one if the cursor has not been positioned yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => TryStepPrevious() || MoveSlowly(-1);

    /// <summary>
    /// Prepares the tree for the removal of the cursor's entry, and returns the key of the entry, which may already have been deleted. The key is
    /// valid until the next move, which leads to a neighbour of the entry.
    /// </summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry.</exception>
    internal ReadOnlySpan<byte> PrepareToDelete()
    {
        if (_place == Place.Entry)
            _tree!.PrepareForChange();
        else if (_place != Place.Saved)
            TreeErrors.ThrowNoEntry();

        return SavedKey();
    }

    /// <summary>Saves the key and drops the addresses of the pages, which are about to change.</summary>
    internal void SavePosition()
    {
        if (_place != Place.Entry)
            return;

        var key = Key;
        if (_savedKey.Length < key.Length)
            _savedKey = new byte[Math.Max(64, key.Length)];
        key.CopyTo(_savedKey);
        _savedLength = key.Length;
        _leaf = null;
        _place = Place.Saved;
    }

    // The seek that follows can fail halfway, and the branches on the path then no longer match the leaf.
    private void Leave()
    {
        _leaf = null;
        _place = Place.Lost;
    }

    /// <summary>Sets the position to an entry. Cannot fail.</summary>
    private void SetPlace(byte* leaf, int index)
    {
        _count = SlottedPage.Count(leaf);
        _index = index;
        _leaf = leaf;
        _place = Place.Entry;
        LeafVisits++;
        if (_canChange && !IsAttached)
            _tree!.Attach(this);
    }

    /// <summary>Moves to the key or, if the tree does not contain it, to the entry after it (step 1) or before it (step -1).</summary>
    private bool SeekNear(ReadOnlySpan<byte> key, int step, out bool exact)
    {
        exact = false;
        var leaf = Descend(key, out var index);
        if (leaf == null)
            return End(step);

        exact = index >= 0;
        var at = exact ? index : step > 0 ? ~index : ~index - 1;
        if ((uint)at >= (uint)SlottedPage.Count(leaf))
            return StepLeaf(step);
        SetPlace(leaf, at);
        return true;
    }

    private bool SeekEdge(bool first)
    {
        var tree = _tree!;
        if (tree.Root.IsNone)
            return End(first ? 1 : -1);

        tree.CheckDepth(_reader!);
        var leaf = _path.DescendToEdge(_reader!, tree.Root, tree.Depth, first);
        SetPlace(leaf, first ? 0 : SlottedPage.Count(leaf) - 1);
        return true;
    }

    /// <summary>Finds the leaf for the key, and the key in it; returns null if the tree is empty. Does not position the cursor yet.</summary>
    private byte* Descend(ReadOnlySpan<byte> key, out int index)
    {
        index = 0;
        var tree = _tree!;
        if (tree.Root.IsNone)
            return null;

        tree.CheckDepth(_reader!);
        fixed (byte* bytes = key)
        {
            var search = new SearchKey(bytes, key.Length);
            var leaf = _path.Descend(_reader!, tree.Root, tree.Depth, search);
            index = LeafPage.Search(leaf, search);
            return leaf;
        }
    }

    /// <summary>Moves to the first entry of the next leaf, or to the last entry of the previous one; past the end if there is none.</summary>
    private bool StepLeaf(int step)
    {
        var leaf = _path.Step(_reader!, step, _tree!.LeafPages);
        if (leaf == null)
            return End(step);

        SetPlace(leaf, step > 0 ? 0 : SlottedPage.Count(leaf) - 1);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveSlowly(int step)
    {
        switch (_place)
        {
            case Place.Entry:
                try
                {
                    return StepLeaf(step);
                }
                catch when (LosePages())
                {
                    throw;
                }

            case Place.Saved:
                return SeekNear(SavedKey(), step, out var exact) && (!exact || (step > 0 ? MoveNext() : MovePrevious()));
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

    /// <summary>
    /// Handles a failed step, after which the branches may no longer lead to the leaf. Always returns false, for use in an exception filter.
    /// </summary>
    private bool LosePages()
    {
        try
        {
            SavePosition();
        }
        catch (OutOfMemoryException)
        {
            Leave();
        }

        return false;
    }

    private bool End(int step)
    {
        _leaf = null;
        _place = step > 0 ? Place.AfterLast : Place.BeforeFirst;
        return false;
    }

    private ReadOnlySpan<byte> SavedKey()
    {
        if (_place != Place.Saved)
            TreeErrors.ThrowNoEntry();

        return _savedKey.AsSpan(0, _savedLength);
    }

    /// <summary>Moves from a saved key back to its entry; if the entry no longer exists, returns false and remains Saved.</summary>
    private bool TryRestore()
    {
        SeekNear(SavedKey(), 1, out var exact);
        if (!exact && !PlantedFault.ShowNeighbourOfDeleted)
        {
            _leaf = null;
            _place = Place.Saved;
        }

        return _leaf != null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> RestoredKey()
    {
        RestoreOrThrow();
        return LeafPage.Key(SlottedPage.Record(_leaf, _index));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RestoreOrThrow()
    {
        if (_place != Place.Saved || !TryRestore())
            TreeErrors.ThrowNoEntry();
    }
}
