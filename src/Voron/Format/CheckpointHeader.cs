using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>Further properties of a checkpoint.</summary>
[Flags]
internal enum CheckpointFlags : uint
{
    None = 0,

    /// <summary>
    /// The environment was closed with everything in the data file, and <see cref="CheckpointHeader.ReplayStart"/> is the very end of the journal.
    /// The flag applies until a journal file of a later epoch exists, since nothing is written before that.
    /// </summary>
    ClosedCleanly = 1,

    /// <summary>
    /// <see cref="CheckpointHeader.DataFileStamp"/> is the stamp of the data file. Engines that do not know stamps write headers without
    /// this flag.
    /// </summary>
    IsStamped = 2,
}

/// <summary>One of the two slots of the header file: describes the content of the data file and the start of replay.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct CheckpointHeader
{
    /// <summary>The size of a slot in bytes; the rest of its 4 KiB block is zero.</summary>
    public const int Size = 384;

    /// <summary>
    /// The number of bytes by which the fields after the state begin earlier in version 1. There, the fields from <see cref="Lineage"/> on are zero.
    /// </summary>
    private const int ShiftFromVersion1 = EnvironmentState.Size - EnvironmentState.SizeInVersion1;

    private const int StateOffset = 56;

    // In version 1: the bytes up to the end of the state, and those of the fields after it.
    private const int HeadBytes = StateOffset + EnvironmentState.SizeInVersion1;
    private const int TailBytes = 264 - HeadBytes;

    public const int Slots = 2;

    /// <summary>"VoronHdr", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x7264486E6F726F56;

    [FieldOffset(0)]
    public ulong Magic;

    /// <summary>The checksum of the block from byte 16 on.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public uint Version;

    [FieldOffset(20)]
    public uint PageSize;

    [FieldOffset(24)]
    public FormatFeatures Features;

    // 28: zero.

    [FieldOffset(32)]
    public RandomId EnvironmentId;

    /// <summary>
    /// Increases with each checkpoint; the slot with the higher number counts. Both slots are identical after a clean close.
    /// </summary>
    [FieldOffset(48)]
    public long CheckpointNumber;

    /// <summary>The state whose pages the data file holds.</summary>
    [FieldOffset(56)]
    public EnvironmentState State;

    /// <summary>
    /// The position where replay starts: after the record of the state's transaction, or after the records that the journal snapshot
    /// replaces.
    /// </summary>
    [FieldOffset(184)]
    public JournalPosition ReplayStart;

    /// <summary>The number of the journal snapshot, or 0.</summary>
    [FieldOffset(232)]
    public long JournalSnapshotNumber;

    /// <summary>The transaction as of which the journal snapshot holds the unflushed pages.</summary>
    [FieldOffset(240)]
    public long JournalSnapshotTransactionId;

    /// <summary>The length of the journal snapshot in bytes.</summary>
    [FieldOffset(248)]
    public long JournalSnapshotLength;

    [FieldOffset(256)]
    public CheckpointFlags Flags;

    // 260: zero.

    /// <summary>The incarnation in the records of the journal snapshot.</summary>
    [FieldOffset(264)]
    public RandomId JournalSnapshotIncarnation;

    /// <summary>
    /// The stamp of the data file as of this checkpoint, a value of <see cref="Format.DataFileStamp"/>, or zero if there is none.
    /// </summary>
    [FieldOffset(280)]
    public ulong DataFileStamp;

    /// <summary>The history that the environment belongs to; zero in version 1.</summary>
    [FieldOffset(288)]
    public Lineage Lineage;

    /// <summary>The checksum of the last entry of the change log as of this checkpoint; 0 if there is no log.</summary>
    [FieldOffset(328)]
    public ulong ChangeLogEntry;

    // 336 to 383: zero.

    /// <summary>Stores the header at the start of a zeroed block, in the layout of its version.</summary>
    public readonly unsafe void Store(byte* block)
    {
        var header = this;
        if (Version != JournalFormat.Version1)
        {
            *(CheckpointHeader*)block = header;
            return;
        }

        Buffer.MemoryCopy(&header, block, HeadBytes, HeadBytes);
        Buffer.MemoryCopy((byte*)&header + HeadBytes + ShiftFromVersion1, block + HeadBytes, TailBytes, TailBytes);
    }

    /// <summary>Returns the header at the start of a block. Its version must be a known one.</summary>
    public static unsafe CheckpointHeader Load(byte* block)
    {
        var header = *(CheckpointHeader*)block;
        if (header.Version != JournalFormat.Version1)
            return header;

        var target = (byte*)&header;
        new Span<byte>(target + HeadBytes, Size - HeadBytes).Clear();
        Buffer.MemoryCopy(block + HeadBytes, target + HeadBytes + ShiftFromVersion1, TailBytes, TailBytes);
        return header;
    }
}
