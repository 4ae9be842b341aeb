using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The content of an entry in the change log.</summary>
internal enum ChangeLogEntryKind : uint
{
    /// <summary>The log begins. The transactions up to <see cref="ChangeLogEntry.To"/> are not in it.</summary>
    Start = 1,

    /// <summary>
    /// One flush, or several in a row: all pages changed by the transactions after <see cref="ChangeLogEntry.From"/>, up
    /// to <see cref="ChangeLogEntry.To"/>.
    /// </summary>
    Flush = 2,

    /// <summary>Pages of values that transactions after the checkpoint wrote directly, and that no journal record names any longer.</summary>
    Direct = 3,

    /// <summary>Backups that later ones can build on.</summary>
    Points = 4,
}

/// <summary>
/// The header of an entry in the change log. The pages or points of the entry follow, and zeros fill the last block. Entries begin at multiples
/// of <see cref="JournalFormat.Block"/>.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct ChangeLogEntry
{
    public const int Size = 112;

    /// <summary>"VoronChg", read as a little-endian number.</summary>
    public const ulong MarkerValue = 0x6768436E6F726F56;

    /// <summary>The offset of the first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>The maximum payload length that an entry may claim, which bounds the memory that a reader allocates.</summary>
    public const long MaxPayloadBytes = 1L << 30;

    [FieldOffset(0)]
    public ulong Marker;

    /// <summary>
    /// The checksum of header and content, never 0. Because it covers <see cref="Nonce"/>, it identifies the entry, and the header file
    /// names entries by it.
    /// </summary>
    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public ChangeLogEntryKind Kind;

    // 20: zero.

    /// <summary>The lineage that wrote the entry.</summary>
    [FieldOffset(24)]
    public RandomId Lineage;

    /// <summary>A random number.</summary>
    [FieldOffset(40)]
    public ulong Nonce;

    /// <summary>One more than that of the previous entry.</summary>
    [FieldOffset(48)]
    public long Sequence;

    /// <summary>The transaction before the first one whose changes the entry contains.</summary>
    [FieldOffset(56)]
    public long From;

    /// <summary>The last transaction whose changes the entry contains.</summary>
    [FieldOffset(64)]
    public long To;

    /// <summary>The transaction of the checkpoint as of which the entry is valid.</summary>
    [FieldOffset(72)]
    public long Checkpoint;

    /// <summary>The number of extents, or of points.</summary>
    [FieldOffset(80)]
    public long Count;

    /// <summary>The number of bytes that follow, without the zeros.</summary>
    [FieldOffset(88)]
    public long PayloadBytes;

    /// <summary>The <see cref="Identity"/> of the previous entry; 0 in the first entry of a new log.</summary>
    [FieldOffset(96)]
    public ulong Previous;

    /// <summary>If the entry replaces earlier ones, the checksum of the last of these; otherwise 0.</summary>
    [FieldOffset(104)]
    public ulong Replaces;

    /// <summary>The value by which the next entry refers to this one.</summary>
    public readonly ulong Identity => Replaces != 0 ? Replaces : Checksum;
}

/// <summary>A backup that later ones can build on.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupPoint
{
    public const int Size = 24;

    /// <summary>The id of the backup.</summary>
    [FieldOffset(0)]
    public RandomId BackupId;

    /// <summary>The transaction whose state the backup contains.</summary>
    [FieldOffset(16)]
    public long TransactionId;
}
