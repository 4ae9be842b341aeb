using System.Runtime.InteropServices;

namespace Voron.Paging;

/// <summary>What kind of version a node stands for.</summary>
[Flags]
internal enum VersionFlags : byte
{
    None = 0,

    /// <summary>The page is free; there is no frame.</summary>
    Tombstone = 1,

    /// <summary>The page is inside a run; the run's first page has the frame.</summary>
    InsideExtent = 2,

    /// <summary>The first page of a run: the frame holds all of its pages.</summary>
    Extent = 4,

    /// <summary>The page was allocated by this transaction: it has no earlier version that counts.</summary>
    New = 8,

    /// <summary>Any of these: what the transaction's record says of the page needs no base.</summary>
    SelfContained = Tombstone | InsideExtent | Extent | New,
}

/// <summary>One version of one page. A cache line each, in memory that is never given back while the environment is open.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct VersionNode
{
    public const int Size = 64;

    /// <summary>What of a free node means nothing: from <see cref="Flags"/> to before <see cref="NextFree"/>.</summary>
    public const int PooledBytes = 52;

    /// <summary>Raised when the node is given back: a link with another generation points to nothing.</summary>
    [FieldOffset(0)]
    public uint Generation;

    [FieldOffset(4)]
    public VersionFlags Flags;

    /// <summary>Pages that the frame holds: 1, more for a run, 0 without a frame.</summary>
    [FieldOffset(8)]
    public int Pages;

    /// <summary>The stamp of the newest savepoint when the version was made; within a later one it is copied before it changes.</summary>
    [FieldOffset(12)]
    public int SavepointStamp;

    [FieldOffset(16)]
    public long TransactionId;

    [FieldOffset(24)]
    public byte* Frame;

    /// <summary>The link to the next older version, or 0.</summary>
    [FieldOffset(32)]
    public ulong Older;

    /// <summary>Which 64ths of the page may differ from the newest version of a lower transaction.</summary>
    [FieldOffset(40)]
    public ulong DirtyLines;

    [FieldOffset(48)]
    public long Page;

    /// <summary>
    /// The newest transaction up to this version whose record makes the page without a base: anew, as a run, or free. 0 when
    /// there is none since the page was last at home in the data file.
    /// </summary>
    [FieldOffset(56)]
    public long SelfContainedSinceId;

    /// <summary>In the free list, where it takes the place of <see cref="SelfContainedSinceId"/>: the index of the next free node.</summary>
    [FieldOffset(56)]
    public uint NextFree;
}

/// <summary>A version as a walker found it.</summary>
internal readonly unsafe struct PageVersion
{
    public readonly long TransactionId;
    public readonly byte* Frame;
    public readonly int Pages;
    public readonly VersionFlags Flags;

    /// <summary>As <see cref="VersionNode.SelfContainedSinceId"/>.</summary>
    public readonly long SelfContainedSinceId;

    public PageVersion(long transactionId, byte* frame, int pages, VersionFlags flags, long selfContainedSinceId)
    {
        TransactionId = transactionId;
        Frame = frame;
        Pages = pages;
        Flags = flags;
        SelfContainedSinceId = selfContainedSinceId;
    }
}
