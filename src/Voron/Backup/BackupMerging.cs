using Voron.Format;

namespace Voron.Backup;

/// <summary>Reads a chain of backups, and writes it as one.</summary>
internal static class BackupMerging
{
    /// <param name="files">The backups, the full one first, without a gap.</param>
    /// <param name="open">Opens the output.</param>
    /// <param name="compresses">True to compress the pages.</param>
    /// <param name="stop">Cancels the merging.</param>
    /// <exception cref="BackupException">A backup is damaged, or the files are not a chain.</exception>
    public static async Task RunAsync(
        IReadOnlyList<BackupSource> files, Func<IFrameOutput> open, bool compresses, CancellationToken stop)
    {
        var chain = await BackupSummary.ReadAsync(files, stop).ConfigureAwait(false);
        BackupChain.Check(chain);
        var newest = chain[^1];
        var header = newest.Header;
        header.ParentId = default;
        header.ParentTransactionId = 0;
        header.BeganAt = DateTime.UtcNow.Ticks;
        var target = await FrameTarget.BeginAsync(open(), header, newest.Note, compresses, stop).ConfigureAwait(false);
        await using (target.ConfigureAwait(false))
        {
            using var merger = new BackupMerger((int)header.PageSize);
            var last = await BackupReader.OpenAsync(files[^1], stop).ConfigureAwait(false);
            await using (last.ConfigureAwait(false))
            {
                BackupChain.ThrowIfReplaced(last, newest);
                var pageCount = chain.Max(backup => backup.Trailer.PageCount);
                target.Expect(newest.Trailer.UsedPages, (int)header.PageSize);
                await CopyAsync(last, merger, target, pageCount, stop).ConfigureAwait(false);
                for (var i = files.Count - 2; i >= 0; i--)
                {
                    var older = await BackupReader.OpenAsync(files[i], stop).ConfigureAwait(false);
                    await using (older.ConfigureAwait(false))
                    {
                        BackupChain.ThrowIfReplaced(older, chain[i]);
                        await CopyAsync(older, merger, target, pageCount, stop).ConfigureAwait(false);
                    }
                }

                await target.FinishAsync(EndOf(last.Content, merger), stop).ConfigureAwait(false);
            }
        }
    }

    private static BackupEnd EndOf(BackupContent newest, BackupMerger merger) => new()
    {
        State = newest.State,
        Used = newest.Used,
        UsedCount = newest.Trailer.UsedPages,
        Copied = merger.Copied,
        IsBase = (newest.Trailer.Flags & BackupTrailerFlags.IsBase) != 0,
    };

    private static async Task CopyAsync(BackupReader reader, BackupMerger merger, FrameTarget target, long pageCount, CancellationToken stop)
    {
        while (await reader.ReadNextAsync(merger, stop).ConfigureAwait(false))
            await WriteAsync(merger, isEnd: false, target, stop).ConfigureAwait(false);
        await WriteAsync(merger, isEnd: true, target, stop).ConfigureAwait(false);
        merger.NoteEnd(reader.Content, pageCount);
    }

    private static async Task WriteAsync(BackupMerger merger, bool isEnd, FrameTarget target, CancellationToken stop)
    {
        foreach (var batch in merger.TakeBatches(isEnd))
        {
            await target.WriteAsync(batch, stop).ConfigureAwait(false);
            merger.Return(batch);
        }
    }
}
