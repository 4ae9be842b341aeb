using System.Globalization;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.FixedSize;
using Voron.Trees.Pages;

namespace Voron.Trees.Kinds;

/// <summary>The claims that the link to a tree page makes about the page.</summary>
/// <param name="Page">The number of the page.</param>
/// <param name="PageSize">The page size in bytes.</param>
/// <param name="IsLeaf">True for a leaf, false for a branch.</param>
/// <param name="ValueSize">The size of the values in the leaves of a fixed-size tree, in bytes.</param>
internal readonly record struct PageClaim(PageNumber Page, int PageSize, bool IsLeaf, int ValueSize);

/// <summary>
/// The form in which the branches and leaves of a tree store keys and children: slotted pages or array pages. For code that checks, finds, moves,
/// frees or describes the pages of all trees alike, and runs far less often than entries are read and written.
/// </summary>
/// <remarks>Keys are passed as bytes, which sort in key order. Array pages convert theirs (<see cref="ArrayKey"/>).</remarks>
internal abstract unsafe class PageForm
{
    /// <summary>The form of arbitrary keys and values.</summary>
    public static PageForm Slotted { get; } = new SlottedForm();

    /// <summary>The form of 64-bit keys with fixed-size values.</summary>
    public static PageForm Array { get; } = new ArrayForm();

    /// <summary>True if a leaf can refer to other pages, or to dictionaries.</summary>
    public abstract bool HasReferences { get; }

    /// <summary>Returns the form of the pages of a kind; null if trees have no such pages.</summary>
    public static PageForm? Find(PageKind kind) => kind switch
    {
        PageKind.Leaf or PageKind.Branch => Slotted,
        PageKind.Array => Array,
        _ => null,
    };

    /// <summary>Returns the number of entries in a leaf, or of children in a branch.</summary>
    public static int Count(byte* page) => ((PageHeader*)page)->EntryCount;

    /// <exception cref="CorruptionException">The page is not a branch of this form.</exception>
    public abstract byte* ReadBranch(PageReader reader, PageNumber page);

    /// <exception cref="CorruptionException">The page is not a leaf of this form, or its value size differs from that of the tree.</exception>
    public abstract byte* ReadLeaf(PageReader reader, TreeState state, PageNumber page);

    public abstract bool IsLeaf(byte* page);

    /// <summary>Returns the used part of the space for records of a page that may be damaged, from 0 to 1.</summary>
    public abstract double UsedFraction(byte* page, int pageSize);

    /// <summary>Returns the kind of the tree that a leaf shows, and the size of its values; 0 if each has its own.</summary>
    public abstract (TreeKind Kind, int ValueSize) KindOf(byte* leaf);

    /// <summary>Returns the value of an entry in the leaf itself; null if it is elsewhere, or no value.</summary>
    public abstract byte* Value(byte* leaf, int pageSize, int index, out int length);

    public abstract PageNumber Child(byte* branch, int pageSize, int index);

    public abstract void SetChild(in WritablePage branch, int pageSize, int index, PageNumber child);

    /// <summary>Removes all entries of a tree and frees all of its pages.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public abstract void DeleteAll(PageWriter writer, TreeState state);

    /// <summary>Removes the first children of a branch, but not all of its children.</summary>
    public abstract void RemoveFirst(in WritablePage branch, int pageSize, int count);

    /// <summary>Reports each fault of a page whose bytes cannot be trusted.</summary>
    /// <param name="page">The page.</param>
    /// <param name="claim">The claims of the link to it.</param>
    /// <param name="report">Receives the faults.</param>
    /// <returns>True if the page can be walked.</returns>
    public abstract bool Check(byte* page, in PageClaim claim, Action<string> report);

    /// <summary>Describes a key for messages.</summary>
    public abstract string Describe(ReadOnlySpan<byte> key);

    /// <summary>Returns the index of the leaf entry with this key; if there is none, the complement of its insertion index.</summary>
    public abstract int FindEntry(byte* leaf, int pageSize, ReadOnlySpan<byte> key);

    /// <summary>Returns the index of the child whose range contains a key.</summary>
    public abstract int FindChild(byte* branch, int pageSize, ReadOnlySpan<byte> key);

