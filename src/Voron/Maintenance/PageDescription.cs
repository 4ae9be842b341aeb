using Voron.Format;

namespace Voron.Maintenance;

/// <summary>Where the newest bytes of a page are stored.</summary>
internal enum PagePlace
{
    /// <summary>In the data file.</summary>
    DataFile,

    /// <summary>In the journal, and in memory: no flush has written them to the data file.</summary>
    Journal,

    /// <summary>Nowhere: an unflushed transaction has freed the page.</summary>
    Nowhere,
}

/// <summary>The content of a page.</summary>
internal enum PageContent
{
    /// <summary>Not known: the page is damaged, or has no owner that could be found.</summary>
    Unknown,
    Free,
    Leaf,
    Branch,

    /// <summary>Ids of a set that is too large for its leaf.</summary>
    Ids,

    /// <summary>The first page of an overflow extent.</summary>
    Overflow,

    /// <summary>A later page of an overflow extent.</summary>
    InsideOverflow,

    /// <summary>A page of a large value, without a header.</summary>
    Value,

    /// <summary>Page 0, which names the directory pages of the section maps.</summary>
    MapRoot,

    /// <summary>Names section maps.</summary>
    MapDirectory,

    /// <summary>The bitmaps of a group of sections.</summary>
    SectionMap,
}

/// <summary>Whether the trees are walked to find the owner of a page.</summary>
internal enum OwnerSearchMode
{
    /// <summary>If the page is used, and its bytes do not identify it.</summary>
    WhenUnclear,
    Always,
}

/// <summary>The description of a page as of one snapshot. The numbers of a damaged page may be wrong.</summary>
internal sealed record PageDescription
{
    public required long Page { get; init; }

    /// <summary>The transaction whose state was examined.</summary>
    public required long StateTransactionId { get; init; }

    public required PagePlace Place { get; init; }

    /// <summary>The transaction of the version in the journal; 0 if the page is in the data file.</summary>
    public long VersionTransactionId { get; init; }

    /// <summary>Whether the section map says that the page is used; null if the map cannot be read.</summary>
    public bool? IsUsed { get; init; }

    /// <summary>Why the map cannot be read; null if it can.</summary>
    public string? MapFault { get; init; }

    public required long Section { get; init; }

    /// <summary>The number of pages in the section that are used.</summary>
    public int? SectionUsedPages { get; init; }

    public PageContent Content { get; init; }

    /// <summary>The first bytes as a header; null if there are no bytes, or if the page is one without a header.</summary>
    public PageHeader? Header { get; init; }

    /// <summary>The computed checksum of the bytes; null if they have no individual checksum, or are not in the data file.</summary>
    public ulong? ComputedChecksum { get; init; }

    /// <summary>A sentence that describes the fault of the page; null if there is none.</summary>
    public string? Fault { get; init; }

    /// <summary>The place of the page in its tree; null if it is not part of one, or is not found there.</summary>
    public TreePlace? Tree { get; init; }

    /// <summary>Page of an id set: its place in the set; null if it was not searched for, or not found.</summary>
    public SetPlace? Set { get; init; }

    /// <summary>Page of an id set: the pages of its tree that the search for its key could not read; null if there was no search.</summary>
    public UnreadPages? Unread { get; init; }

    /// <summary>The owner of the page; null if it was not searched for, or not found.</summary>
    public PageOwner? Owner { get; init; }

    /// <summary>Whether an owner was searched for.</summary>
    public bool IsOwnerSearched { get; init; }

    /// <summary>The first page of the extent that the page belongs to, and the number of its pages.</summary>
    public (long First, long Pages)? Extent { get; init; }

    /// <summary>Leaf and branch: the entries, as far as they can be read.</summary>
    public IReadOnlyList<PageEntryDescription> Entries { get; init; } = [];

    /// <summary>Id page: the blocks, as far as they can be read.</summary>
    public IReadOnlyList<IdBlockDescription> Blocks { get; init; } = [];

    /// <summary>Root and directory of the section maps: the pages that are named, by their index. Section map: used pages, by section.</summary>
    public IReadOnlyList<(long Index, long Number)> Numbers { get; init; } = [];

