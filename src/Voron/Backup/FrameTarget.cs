using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;

namespace Voron.Backup;

/// <summary>Writes a backup as one file, or as one stream of bytes.</summary>
/// <remarks><code>header ─▶ note ─▶ pages, now and then an index of them ─▶ state ─▶ used pages ─▶ last index ─▶ padding ─▶ trailer</code></remarks>
internal sealed class FrameTarget : IBackupTarget
{
    /// <summary>The number of index entries that fill a frame.</summary>
    private const int IndexEntriesAtOnce = 32 << 10;

    private const int MaxUsedBytes = 1 << 20;

    private readonly IFrameOutput _output;
    private readonly FrameMaker _frames;
    private readonly List<BackupIndexEntry> _index = [];
    private long _indexOffset;
    private long _indexEntries;

    private FrameTarget(IFrameOutput output, FrameMaker frames)
    {
        _output = output;
        _frames = frames;
    }

    public long Bytes { get; private set; }

    public void Expect(long pages, int pageSize) => _output.Expect(pages * pageSize, _frames.Compresses);

    /// <summary>Writes the beginning of a backup. Owns the output from then on; it is disposed if this fails.</summary>
    /// <param name="output">The output.</param>
    /// <param name="header">The header, whose checksum is computed here.</param>
    /// <param name="note">The user's text, or null.</param>
    /// <param name="compresses">True to compress the frames that compression makes smaller.</param>
    /// <param name="stop">Cancels the writing.</param>
    public static async Task<FrameTarget> BeginAsync(
        IFrameOutput output, BackupHeader header, string? note, bool compresses, CancellationToken stop)
    {
        try
        {
            var frames = new FrameMaker(header.BackupId, compresses);
            var target = new FrameTarget(output, frames);
            await target.SendAsync(frames.Begin(header), stop).ConfigureAwait(false);
            if (note != null)
            {
                var text = Encoding.UTF8.GetBytes(note);
                await target.WriteAsync(BackupFrameKind.Note, text, text.Length, 0, stop).ConfigureAwait(false);
            }

            return target;
        }
        catch
        {
            await output.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public async Task WriteAsync(PageBatch batch, CancellationToken stop)
    {
        foreach (var extent in batch.Extents)
            _index.Add(new BackupIndexEntry { FirstPage = extent.FirstPage, Pages = extent.Pages, FrameOffset = Bytes });
        await SendAsync(_frames.Make(batch), stop).ConfigureAwait(false);
        if (_index.Count >= IndexEntriesAtOnce)
            await WriteIndexAsync(stop).ConfigureAwait(false);
    }

    public async Task FinishAsync(BackupEnd end, CancellationToken stop)
    {
        var state = end.State;
        var stateBytes = MemoryMarshal.AsBytes(new Span<EnvironmentState>(ref state)).ToArray();
        await WriteAsync(BackupFrameKind.State, stateBytes, 1, 0, stop).ConfigureAwait(false);
        const long pagesAtOnce = MaxUsedBytes * 8L;
        for (var first = 0L; first < state.PageCount; first += pagesAtOnce)
        {
            var count = Math.Min(pagesAtOnce, state.PageCount - first);
            await WriteAsync(BackupFrameKind.UsedPages, BitsOf(end, first, count), count, first, stop).ConfigureAwait(false);
        }

        if (_index.Count > 0)
            await WriteIndexAsync(stop).ConfigureAwait(false);
        var padding = JournalFormat.AlignUp(Bytes) - Bytes;
        if (padding > 0)
        {
            // A frame is at least as long as its header.
            padding += padding < BackupFrame.Size ? BackupHeader.BlockBytes : 0;
            var zeros = (int)padding - BackupFrame.Size;
            await WriteAsync(BackupFrameKind.Padding, new byte[zeros], zeros, 0, stop).ConfigureAwait(false);
        }

        await WriteAsync(BackupFrameKind.Trailer, Trailer(end), 1, 0, stop).ConfigureAwait(false);
        await _output.FinishAsync(stop).ConfigureAwait(false);
    }

    public ValueTask DisposeAsync() => _output.DisposeAsync();

    private byte[] Trailer(BackupEnd end)
    {
        var payload = new byte[BackupTrailer.PayloadBytes];
        MemoryMarshal.Write(payload, new BackupTrailer
        {
            TransactionId = end.State.TransactionId,
            CommitTime = end.State.CommitTime,
            FinishedAt = DateTime.UtcNow.Ticks,
            PageCount = end.State.PageCount,
            UsedPages = end.UsedCount,
            CopiedPages = end.Copied,
            Frames = _frames.Sequence + 1,
            Bytes = Bytes + BackupHeader.BlockBytes,
            IndexOffset = _indexOffset,
            IndexEntries = _indexEntries,
            Flags = end.IsBase ? BackupTrailerFlags.IsBase : BackupTrailerFlags.None,
        });
        return payload;
    }

    private static byte[] BitsOf(BackupEnd end, long first, long count)
    {
        var words = new ulong[(count + 63) / 64];
        for (var i = 0; i < words.Length; i++)
            words[i] = end.Used.Word((first >> 6) + i);
        return MemoryMarshal.AsBytes<ulong>(words)[..(int)((count + 7) / 8)].ToArray();
    }

    private async Task WriteIndexAsync(CancellationToken stop)
    {
        var entries = MemoryMarshal.AsBytes(CollectionsMarshal.AsSpan(_index)).ToArray();
        var link = _indexOffset;
        _indexOffset = Bytes;
        _indexEntries += _index.Count;
        await WriteAsync(BackupFrameKind.Index, entries, _index.Count, link, stop).ConfigureAwait(false);
        _index.Clear();
    }

    private Task WriteAsync(BackupFrameKind kind, byte[] payload, long count, long link, CancellationToken stop) =>
        SendAsync(_frames.Make(kind, payload, count, link), stop);

    private async Task SendAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop)
    {
        await _output.WriteAsync(bytes, stop).ConfigureAwait(false);
        Bytes += bytes.Length;
    }
}
