using System.Diagnostics;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>
/// A tree opened by one transaction: the fields of its header, which change with the tree, and its open cursors. Designed for pooling:
/// <see cref="Load"/> resets it.
/// </summary>
internal sealed class TreeState
{
    private readonly ITreeChangeListener? _owner;

    // Only cursors that are on an entry: the others hold no page.
    private TreeCursor? _firstCursor;

    // Preserved unchanged for the header.
    private byte _otherFlags;

    private ArrayShape _shape;

    /// <param name="keyHeads">The key heads of the pages over which the tree is open; null to search in the pages alone.</param>
    /// <param name="owner">Notified before each change; null if the tree never changes, or if no change is ever rolled back.</param>
    public TreeState(TransactionKeyHeads? keyHeads = null, ITreeChangeListener? owner = null)
    {
        KeyHeads = keyHeads;
        _owner = owner;
    }

    public TreeState(in TreeHeader header, TransactionKeyHeads? keyHeads = null)
    {
        KeyHeads = keyHeads;
        Load(header);
    }

    /// <summary>
    /// The key heads of the pages over which the tree is open; null to search in the pages alone. They never change, because a pooled state always
    /// belongs to the same transaction body, and that body to the same source of pages.
    /// </summary>
    public TransactionKeyHeads? KeyHeads { get; }

    /// <summary>The root page; none when the tree is empty.</summary>
    public PageNumber Root { get; internal set; }

    public long EntryCount { get; internal set; }

    public long LeafPages { get; internal set; }

    public long BranchPages { get; internal set; }

    public long OverflowPages { get; internal set; }

    public int Depth { get; internal set; }

    /// <summary>The kind of the tree, which never changes.</summary>
    public TreeKind Kind { get; private set; }

    /// <inheritdoc cref="TreeHeader.NestedPages"/>
    public long NestedPages { get; internal set; }

    /// <inheritdoc cref="TreeHeader.NestedValues"/>
    public long NestedValues { get; internal set; }

    public uint TreeId { get; set; }

    /// <summary>True if changes to the tree are recorded in a feed.</summary>
    public bool IsRecorded { get; set; }

    /// <summary>True if new values of the tree are compressed.</summary>
    public bool IsCompressed { get; set; }

    /// <summary>Compresses new values of the tree; null where the tree is not written.</summary>
    public ValuePacker? Packer { get; init; }

    /// <summary>
    /// True if entries have pages of their own, or counts that the header sums up: leaves must then be read before they are freed.
    /// </summary>
    public bool HasMoreThanLeaves => OverflowPages != 0 || Kind == TreeKind.IdSets;

    /// <summary>
    /// True if the header differs from the one loaded or last saved. Set here and cleared by the code that saves the header.
    /// </summary>
    public bool Changed { get; set; }

    /// <summary>
    /// A counter that increases with each change and each rollback: an address into the tree's pages is valid while it remains the same.
    /// </summary>
    public long ChangeCount { get; private set; }

    /// <summary>
    /// The last leaf while keys are being appended to it; otherwise none. Trusted only until the tree is split, merged or loaded.
    /// </summary>
    internal PageNumber RightmostLeaf { get; set; }

    /// <summary>Loads a header of this or another tree. Open cursors restore their positions by key.</summary>
    public void Load(in TreeHeader header)
    {
        ChangeCount++;
        ReleaseCursors();
        Root = new PageNumber(header.RootPage);
        EntryCount = header.EntryCount;
        LeafPages = header.LeafPages;
        BranchPages = header.BranchPages;
        OverflowPages = header.OverflowPages;
        Depth = header.Depth;
        Kind = header.Kind;
        IsRecorded = (header.Flags & TreeHeader.RecordedFlag) != 0;
        IsCompressed = (header.Flags & TreeHeader.CompressedFlag) != 0;
        _otherFlags = (byte)(header.Flags & ~(TreeHeader.RecordedFlag | TreeHeader.CompressedFlag));
        TreeId = header.TreeId;
        NestedPages = header.NestedPages;
        NestedValues = header.NestedValues;
        if (_shape.Leaf.ValueSize != NestedValues)
            _shape = default;
        Changed = false;
        RightmostLeaf = PageNumber.None;
    }