    /// <summary>Returns the key of an entry; in a branch, of any child but the first.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="index">The index of the entry.</param>
    /// <param name="buffer">At least <see cref="ArrayKey.Size"/> bytes. The returned key is either in this buffer or in the page.</param>
    public abstract ReadOnlySpan<byte> Key(byte* page, int pageSize, int index, Span<byte> buffer);

    /// <summary>Finds the path to the leaf that contains a key or would receive it. The tree must have a root.</summary>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public abstract void Descend(TreeState state, PageReader reader, ReadOnlySpan<byte> key, out TreePath path);

    private sealed class SlottedForm : PageForm
    {
        public override bool HasReferences => true;

        public override byte* ReadBranch(PageReader reader, PageNumber page) => TreePages.ReadBranch(reader, page);

        public override byte* ReadLeaf(PageReader reader, TreeState state, PageNumber page) => TreePages.ReadLeaf(reader, page);

        public override bool IsLeaf(byte* page) => ((PageHeader*)page)->Kind == PageKind.Leaf;

        public override double UsedFraction(byte* page, int pageSize) =>
            Math.Clamp(SlottedPage.UsedBytes(page, pageSize) / (double)(pageSize - PageHeader.Size), 0, 1);

        // A tree has sets of ids under all of its keys, or under none.
        public override (TreeKind Kind, int ValueSize) KindOf(byte* leaf)
        {
            var first = Count(leaf) > 0 ? SlottedPage.Record(leaf, 0) : null;
            var hasSets = first != null && LeafPage.Kind(first) == ValueKind.Extended && LeafPage.Packed(first) == null;
            return (hasSets ? TreeKind.IdSets : TreeKind.Plain, 0);
        }

        public override byte* Value(byte* leaf, int pageSize, int index, out int length)
        {
            var record = SlottedPage.Record(leaf, index);
            length = LeafPage.InlineLength(record);
            return LeafPage.Kind(record) == ValueKind.Inline ? LeafPage.InlineBytes(record) : null;
        }

        public override PageNumber Child(byte* branch, int pageSize, int index) => BranchPage.Child(branch, index);

        public override void SetChild(in WritablePage branch, int pageSize, int index, PageNumber child) => BranchPage.SetChild(branch, index, child);

        public override void DeleteAll(PageWriter writer, TreeState state) => RangeRemoval.DeleteAll(writer, state);

        public override void RemoveFirst(in WritablePage branch, int pageSize, int count)
        {
            SlottedPage.RemoveRange<BranchPage>(branch, pageSize, 0, count);
            BranchPage.DropFirstKey(branch, pageSize);
        }

        public override bool Check(byte* page, in PageClaim claim, Action<string> report) =>
            PageChecker.Check(page, claim.PageSize, claim.Page, claim.IsLeaf ? PageKind.Leaf : PageKind.Branch, report);

        public override string Describe(ReadOnlySpan<byte> key) => KeyText.Of(key);

        public override int FindEntry(byte* leaf, int pageSize, ReadOnlySpan<byte> key)
        {
            fixed (byte* bytes = key)
                return LeafPage.Search(leaf, new SearchKey(bytes, key.Length));
        }

        public override int FindChild(byte* branch, int pageSize, ReadOnlySpan<byte> key)
        {
            fixed (byte* bytes = key)
                return BranchPage.Search(branch, new SearchKey(bytes, key.Length));
        }

        public override ReadOnlySpan<byte> Key(byte* page, int pageSize, int index, Span<byte> buffer)
        {
            var record = SlottedPage.Record(page, index);
            return IsLeaf(page) ? LeafPage.Key(record) : BranchPage.Key(record);
        }

        public override void Descend(TreeState state, PageReader reader, ReadOnlySpan<byte> key, out TreePath path)
        {
            fixed (byte* bytes = key)
                TreeReader.Descend(state, reader, new SearchKey(bytes, key.Length), out path);
        }
    }

    private sealed class ArrayForm : PageForm
    {
        public override bool HasReferences => false;

        public override byte* ReadBranch(PageReader reader, PageNumber page) => FixedSizePages.ReadBranch(reader, page);

        public override byte* ReadLeaf(PageReader reader, TreeState state, PageNumber page) =>
            FixedSizePages.ReadLeaf(reader, page, state.Shape(reader.PageSize).Leaf);

