using Voron.Compression;
using Voron.Format;

namespace Voron.Backup;

/// <summary>Reads a backup forward, frame by frame, and checks everything before it is used.</summary>
/// <remarks>
/// A frame is checked in this order: end of the backup, marker and position in the chain, length limits, checksum, decompression, values. Memory:
/// two frame buffers, so that a sink can use the pages of one frame while the next is read, and one bit per page.
/// </remarks>
internal sealed class BackupReader : IAsyncDisposable
{
    private readonly BackupInput _input;
    private readonly BackupHeader _header;

    // The extent list ends at the first multiple of 4096: this aligns the pages after it for writes that bypass the page cache.
    private AlignedBuffer _payload = new(BackupHeader.BlockBytes + BackupFrame.MaxPageBytes);
    private AlignedBuffer? _payloadBefore;
    private readonly BackupContent _content;
    private BackupFrame _frame;
    private BackupPlace _place;
    private ulong _previous;
    private int _payloadOffset;

    private BackupReader(BackupSource source, BackupInput input, in BackupHeader header)
    {
        Name = source.Name;
        _input = input;
        _header = header;
        _previous = header.Checksum;
        _content = new BackupContent(header);
    }

    public string Name { get; }

    public BackupHeader Header => _header;

    /// <summary>The content of the frames read so far.</summary>
    public BackupContent Content => _content;

    /// <summary>The number of bytes read so far.</summary>
    public long Offset => _input.Offset;

    /// <summary>Opens a backup and reads its header.</summary>
    public static async ValueTask<BackupReader> OpenAsync(BackupSource source, CancellationToken cancellationToken)
    {
        var input = new BackupInput(source, source.Open()) { ReadsAhead = source.IsFile };
        try
        {
            await input.TryFillAsync(BackupHeader.BlockBytes, cancellationToken).ConfigureAwait(false);
            return new BackupReader(source, input, TakeHeader(input, source.Name));
        }
        catch
        {
            await input.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Returns the header at the start of a backup, and skips it.</summary>
    public static unsafe BackupHeader TakeHeader(BackupInput input, string name)
    {
        var header = BackupHeaderCheck.Read(input.Address, Math.Min(input.Available, BackupHeader.BlockBytes), name);
        input.Skip(BackupHeader.BlockBytes);
        return header;
    }

    /// <summary>Reads all frames up to the end of the backup, and passes the pages on.</summary>
    /// <param name="sink">Receives the pages; null to check the frames only.</param>
    /// <param name="progress">Called after each frame with the number of bytes read so far; or null.</param>
    /// <param name="cancellationToken">Cancels the reading.</param>
    public async ValueTask ReadAllAsync(IPageSink? sink, Action<long>? progress, CancellationToken cancellationToken)
    {
        while (await ReadNextAsync(sink, cancellationToken).ConfigureAwait(false))
            progress?.Invoke(Offset);
    }

    /// <summary>Reads the next frame, and passes its pages on. Returns false at the end of the backup.</summary>
    public async ValueTask<bool> ReadNextAsync(IPageSink? sink, CancellationToken cancellationToken)
    {
        if (!await ReadAsync(cancellationToken).ConfigureAwait(false))
            return false;
        cancellationToken.ThrowIfCancellationRequested();
        if (sink == null || _frame.Kind != BackupFrameKind.Pages)
            return true;
        PassPages(sink);
        await sink.EndFrameAsync().ConfigureAwait(false);
        (_payload, _payloadBefore) = (_payloadBefore ?? new AlignedBuffer(_payload.Length), _payload);
        return true;
    }

    public ValueTask DisposeAsync()
    {
        _content.Dispose();
        return _input.DisposeAsync();
    }

    /// <summary>Reads the next frame. Returns false after the trailer.</summary>
    private async ValueTask<bool> ReadAsync(CancellationToken cancellationToken)
    {
        if (_content.IsComplete)
        {
            if (await _input.TryFillAsync(1, cancellationToken).ConfigureAwait(false))
                throw _place.Damaged($"is the trailer, but bytes follow at offset {_input.Offset}");
            return false;
        }

        _place = new BackupPlace(Name, _input.Offset, _place.Sequence + 1);
        if (!await _input.TryFillAsync(BackupFrame.Size, cancellationToken).ConfigureAwait(false))
            throw _place.Unfinished(BackupFrame.Size, _input.Available);
        LoadFrame();
        var bytes = BackupFrame.Size + _frame.StoredBytes;
        if (!await _input.TryFillAsync(bytes, cancellationToken).ConfigureAwait(false))
            throw _place.Unfinished(bytes, _input.Available);
        LoadPayload();
        return true;
    }

    private unsafe void LoadFrame()
    {
        _frame = *(BackupFrame*)_input.Address;
        if (_frame.Marker != BackupFrame.MarkerValue)
            throw _place.Damaged($"begins with {_frame.Marker:X16} instead of {BackupFrame.MarkerValue:X16}");
        if (_frame.Sequence != _place.Sequence)
            throw _place.Damaged($"has the sequence {_frame.Sequence}");
        if (_frame.Previous != _previous)
            throw _place.Damaged($"follows a frame with checksum {_frame.Previous:X16}, but the frame before it has {_previous:X16}");
        if (BackupFrameLimits.FindFault(_frame) is { } fault)
            throw _place.Damaged(fault);
    }

    private unsafe void LoadPayload()
    {
        var actual = BackupChecksums.OfFrame((BackupFrame*)_input.Address, _header.BackupId);
        if (_frame.Checksum != actual)
            throw _place.Damaged($"should have the checksum {_frame.Checksum:X16}, but has {actual:X16}");

        _payloadOffset = _frame.Kind == BackupFrameKind.Pages ? BackupHeader.BlockBytes - (int)_frame.Count * BackupExtent.Size : 0;
        var source = _input.Address + BackupFrame.Size;
        var target = _payload.Address + _payloadOffset;
        if (_frame.Flags == BackupFrameFlags.Compressed)
        {
            var count = Lz4Block.Decompress(source, _frame.StoredBytes, target, _frame.RawBytes);
            if (count != _frame.RawBytes)
                throw _place.Damaged($"should have {_frame.RawBytes} bytes, but {(count < 0 ? "cannot be decompressed" : $"has {count}")}");
        }
        else
        {
            Buffer.MemoryCopy(source, target, _payload.Length - _payloadOffset, _frame.RawBytes);
        }

        _content.Add(_frame, target, _place);
        _previous = _frame.Checksum;
        _input.Skip(BackupFrame.Size + _frame.StoredBytes);
    }

    private unsafe void PassPages(IPageSink sink)
    {
        var extents = (BackupExtent*)(_payload.Address + _payloadOffset);
        var bytes = _payload.Address + BackupHeader.BlockBytes;
        for (var i = 0; i < (int)_frame.Count; i++)
        {
            sink.Add(extents[i].FirstPage, extents[i].Pages, bytes, _place);
            bytes += extents[i].Pages * (long)_header.PageSize;
        }
    }
}
