using System.Runtime.InteropServices;
using Voron.Compression;
using Voron.Format;

namespace Voron.Backup;

/// <summary>Makes the frames of a backup, each with the checksum of the one before.</summary>
internal sealed unsafe class FrameMaker
{
    private readonly RandomId _backupId;
    private readonly AlignedBuffer _stored = new(BackupFrame.Size + Lz4Block.MaxCompressedLength(BackupFrame.MaxRawBytes));
    private ulong _previous;

    /// <param name="backupId">The id of the backup.</param>
    /// <param name="compresses">True to compress the frames that compression makes smaller.</param>
    public FrameMaker(RandomId backupId, bool compresses)
    {
        _backupId = backupId;
        Compresses = compresses;
    }

    public bool Compresses { get; }

    /// <summary>The number of frames that have been made.</summary>
    public long Sequence { get; private set; }

    /// <summary>Makes the first block. The bytes that this and the other methods return are valid until the next call.</summary>
    public ReadOnlyMemory<byte> Begin(BackupHeader header)
    {
        var block = _stored.Memory[..BackupHeader.BlockBytes];
        block.Span.Clear();
        *(BackupHeader*)_stored.Address = header;
        _previous = ((BackupHeader*)_stored.Address)->Checksum = BackupChecksums.OfHeader(_stored.Address);
        return block;
    }

    /// <summary>
    /// Makes a frame of pages. The extents and the frame's header are placed before the pages, where the batch reserves space for them.
    /// </summary>
    public ReadOnlyMemory<byte> Make(PageBatch batch)
    {
        var extents = CollectionsMarshal.AsSpan(batch.Extents);
        var extentBytes = extents.Length * BackupExtent.Size;
        var start = PageBatch.PagesOffset - extentBytes;
        var raw = extentBytes + batch.PageBytes;
        MemoryMarshal.AsBytes(extents).CopyTo(batch.Buffer.Memory.Span[start..]);
        var header = new BackupFrame { Kind = BackupFrameKind.Pages, Count = extents.Length, RawBytes = raw };
        if (TryCompress(batch.Buffer.Address + start, raw) is var compressed && compressed > 0)
            return Complete(_stored, 0, header with { Flags = BackupFrameFlags.Compressed, StoredBytes = compressed });
        return Complete(batch.Buffer, start - BackupFrame.Size, header with { StoredBytes = raw });
    }

    /// <summary>Makes a frame of another kind.</summary>
    public ReadOnlyMemory<byte> Make(BackupFrameKind kind, byte[] payload, long count, long link)
    {
        var header = new BackupFrame { Kind = kind, Count = count, RawBytes = payload.Length, Link = link };
        fixed (byte* bytes = payload)
        {
            if (kind != BackupFrameKind.Trailer && TryCompress(bytes, payload.Length) is var compressed && compressed > 0)
                return Complete(_stored, 0, header with { Flags = BackupFrameFlags.Compressed, StoredBytes = compressed });
        }

        payload.CopyTo(_stored.Memory.Span[BackupFrame.Size..]);
        return Complete(_stored, 0, header with { StoredBytes = payload.Length });
    }

    // Returns the compressed length; 0 if nothing is gained.
    private int TryCompress(byte* bytes, int length)
    {
        if (!Compresses || length < BackupHeader.BlockBytes)
            return 0;
        var compressed = Lz4Block.Compress(bytes, length, _stored.Address + BackupFrame.Size, length);
        return compressed < length ? compressed : 0;
    }

    private ReadOnlyMemory<byte> Complete(AlignedBuffer buffer, int offset, BackupFrame header)
    {
        var frame = (BackupFrame*)(buffer.Address + offset);
        header.Marker = BackupFrame.MarkerValue;
        header.Sequence = ++Sequence;
        header.Previous = _previous;
        *frame = header;
        _previous = frame->Checksum = BackupChecksums.OfFrame(frame, _backupId);
        return buffer.Memory.Slice(offset, BackupFrame.Size + header.StoredBytes);
    }
}