        public override bool IsLeaf(byte* page) => ((PageHeader*)page)->Kind == PageKind.Array && !ArrayPage.IsBranch(page);

        public override double UsedFraction(byte* page, int pageSize) =>
            ArrayPage.Count(page) / (double)new ArrayLayout(pageSize, ArrayPage.ValueSize(page)).Capacity;

        public override (TreeKind Kind, int ValueSize) KindOf(byte* leaf) => (TreeKind.FixedSize, ArrayPage.ValueSize(leaf));

        public override byte* Value(byte* leaf, int pageSize, int index, out int length)
        {
            length = ArrayPage.ValueSize(leaf);
            return ArrayPage.Value(leaf, new ArrayLayout(pageSize, length), index);
        }

        public override PageNumber Child(byte* branch, int pageSize, int index) => ArrayPage.Child(branch, ArrayLayout.OfBranches(pageSize), index);

        public override void SetChild(in WritablePage branch, int pageSize, int index, PageNumber child) =>
            ArrayPage.SetChild(branch, ArrayLayout.OfBranches(pageSize), index, child);

        public override void DeleteAll(PageWriter writer, TreeState state) => FixedSizeRemoval.DeleteAll(writer, state);

        public override void RemoveFirst(in WritablePage branch, int pageSize, int count)
        {
            var layout = ArrayLayout.OfBranches(pageSize);
            ArrayPage.RemoveRange(branch, layout, 0, count);
            ArrayPage.SetFirstKey(branch, layout);
        }

        public override bool Check(byte* page, in PageClaim claim, Action<string> report)
        {
            var fault = FindFault(page, claim);
            if (fault != null)
                report($"page {claim.Page}: {fault}");
            return fault == null;
        }

        public override string Describe(ReadOnlySpan<byte> key) => ArrayKey.FromBytes(key).ToString(CultureInfo.InvariantCulture);

        public override int FindEntry(byte* leaf, int pageSize, ReadOnlySpan<byte> key) =>
            ArrayPage.Search(leaf, new ArrayLayout(pageSize, ArrayPage.ValueSize(leaf)), ArrayKey.FromBytes(key));

        public override int FindChild(byte* branch, int pageSize, ReadOnlySpan<byte> key) =>
            ArrayPage.FindChild(branch, ArrayLayout.OfBranches(pageSize), ArrayKey.FromBytes(key));

        public override ReadOnlySpan<byte> Key(byte* page, int pageSize, int index, Span<byte> buffer)
        {
            ArrayKey.Write(ArrayPage.Key(page, new ArrayLayout(pageSize, ArrayPage.ValueSize(page)), index), buffer);
            return buffer[..ArrayKey.Size];
        }

        public override void Descend(TreeState state, PageReader reader, ReadOnlySpan<byte> key, out TreePath path)
        {
            path = default;
            FixedSizePath.Descend(state, reader, ArrayKey.FromBytes(key), ref path);
        }

        private static string? FindFault(byte* page, in PageClaim claim)
        {
            if (((PageHeader*)page)->Kind != PageKind.Array)
                return $"is of kind {((PageHeader*)page)->Kind}, expected {PageKind.Array}";
            if (PageStructure.FindFault(page, 1, claim.Page.Value, claim.PageSize) is { } fault)
                return $"is malformed: {fault}";
            var valueSize = claim.IsLeaf ? claim.ValueSize : ArrayLayout.ChildSize;
            if (ArrayPage.IsBranch(page) == claim.IsLeaf || ArrayPage.ValueSize(page) != valueSize)
            {
                return $"is {(ArrayPage.IsBranch(page) ? "a branch" : "a leaf")} with values of {ArrayPage.ValueSize(page)} bytes, expected " +
                    $"{(claim.IsLeaf ? "a leaf" : "a branch")} with values of {valueSize} bytes";
            }

            var first = claim.IsLeaf ? ArrayLayout.FirstKey : ArrayPage.Key(page, ArrayLayout.OfBranches(claim.PageSize), 0);
            return first == ArrayLayout.FirstKey ? null : $"the key of its first child is {first}, not {ArrayLayout.FirstKey}";
        }
    }
}
