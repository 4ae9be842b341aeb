using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>What an entry of the change log says.</summary>
internal enum ChangeLogEntryKind : uint
{
    /// <summary>The log begins. The transactions up to <see cref="ChangeLogEntry.To"/> are not in it.</summary>
    Start = 1,

    /// <summary>A flush, or several in a row: all pages that the transactions from there to there have changed.</summary>
    Flush = 2,

    /// <summary>
    /// Pages of values that transactions after the checkpoint have written directly, and that no record in the journal names any more.
    /// </summary>
    Direct = 3,

    /// <summary>Backups that later ones can build on.</summary>
    Points = 4,
}

/// <summary>
/// The header of an entry in the change log. Its pages or points follow; zeros fill the last block. Entries begin at multiples of
/// <see cref="JournalFormat.Block"/>.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct ChangeLogEntry
{
    public const int Size = 112;

    /// <summary>"VoronChg", read as a little-endian number.</summary>
    public const ulong MarkerValue = 0x6768436E6F726F56;

    /// <summary>The offset of the first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>The most bytes that an entry may say that it has, which bounds what a reader allocates.</summary>
    public const long MaxPayloadBytes = 1L << 30;

    [FieldOffset(0)]
    public ulong Marker;

    /// <summary>
    /// The checksum of header and content, never 0. It identifies the entry, since <see cref="Nonce"/> is part of it: the header file names an entry
    /// by it.
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

    /// <summary>One more than that of the entry before.</summary>
    [FieldOffset(48)]
    public long Sequence;

    /// <summary>The transaction before the first whose changes the entry has.</summary>
    [FieldOffset(56)]
    public long From;

    /// <summary>The last transaction whose changes the entry has.</summary>
    [FieldOffset(64)]
    public long To;

    /// <summary>The transaction of the checkpoint as of which the entry counts.</summary>
    [FieldOffset(72)]
    public long Checkpoint;

    /// <summary>The number of extents, or of points.</summary>
    [FieldOffset(80)]
    public long Count;

    /// <summary>The number of bytes that follow, without the zeros.</summary>
    [FieldOffset(88)]
    public long PayloadBytes;

    /// <summary>The checksum of the entry before, or what that one has in <see cref="Replaces"/>; 0 for the first of a new log.</summary>
    [FieldOffset(96)]
    public ulong Previous;

    /// <summary>If the entry takes the place of earlier ones, the checksum of the last of these; otherwise 0.</summary>
    [FieldOffset(104)]
    public ulong Replaces;

    /// <summary>By what the entry behind it knows it.</summary>
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

    /// <summary>The transaction whose state it has.</summary>
    [FieldOffset(16)]
    public long TransactionId;
}
