using Voron.Format;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>The parts of a backup that follow the pages.</summary>
internal sealed class BackupEnd
{
    public required EnvironmentState State { get; init; }

    /// <summary>The pages that the state uses.</summary>
    public required PageBitmap Used { get; init; }

    /// <summary>The number of these pages.</summary>
    public required long UsedCount { get; init; }

    /// <summary>The number of page copies; a page that was copied again counts again.</summary>
    public required long Copied { get; init; }

    /// <summary>True if the environment has durably recorded the backup as a base for later ones.</summary>
    public required bool IsBase { get; init; }
}

/// <summary>The target of a backup. Calls do not overlap; a call may be slow, and holds nothing of the environment.</summary>
internal interface IBackupTarget : IAsyncDisposable
{
    /// <summary>The number of bytes that have been written.</summary>
    long Bytes { get; }

    /// <summary>Notes how many pages will be written unless more of them change.</summary>
    /// <exception cref="StorageFullException">There is no space for them.</exception>
    void Expect(long pages, int pageSize);

    /// <summary>Writes copies of pages. A later copy of a page replaces an earlier one.</summary>
    Task WriteAsync(PageBatch batch, CancellationToken stop);

    /// <summary>
    /// Completes the backup. Until this has returned, nothing can be mistaken for a complete backup. Afterwards, disposing keeps the backup;
    /// otherwise, it deletes the written parts.
    /// </summary>
    Task FinishAsync(BackupEnd end, CancellationToken stop);
}
