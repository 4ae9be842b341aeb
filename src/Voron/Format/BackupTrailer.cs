using System.Runtime.InteropServices;

namespace Voron.Format;

[Flags]
internal enum BackupTrailerFlags : uint
{
    None = 0,

    /// <summary>When the backup was finished, the environment had durably recorded it as one that later backups can build on.</summary>
    IsBase = 1,
}

/// <summary>The content of the last frame.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct BackupTrailer
{
    public const int Size = 88;

    /// <summary>The length of the payload of the last frame, which fills one block together with its header.</summary>
    public const int PayloadBytes = BackupHeader.BlockBytes - BackupFrame.Size;

    /// <summary>The transaction whose state the backup contains.</summary>
    [FieldOffset(0)]
    public long TransactionId;

    /// <summary>When that transaction was committed, as recorded in the state.</summary>
    [FieldOffset(8)]
    public long CommitTime;

    /// <summary>When the backup was finished: 100 ns since 0001-01-01 UTC.</summary>
    [FieldOffset(16)]
    public long FinishedAt;

    /// <summary>The number of pages of the environment.</summary>
    [FieldOffset(24)]
    public long PageCount;

    /// <summary>The number of pages that the state uses.</summary>
    [FieldOffset(32)]
    public long UsedPages;

    /// <summary>The number of pages in the frames. A page that was copied again counts again.</summary>
    [FieldOffset(40)]
    public long CopiedPages;

    /// <summary>The number of frames, including the last one.</summary>
    [FieldOffset(48)]
    public long Frames;

    /// <summary>The length of the backup in bytes.</summary>
    [FieldOffset(56)]
    public long Bytes;

    /// <summary>The offset of the last index frame; 0 if there is none.</summary>
    [FieldOffset(64)]
    public long IndexOffset;

    /// <summary>The number of index entries.</summary>
    [FieldOffset(72)]
    public long IndexEntries;

    [FieldOffset(80)]
    public BackupTrailerFlags Flags;

    // 84: zero.
}
