namespace Voron.Paging;

/// <summary>The kinds of version that a node can represent.</summary>
[Flags]
internal enum VersionFlags : byte
{
    None = 0,

    /// <summary>The page is free; there is no frame.</summary>
    Tombstone = 1,

    /// <summary>The page is inside an extent; the extent's first page holds the frame.</summary>
    InsideExtent = 2,

    /// <summary>The first page of an extent: the frame holds all pages of the extent.</summary>
    Extent = 4,

    /// <summary>The page was allocated by this transaction, so it has no earlier version that counts.</summary>
    New = 8,

    /// <summary>With <see cref="New"/>: the page had no version when it was allocated, so it is free in the last checkpoint too.</summary>
    Untouched = 16,

    /// <summary>The transaction has written this version to the data file, and its record contains only the page's checksum.</summary>
    InDataFile = 32,

    /// <summary>Any flag that makes a version self-contained: the transaction's record of the page needs no base page.</summary>
    SelfContained = Tombstone | InsideExtent | Extent | New,
}
