using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>The payload of a valid record, uncompressed.</summary>
internal unsafe ref struct RecordPayload
{
    /// <summary>The maximum factor by which an LZ4 block expands.</summary>
    private const int MaxExpansion = 255;

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
                throw Malformed("an uncompressed payload with two different lengths");
            return;
        }

        if (record->PayloadLength > int.MaxValue || record->StoredLength > int.MaxValue
            || record->PayloadLength / MaxExpansion > record->StoredLength)
            throw Malformed($"a payload that would grow from {record->StoredLength} to {record->PayloadLength} bytes");
        _owned = (byte*)EngineMemory.Allocate((nuint)Math.Max(1, Length));
        if (Lz4Block.Decompress(Bytes, (int)record->StoredLength, _owned, (int)Length) != Length)
        {
            Dispose();
            throw Malformed("a payload that does not decompress");
        }

        if (PlantedFault.WritePastBlock)
            _owned[Math.Max(1, Length)] = 0;
        Bytes = _owned;
    }

    public byte* Bytes { get; }

    public long Length { get; }

    public readonly CorruptionException Malformed(string what) => Malformed(_record, _path, what);

    public static CorruptionException Malformed(RecordHeader* record, string path, string what) =>
        new($"Record {record->Sequence} at offset {record->Offset} of '{path}' has a valid checksum, but contains {what}.");

    public void Dispose()
    {
        EngineMemory.Free(_owned);
        if (PlantedFault.FreeTwice)
            EngineMemory.Free(_owned);
        if (PlantedFault.ReadFreedBlock && _owned != null)
            _ = Volatile.Read(ref *_owned);
        _owned = null;
    }
}
