using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The header of a journal file; two copies, in blocks 0 and 1.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalFileHeader
{
    /// <summary>The size of the fixed part; seals follow.</summary>
    public const int Size = 128;

    /// <summary>The first byte that the checksum covers.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>The number of seals that fit after the fixed part.</summary>
    public const int MaxSeals = (JournalFormat.Block - Size) / JournalSeal.Size;

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
    public uint SealCount;

    [FieldOffset(32)]
    public RandomId EnvironmentId;

    /// <summary>A fresh random number for each epoch of the file.</summary>
    [FieldOffset(48)]
    public RandomId Incarnation;

    /// <summary>The number of this epoch; increases by one with each epoch of any journal file.</summary>
    [FieldOffset(64)]
    public long Epoch;

    /// <summary>The limit in bytes up to which the file may hold records.</summary>
    [FieldOffset(72)]
    public long FileLength;

    /// <summary>The history that the environment belongs to; zero in version 1. Recovery uses that of the header file.</summary>
    [FieldOffset(80)]
    public Lineage Lineage;

    // 120 to 127: zero.

    /// <summary>Computes the checksum of a block that contains a header and its seals.</summary>
    public static unsafe ulong ComputeChecksum(byte* block) =>
        Format.Checksum.Compute(block + ChecksummedFrom, JournalFormat.Block - ChecksummedFrom, JournalFormat.FileMagic);
}
