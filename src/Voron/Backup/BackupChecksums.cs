using Voron.Format;

namespace Voron.Backup;

/// <summary>The checksums of a backup's parts.</summary>
/// <remarks>
/// Each frame stores the checksum of its predecessor, and the first frame that of the header. The checksum of the last frame therefore covers the
/// whole backup: a lost, repeated, moved or foreign frame is detected.
/// </remarks>
internal static unsafe class BackupChecksums
{
    /// <summary>Returns the checksum of the header block.</summary>
    public static ulong OfHeader(byte* block) => Checksum.Compute(
        block + BackupHeader.ChecksummedFrom, BackupHeader.BlockBytes - BackupHeader.ChecksummedFrom, BackupHeader.MagicValue);

    /// <summary>Returns the checksum of a frame, whose payload follows its header.</summary>
    public static ulong OfFrame(BackupFrame* frame, RandomId backupId) => Checksum.Compute(
        (byte*)frame + BackupFrame.ChecksummedFrom, (nuint)(BackupFrame.Size - BackupFrame.ChecksummedFrom + frame->StoredBytes),
        Checksum.Seed(backupId, frame->Sequence));
}