    /// <summary>The bytes of the page; none if there are none, or if they cannot be read.</summary>
    public byte[] Bytes { get; init; } = [];
}

/// <summary>The pages of a tree that a search could not read, and skipped.</summary>
/// <param name="Leaves">The number of leaves.</param>
/// <param name="Branches">The number of branches: nothing below them was searched.</param>
internal readonly record struct UnreadPages(long Leaves, long Branches);

/// <summary>An entry of a leaf or a branch.</summary>
/// <param name="Index">Its position in key order.</param>
/// <param name="Offset">The offset of its record in the page.</param>
internal sealed record PageEntryDescription(int Index, int Offset)
{
    /// <summary>The key; empty for the first entry of a branch, which has none.</summary>
    public byte[] Key { get; init; } = [];

    /// <summary>Leaf: where the value is.</summary>
    public ValueKind? Kind { get; init; }

    /// <summary>Leaf of a tree of id sets: the form in which the set is stored.</summary>
    public ExtendedForm? Form { get; init; }

    /// <summary>Leaf of a tree of id sets: the number of ids of the set.</summary>
    public long? Ids { get; init; }

    /// <summary>Leaf: the length of the value in bytes.</summary>
    public long? ValueBytes { get; init; }

    /// <summary>The child of a branch, the first page of a value outside the leaf, or the root of a set of ids.</summary>
    public long? Page { get; init; }

    /// <summary>The bytes that the record takes in the page, without its slot.</summary>
    public int RecordBytes { get; init; }

    /// <summary>The fault of the entry; null if there is none.</summary>
    public string? Fault { get; init; }
}

/// <summary>A block of an id page.</summary>
/// <param name="Index">Its position in id order.</param>
/// <param name="Offset">Its offset in the page; 0 if it needs no bytes.</param>
internal sealed record IdBlockDescription(int Index, int Offset)
{
    public required long FirstId { get; init; }

    /// <summary>The last id; null if the block cannot be unpacked.</summary>
    public long? LastId { get; init; }

    /// <summary>The number of ids.</summary>
    public required int Ids { get; init; }

    /// <summary>The bits of a gap between two ids.</summary>
    public required int GapWidth { get; init; }

    /// <summary>The bits of a payload.</summary>
    public required int PayloadWidth { get; init; }

    public required int HighestPayload { get; init; }

    /// <summary>True for the last block of a set that grows at its end.</summary>
    public required bool IsTail { get; init; }

    /// <summary>The bytes that the block may take, without its entry in the directory.</summary>
    public required int CapacityBytes { get; init; }

    /// <summary>The fault of the block; null if there is none.</summary>
    public string? Fault { get; init; }
}

/// <summary>The place of a page in its tree.</summary>
/// <param name="Name">The name of the tree; null for the catalog.</param>
/// <param name="Depth">The number of levels of the tree.</param>
/// <param name="Level">
/// The level of the page, 0 for leaves; -1 if the path to its keys does not contain the page, or if the page belongs to an id set.
/// </param>
/// <param name="Parent">The page above; 0 if the page is the root, or is not reached.</param>
internal sealed record TreePlace(string? Name, int Depth, int Level, long Parent);

/// <summary>The place of a page in a set of ids.</summary>
/// <param name="Key">The key of the set.</param>
/// <param name="Ids">The number of ids of the set.</param>
/// <param name="Depth">The number of levels of the set.</param>
/// <param name="Level">The level of the page, 0 for id pages; -1 if the path to its ids does not contain the page.</param>
/// <param name="Parent">The page above; 0 if the page is the root of the set, or is not reached.</param>
internal sealed record SetPlace(byte[] Key, long Ids, int Depth, int Level, long Parent);

/// <summary>The owner of a page, according to the trees and the section maps.</summary>
/// <param name="Tree">The tree; null for the catalog.</param>
/// <param name="First">The first page of the owned range that contains the page.</param>
/// <param name="Pages">The number of pages in the range.</param>
/// <param name="IsValue">True if the range is a large value.</param>
internal sealed record PageOwner(string? Tree, long First, long Pages, bool IsValue);
