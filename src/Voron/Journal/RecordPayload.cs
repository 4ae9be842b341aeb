using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>The payload of a valid record, uncompressed.</summary>
internal unsafe ref struct RecordPayload
{
    private readonly RecordHeader* _record;
    private readonly string _path;
    private byte* _owned;

    public RecordPayload(RecordHeader* record, string path)
    {
        _record = record;
        _path = path;
        Bytes = (byte*)record + RecordHeader.Size;
        Length = record->PayloadLength;
        if ((record->Flags & RecordFlags.Compressed) == 0)
        {
            if (record->StoredLength != record->PayloadLength)
                throw Malformed("two different lengths of an uncompressed payload");
            return;
        }

        if (record->PayloadLength > int.MaxValue || record->StoredLength > int.MaxValue)
            throw Malformed("a compressed payload of more than 2 GiB");
        _owned = (byte*)EngineMemory.Allocate((nuint)Math.Max(1, Length));
        if (Lz4Block.Decompress(Bytes, (int)record->StoredLength, _owned, (int)Length) != Length)
        {
            Dispose();
            throw Malformed("a payload that does not decompress");
        }

        Bytes = _owned;
    }

    public byte* Bytes { get; }

    public long Length { get; }

    public readonly CorruptionException Malformed(string what) =>
        new($"Record {_record->Sequence} at offset {_record->Offset} of '{_path}' has a valid checksum and yet {what}.");

    public void Dispose()
    {
        EngineMemory.Free(_owned);
        _owned = null;
    }
}
