using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>
/// Reads the records of one journal file at given offsets. The file is opened when it is first read, and closed when the window leaves it.
/// </summary>
internal sealed unsafe class JournalFileReader : IWindowedFile
{
    private readonly IDisk _disk;
    private readonly RandomId _environmentId;
    private readonly RecordWindow _window;
    private DiskFile? _file;

    public JournalFileReader(IDisk disk, JournalFileInfo info, RandomId environmentId, RecordWindow window)
    {
        _disk = disk;
        Info = info;
        _environmentId = environmentId;
        _window = window;
        Length = info.FileLength & -JournalFormat.Block;
        Path = System.IO.Path.Combine(disk.Path, info.Name);
    }

    public JournalFileInfo Info { get; }

    public string Path { get; }

    /// <inheritdoc/>
    public long Length { get; }

    /// <summary>
    /// Returns the record at an offset if it is complete and has the right checksum, incarnation and offset; otherwise null. It is valid until the
    /// next call.
    /// </summary>
    /// <exception cref="StorageAccessException">The file cannot be read, which is never treated as an end of the journal.</exception>
    public RecordHeader* TryRead(long offset)
    {
        if (offset + JournalFormat.Block > Length)
            return null;
        var header = (RecordHeader*)_window.Load(this, offset, JournalFormat.Block);
        if (header->Marker != JournalFormat.RecordMarker || header->Incarnation != Info.Header.Incarnation || header->Offset != offset)
            return null;
        if (header->StoredLength < 0 || header->PayloadLength < 0 || header->StoredLength > Length - offset - header->HeaderSize)
            return null;

        var checksum = header->Checksum;
        header = (RecordHeader*)_window.Load(this, offset, header->AlignedLength);
        return RecordChecksum.Compute(_environmentId, (byte*)header) == checksum || PlantedFault.BelieveAnyRecord ? header : null;
    }

    /// <summary>
    /// Returns the possible header of a record at an offset, even if its checksum is wrong; null beyond the end of the file.
    /// </summary>
    public RecordHeader* Peek(long offset) =>
        offset + JournalFormat.Block > Length ? null : (RecordHeader*)_window.Load(this, offset, JournalFormat.Block);

    /// <summary>Returns true if the file contains the first record of this epoch, or the remains of one.</summary>
    public bool HasBegun()
    {
        var header = Peek(JournalFormat.FirstRecordOffset);
        return header != null && header->Marker == JournalFormat.RecordMarker && header->Incarnation == Info.Header.Incarnation;
    }

    /// <summary>Returns the current length of the file in bytes.</summary>
    public long CountBytes() => Open().Length;

    /// <summary>
    /// Returns true if the file contains the record that ends at a position, as far as can be determined without all of its bytes.
    /// </summary>
    /// <remarks>
    /// Searches backwards from the position, block by block, for the preceding record. If that is an older record, the block after it
    /// decides: if nothing of the missing record's header is left there, the record was never written to this copy of the file.
    /// </remarks>
    public bool HoldsRecordBefore(in JournalPosition position)
    {
        var above = position.Offset;
        for (var step = 4L; above > JournalFormat.FirstRecordOffset; step = Math.Min(step * 4, 256))
        {
            var from = Math.Max(JournalFormat.FirstRecordOffset, above - step * JournalFormat.Block);
            for (var at = above - JournalFormat.Block; at >= from; at -= JournalFormat.Block)
            {
                // The lowest block first, so that the window then holds the others.
                if (at == above - JournalFormat.Block && Peek(from) == null)
                    return false;
                var header = Peek(at);
                if (header == null)
                    return false;
                if (header->Marker != JournalFormat.RecordMarker || header->Incarnation != position.Incarnation || header->Offset != at)
                    continue;
                if (header->StoredLength < 0 || header->StoredLength > Length)
                    return header->Sequence == position.Sequence;
                var end = at + header->AlignedLength;
                return header->Sequence == position.Sequence || end == position.Offset || IsTraceOf(position, end);
            }

            above = from;
        }

        return IsTraceOf(position, JournalFormat.FirstRecordOffset);
    }

    /// <inheritdoc/>
    public void Read(long offset, Span<byte> target)
    {
        try
        {
            Open().Read(offset, target);
        }
        catch (DiskException e) when (_file != null)
        {
            throw new StorageAccessException($"The journal file '{Path}' cannot be read at offset {offset}: {e.Message}", e);
        }
    }

    /// <inheritdoc/>
    public void Close()
    {
        _file?.Dispose();
        _file = null;
    }

    private DiskFile Open() => _file ??= _disk.Open(Info.Name, DiskOpen.Existing, DiskAccess.WriteThrough);

    // A record of an earlier epoch may be at the same offset and has the same marker, so only fields that are the record's own reveal a
    // trace of it.
    private bool IsTraceOf(in JournalPosition position, long offset)
    {
        if (offset >= position.Offset || Peek(offset) is var header && header == null)
            return false;
        var own = (header->Incarnation == position.Incarnation ? 1 : 0) + (header->Sequence == position.Sequence ? 1 : 0)
            + (header->Checksum == position.Checksum ? 1 : 0);
        var common = (header->Marker == JournalFormat.RecordMarker ? 1 : 0) + (header->Offset == offset ? 1 : 0);
        return own > 0 && own + common >= 2;
    }
}
