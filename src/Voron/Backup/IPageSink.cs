namespace Voron.Backup;

/// <summary>Receives the pages of a backup in the order of the file. A later copy of a page replaces an earlier one.</summary>
internal unsafe interface IPageSink
{
    /// <param name="first">The first page.</param>
    /// <param name="pages">The number of adjacent pages, at least one.</param>
    /// <param name="bytes">Their bytes, at a multiple of 4096, valid until <see cref="EndFrameAsync"/> of the next frame has returned.</param>
    /// <param name="place">The frame that holds them.</param>
    void Add(long first, int pages, byte* bytes, BackupPlace place);

    /// <summary>Ends a frame. The sink may continue using its pages, but not those of the frame before it. Does nothing by default.</summary>
    ValueTask EndFrameAsync() => ValueTask.CompletedTask;
}
