using Voron.Format;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>The end of a backup: what it has besides the pages.</summary>
internal sealed class BackupEnd
{
    public required EnvironmentState State { get; init; }

    /// <summary>The pages that the state uses.</summary>
    public required PageBitmap Used { get; init; }

    /// <summary>The number of these pages.</summary>
    public required long UsedCount { get; init; }

    /// <summary>The number of copies of pages; a page that was copied again counts again.</summary>
    public required long Copied { get; init; }

    /// <summary>True if the environment knows the backup durably as one that later ones can build on.</summary>
    public required bool IsBase { get; init; }
}

/// <summary>Where a backup goes. One call at a time is made; a call may be slow, and holds nothing of the environment.</summary>
internal interface IBackupTarget : IAsyncDisposable
{
    /// <summary>The number of bytes that have been written.</summary>
    long Bytes { get; }

    /// <summary>Notes how many pages will come, if no more of them change.</summary>
    /// <exception cref="StorageFullException">There is no room for them.</exception>
    void Expect(long pages, int pageSize);

    /// <summary>Writes copies of pages. A later copy of a page replaces an earlier one.</summary>
    Task WriteAsync(PageBatch batch, CancellationToken stop);

    /// <summary>
    /// Completes the backup. Before this has returned, nothing passes for one. Afterwards, disposing leaves the backup; otherwise it removes what has
    /// been made.
    /// </summary>
    Task FinishAsync(BackupEnd end, CancellationToken stop);
}
