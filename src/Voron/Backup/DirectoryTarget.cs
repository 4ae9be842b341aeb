using Voron.Format;
using Voron.IO;

namespace Voron.Backup;

/// <summary>Copies an environment into a directory, which can be opened immediately afterwards.</summary>
/// <param name="disk">The directory, which this target owns.</param>
/// <param name="copy">The copy.</param>
/// <param name="header">The header that a backup file would have.</param>
internal sealed class DirectoryTarget(IDisk disk, EnvironmentCopy copy, BackupHeader header) : IBackupTarget
{
    public long Bytes { get; private set; }

    /// <summary>Begins a copy in an empty directory. Owns the disk from then on.</summary>
    /// <inheritdoc cref="EnvironmentCopy.Begin(IDisk, int, long)"/>
    public static DirectoryTarget Begin(IDisk disk, in BackupHeader header)
    {
        try
        {
            return new DirectoryTarget(disk, EnvironmentCopy.Begin(disk, (int)header.PageSize), header);
        }
        catch
        {
            disk.Dispose();
            throw;
        }
    }

    public void Expect(long pages, int pageSize) => copy.CheckRoom(pages);

    public Task WriteAsync(PageBatch batch, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var offset = PageBatch.PagesOffset;
        foreach (var extent in batch.Extents)
        {
            var bytes = extent.Pages * (int)header.PageSize;
            copy.Write(extent.FirstPage, batch.Buffer.Memory.Span.Slice(offset, bytes));
            offset += bytes;
            Bytes += bytes;
        }

        return Task.CompletedTask;
    }

    public Task FinishAsync(BackupEnd end, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        copy.Finish(EnvironmentCopy.NewHeader(header, end.State), end.Used, written: null, verify: null);
        return Task.CompletedTask;
    }

    public ValueTask DisposeAsync()
    {
        copy.Dispose();
        disk.Dispose();
        return ValueTask.CompletedTask;
    }
}
