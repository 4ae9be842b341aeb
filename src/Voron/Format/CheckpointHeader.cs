using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>A place in the journal: right behind a record.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalPosition
{
    public const int Size = 48;

    [FieldOffset(0)]
    public UInt128 Incarnation;

    /// <summary>The life of the file; 0 before any journal has been written.</summary>
    [FieldOffset(16)]
    public long Epoch;

    /// <summary>The offset in bytes where the next record may stand.</summary>
    [FieldOffset(24)]
    public long Offset;

    /// <summary>The sequence of the record that ends here; 0 when there was none yet.</summary>
    [FieldOffset(32)]
    public long Sequence;

    /// <summary>The checksum of that record.</summary>
    [FieldOffset(40)]
    public ulong Checksum;
}

/// <summary>What else a checkpoint says.</summary>
[Flags]
internal enum CheckpointFlags : uint
{
    None = 0,

    /// <summary>
    /// The environment was closed with everything in the data file, and <see cref="CheckpointHeader.ReplayStart"/> is the journal's
    /// very end. It holds until a journal file of a later life is there: nothing is written before one is.
    /// </summary>
    ClosedCleanly = 1,

    /// <summary>
    /// <see cref="CheckpointHeader.DataFileStamp"/> is what the data file is stamped with. Engines that know no stamps write headers
    /// without the flag.
    /// </summary>
    IsStamped = 2,
}

/// <summary>One of the two slots of the header file: what the data file holds, and where replay starts.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct CheckpointHeader
{
    /// <summary>Bytes of a slot; the rest of its 4 KiB block is zero.</summary>
    public const int Size = 320;

    public const int Slots = 2;

    /// <summary>"VoronHdr", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x7264486E6F726F56;

    [FieldOffset(0)]
    public ulong Magic;

    /// <summary>Over the block from byte 16 on.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public uint Version;

    [FieldOffset(20)]
    public uint PageSize;

    [FieldOffset(32)]
    public UInt128 EnvironmentId;

    /// <summary>Rises with each checkpoint; the higher one counts. Both slots are alike after a clean close.</summary>
    [FieldOffset(48)]
    public long CheckpointNumber;

    /// <summary>The state whose pages the data file holds.</summary>
    [FieldOffset(56)]
    public EnvironmentState State;

    /// <summary>Replay starts here: behind the record of the state's transaction, or behind what the rewrite file stands for.</summary>
    [FieldOffset(160)]
    public JournalPosition ReplayStart;

    /// <summary>The rewrite file's number, or 0.</summary>
    [FieldOffset(208)]
    public long JournalSnapshotNumber;

    /// <summary>The transaction that the rewrite file holds the unflushed pages of.</summary>
    [FieldOffset(216)]
    public long JournalSnapshotTransactionId;

    /// <summary>Length of the rewrite file in bytes.</summary>
    [FieldOffset(224)]
    public long JournalSnapshotLength;

    [FieldOffset(232)]
    public CheckpointFlags Flags;

    // 236: zero.

    /// <summary>The incarnation that the records of the rewrite file carry.</summary>
    [FieldOffset(240)]
    public UInt128 JournalSnapshotIncarnation;

    /// <summary>The stamp of the data file as of this checkpoint: what <see cref="Format.DataFileStamp"/> says, or its zero.</summary>
    [FieldOffset(256)]
    public ulong DataFileStamp;

    // 264 to 319: zero.
}
