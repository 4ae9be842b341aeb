using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The content of a record.</summary>
internal enum RecordKind : byte
{
    /// <summary>The changed pages of one transaction.</summary>
    Transaction = 1,

    /// <summary>The pages that the flusher is about to overwrite, with their checksums.</summary>
    FlushList = 2,

    /// <summary>
    /// Full-page images, as of the flush id, of pages that the flusher is about to overwrite: page entries of the kind
    /// <see cref="PageEntryKind.Zeros"/>. One flush may have several such records; each counts independently.
    /// </summary>
    FlushImages = 3,

    /// <summary>Proves that every record before it is durable; contains nothing else.</summary>
    DurabilityMarker = 4,

    /// <summary>In a journal snapshot: pages as of one transaction, each self-contained.</summary>
    JournalSnapshot = 5,
}

/// <summary>The storage format of a record's payload.</summary>
[Flags]
internal enum RecordFlags : byte
{
    None = 0,

    /// <summary>The payload is one LZ4 block.</summary>
    Compressed = 1,

    /// <summary>
    /// The pages of the kind <see cref="PageEntryKind.Direct"/> were not known to be durable when the record was written. The record counts only if
    /// these pages match their checksums, or if a later record says that it is durable.
    /// </summary>
    ExtentsUnsynced = 2,

    /// <summary>
    /// The record contains the whole environment state, and its payload begins at <see cref="RecordHeader.Size"/>: transactions and journal snapshots
    /// of version 2. Otherwise the payload begins at <see cref="RecordHeader.SizeInVersion1"/>.
    /// </summary>
    WholeState = 4,
}

/// <summary>The start of every record.</summary>
/// <remarks>
/// <code>
///   0 | marker                                | checksum of everything from byte 16 to the end of the payload |
///  16 | incarnation of the file                                                                               |
///  32 | offset of this record in the file     | sequence                                                      |
///  48 | checksum of the previous record       | newest sequence durable, with all before, when sealed         |
///  64 | kind | flags | 0    | page entries    | payload bytes                                                 |
///  80 | payload bytes as stored               | environment state (128 bytes; 104 in version 1)               |
/// 216 | payload (from 192 on in version 1), zeros to the next block                                           |
/// </code>
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct RecordHeader
{
    public const int Size = 216;

    /// <summary>The size in version 1 of the format.</summary>
    public const int SizeInVersion1 = 192;

    /// <summary>The first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>All flags that a record may have.</summary>
    public const RecordFlags KnownFlags = RecordFlags.Compressed | RecordFlags.ExtentsUnsynced | RecordFlags.WholeState;

    [FieldOffset(0)]
    public ulong Marker;

    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public RandomId Incarnation;

    [FieldOffset(32)]
    public long Offset;

    /// <summary>The record's number; increases by one from record to record, across all files and kinds.</summary>
    [FieldOffset(40)]
    public long Sequence;

    [FieldOffset(48)]
    public ulong PreviousChecksum;

    [FieldOffset(56)]
    public long DurableSequence;

    [FieldOffset(64)]
    public RecordKind Kind;

    [FieldOffset(65)]
    public RecordFlags Flags;

    /// <summary>
    /// Flush list or images: the lowest 16 bits of the number that the flush stamps the data file with; these bits are never all zero. Zero
    /// in other records, and if nothing was stamped.
    /// </summary>
    [FieldOffset(66)]
    public ushort FlushNumber;

    /// <summary>The number of page entries in the payload.</summary>
    [FieldOffset(68)]
    public uint EntryCount;

    /// <summary>Length of the payload in bytes, uncompressed.</summary>
    [FieldOffset(72)]
    public long PayloadLength;

    /// <summary>Length of the payload in bytes as stored in the file.</summary>
    [FieldOffset(80)]
    public long StoredLength;

    // In version 1, its last bytes belong to the payload: see State.
    [FieldOffset(88)]
    private EnvironmentState _state;

    /// <summary>Durability marker: zeros. Transaction, journal snapshot: the state after it. Flush list or images: as of the flush id.</summary>
    public EnvironmentState State
    {
        readonly get => HasWholeState ? _state : Cut(_state);
        set
        {
            var length = (uint)(HasWholeState ? EnvironmentState.Size : EnvironmentState.SizeInVersion1);
            Unsafe.CopyBlock(ref Unsafe.As<EnvironmentState, byte>(ref _state), ref Unsafe.As<EnvironmentState, byte>(ref value), length);
        }
    }

    /// <summary>The id of the state's transaction.</summary>
    public readonly long TransactionId => _state.TransactionId;

    /// <summary>The offset of the payload.</summary>
    public readonly int HeaderSize => HasWholeState ? Size : SizeInVersion1;

    /// <summary>The length of the whole record in the file.</summary>
    public readonly long AlignedLength => JournalFormat.AlignUp(HeaderSize + StoredLength);

    private readonly bool HasWholeState => (Flags & RecordFlags.WholeState) != 0;

    private static EnvironmentState Cut(EnvironmentState state)
    {
        Unsafe.InitBlock(
            ref Unsafe.Add(ref Unsafe.As<EnvironmentState, byte>(ref state), EnvironmentState.SizeInVersion1), 0,
            EnvironmentState.Size - EnvironmentState.SizeInVersion1);
        return state;
    }
}