    /// <summary>The layouts of the pages of an array. The pages of a tree always have the same size.</summary>
    public ref readonly ArrayShape Shape(int pageSize)
    {
        if (_shape.Leaf.Capacity == 0)
            _shape = new ArrayShape(pageSize, (int)NestedValues);
        return ref _shape;
    }

    /// <summary>Records that a leaf or a branch has been freed.</summary>
    public void CountFreed(bool isLeaf)
    {
        if (isLeaf)
            LeafPages--;
        else
            BranchPages--;
        RightmostLeaf = PageNumber.None;
        Changed = true;
    }

    /// <summary>Records that the tree no longer has any pages.</summary>
    public void SetEmpty()
    {
        Root = PageNumber.None;
        Depth = 0;
        EntryCount = 0;
        LeafPages = 0;
        BranchPages = 0;
        OverflowPages = 0;
        NestedPages = 0;

        // A fixed-size tree keeps its value size.
        NestedValues = Kind switch
        {
            TreeKind.Plain or TreeKind.IdSets or TreeKind.ValueSets => 0,
            TreeKind.FixedSize => NestedValues,
        };
    }

    /// <exception cref="CorruptionException">The tree claims zero levels, or more than a tree can have.</exception>
    public void CheckDepth(PageReader reader)
    {
        if ((uint)(Depth - 1) >= TreeLimits.MaxDepth)
            TreeErrors.ThrowDepth(reader, Depth);
    }

    public TreeHeader ToHeader() => new()
    {
        RootPage = Root.Value,
        EntryCount = EntryCount,
        LeafPages = LeafPages,
        BranchPages = BranchPages,
        OverflowPages = OverflowPages,
        Depth = (ushort)Depth,
        Kind = Kind,
        Flags = (byte)(_otherFlags | (IsRecorded ? TreeHeader.RecordedFlag : 0) | (IsCompressed ? TreeHeader.CompressedFlag : 0)),
        TreeId = TreeId,
        NestedPages = NestedPages,
        NestedValues = NestedValues,
    };

    /// <summary>
    /// Prepares cursors and owner for a change. Must be called before each change, while the pages still match the positions of the cursors. Cursors
    /// save their keys and release their pages, and the owner keeps the header if a savepoint needs it.
    /// </summary>
    public void PrepareForChange()
    {
        ChangeCount++;
        if (_firstCursor != null)
            ReleaseCursors();
        _owner?.BeforeChange();
    }

    /// <summary>
    /// Makes the cursors save their keys and release their pages. Must be called before a rollback to a savepoint, which is followed by
    /// <see cref="Load"/>.
    /// </summary>
    /// <remarks>Each cursor leaves the list until it is on an entry again, so an unused cursor costs nothing.</remarks>
    public void ReleaseCursors()
    {
        while (_firstCursor is { } cursor)
        {
            cursor.SavePosition();
            Detach(cursor);
        }
    }

    internal void Attach(TreeCursor cursor)
    {
        Debug.Assert(!cursor.IsAttached && cursor.State == this, "A cursor must be in the list of its own tree, and only once.");
        cursor.NextOfTree = _firstCursor;
        cursor.PreviousOfTree = null;
        if (_firstCursor != null)
            _firstCursor.PreviousOfTree = cursor;
        _firstCursor = cursor;
        cursor.IsAttached = true;
    }

    internal void Detach(TreeCursor cursor)
    {
        Debug.Assert(cursor.IsAttached, "Only a cursor in the list can leave it.");
        if (cursor.PreviousOfTree != null)
            cursor.PreviousOfTree.NextOfTree = cursor.NextOfTree;
        else
            _firstCursor = cursor.NextOfTree;
        if (cursor.NextOfTree != null)
            cursor.NextOfTree.PreviousOfTree = cursor.PreviousOfTree;
        cursor.NextOfTree = null;
        cursor.PreviousOfTree = null;
        cursor.IsAttached = false;
    }
}
