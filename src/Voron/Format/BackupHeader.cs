using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The first block of a backup: identifies its environment, and the backup that it builds on.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupHeader
{
    public const int Size = 152;

    /// <summary>The number of bytes that the header takes in the file; those after the structure are zeros.</summary>
    public const int BlockBytes = 4096;

    /// <summary>The offset of the first byte that the checksum covers, up to the end of the block.</summary>
    public const int ChecksummedFrom = 16;

    /// <summary>"VoronBak", read as a little-endian number.</summary>
    public const ulong MagicValue = 0x6B61426E6F726F56;

    public const uint CurrentVersion = 1;

    [FieldOffset(0)]
    public ulong Magic;

    /// <summary>The checksum of the block. The first frame repeats it.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    /// <summary>The version of the backup's own format.</summary>
    [FieldOffset(16)]
    public uint Version;

    [FieldOffset(20)]
    public uint PageSize;

    /// <summary>The format version of the environment.</summary>
    [FieldOffset(24)]
    public uint EnvironmentVersion;

    [FieldOffset(28)]
    public FormatFeatures Features;

    [FieldOffset(32)]
    public RandomId BackupId;

    /// <summary>The backup whose unchanged pages this one omits; zero for a full backup.</summary>
    [FieldOffset(48)]
    public RandomId ParentId;

    /// <summary>The transaction whose state the parent contains.</summary>
    [FieldOffset(64)]
    public long ParentTransactionId;

    [FieldOffset(72)]
    public RandomId EnvironmentId;

    [FieldOffset(88)]
    public Lineage Lineage;

    /// <summary>When the backup began: 100 ns since 0001-01-01 UTC.</summary>
    [FieldOffset(128)]
    public long BeganAt;

    /// <summary>Reserved for the key that encrypts the frames; zero.</summary>
    [FieldOffset(136)]
    public RandomId KeyId;

    /// <summary>True if the backup contains all pages.</summary>
    public readonly bool IsFull => ParentId == default;
}
