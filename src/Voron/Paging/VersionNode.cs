using System.Runtime.InteropServices;

namespace Voron.Paging;

/// <summary>One version of one page. Each takes one cache line, in memory that is never released while the environment is open.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct VersionNode
{
    public const int Size = 64;

    /// <summary>
    /// The number of bytes that have no meaning in a free node: from <see cref="Flags"/> up to, but not including, <see cref="NextFree"/>.
    /// </summary>
    public const int PooledBytes = 52;

    /// <summary>The generation, raised when the node is freed: a link with another generation points to nothing.</summary>
    [FieldOffset(0)]
    public uint Generation;

    [FieldOffset(4)]
    public VersionFlags Flags;

    /// <summary>The number of pages that the frame holds: 1, more for an extent, 0 without a frame.</summary>
    [FieldOffset(8)]
    public int Pages;

    /// <summary>
    /// The stamp of the newest savepoint when the version was made. Within a later savepoint, the version is copied before it changes.
    /// </summary>
    [FieldOffset(12)]
    public int SavepointStamp;

    [FieldOffset(16)]
    public long TransactionId;

    [FieldOffset(24)]
    public byte* Frame;

    /// <summary>The link to the next older version, or 0.</summary>
    [FieldOffset(32)]
    public ulong Older;

    /// <summary>A bit for each 64th of the page that may differ from the newest version of a lower transaction.</summary>
    [FieldOffset(40)]
    public ulong DirtyLines;

    [FieldOffset(48)]
    public long Page;

    /// <summary>
    /// The newest transaction up to this version whose record makes the page self-contained: as a new page, as an extent, or as free.
    /// 0 when there is none since the page was last in the data file.
    /// </summary>
    [FieldOffset(56)]
    public long SelfContainedSinceId;

    /// <summary>The index of the next free node. Replaces <see cref="SelfContainedSinceId"/> in the free list.</summary>
    [FieldOffset(56)]
    public uint NextFree;
}
