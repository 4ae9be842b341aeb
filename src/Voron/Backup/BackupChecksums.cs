using Voron.Format;

namespace Voron.Backup;

/// <summary>The checksums of a backup's parts.</summary>
/// <remarks>
/// Each frame has the checksum of the one before, and the first one that of the header. So the checksum of the last frame stands for the whole
/// backup, and no frame can be lost, doubled, moved, or come from another backup.
/// </remarks>
internal static unsafe class BackupChecksums
{
    /// <summary>Returns the checksum of the block that begins with the header.</summary>
    public static ulong OfHeader(byte* block) => Checksum.Compute(
        block + BackupHeader.ChecksummedFrom, BackupHeader.BlockBytes - BackupHeader.ChecksummedFrom, BackupHeader.MagicValue);

    /// <summary>Returns the checksum of a frame, whose payload follows its header.</summary>
    public static ulong OfFrame(BackupFrame* frame, RandomId backupId) => Checksum.Compute(
        (byte*)frame + BackupFrame.ChecksummedFrom, (nuint)(BackupFrame.Size - BackupFrame.ChecksummedFrom + frame->StoredBytes),
        Checksum.Seed(backupId, frame->Sequence));
}
