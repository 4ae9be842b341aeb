using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>
/// The state that a transaction leaves in addition to its pages: carried in its journal record and in the checkpoint header.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct EnvironmentState
{
    public const int Size = 128;

    /// <summary>The size in version 1 of the format, which ends after <see cref="History"/>.</summary>
    public const int SizeInVersion1 = 104;

    /// <summary>The transaction whose state this is; 0 for an environment that has just been created.</summary>
    [FieldOffset(0)]
    public long TransactionId;

    /// <summary>
    /// The number of pages, used or free, below the high-water mark: numbers 0 to PageCount - 1 have a bit in a section map.
    /// </summary>
    [FieldOffset(8)]
    public long PageCount;

    /// <summary>The id of the next new tree.</summary>
    [FieldOffset(16)]
    public uint NextTreeId;

    // 20 to 23: zero.

    /// <summary>The tree of trees: name to <see cref="TreeHeader"/>.</summary>
    [FieldOffset(24)]
    public TreeHeader Catalog;

    /// <summary>The primary that made the transaction; 0 without replication. Zero so far.</summary>
    [FieldOffset(88)]
    public long Epoch;

    /// <summary>A running checksum over all transactions; 0 where it is not recorded. Zero so far.</summary>
    [FieldOffset(96)]
    public ulong History;

    /// <summary>
    /// The time of the commit, in units of 100 ns since 0001-01-01 UTC, taken by the writer when it submits the transaction. It never falls
    /// from one transaction to the next. 0 where it is not recorded.
    /// </summary>
    [FieldOffset(104)]
    public long CommitTime;

    // 112 to 127: zero.
}
