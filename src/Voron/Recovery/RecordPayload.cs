using Voron.Compression;
using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>The payload of a valid record, uncompressed.</summary>
internal unsafe ref struct RecordPayload
{
    /// <summary>The maximum factor by which an LZ4 block expands.</summary>
    private const int MaxExpansion = 255;

    private readonly RecordHeader* _record;
    private readonly string _path;
    private MemoryBlock? _owned;

    public RecordPayload(RecordHeader* record, string path, BlockMemory memory)
    {
        _record = record;
        _path = path;
        Bytes = (byte*)record + record->HeaderSize;
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
        _owned = memory.Allocate((nuint)Math.Max(1, Length - (PlantedFault.WritePastBlock ? 1 : 0)), 0);
        if (Lz4Block.Decompress(Bytes, (int)record->StoredLength, _owned.Address, (int)Length) != Length)
        {
            Dispose();
            throw Malformed("a payload that does not decompress");
        }

        Bytes = _owned.Address;
    }

    public byte* Bytes { get; }

    public long Length { get; }

    public readonly CorruptionException Malformed(string what) => Malformed(_record, _path, what);

    /// <summary>Checks the values in the header of a record whose checksum is right: any fault was in it when it was written.</summary>
    /// <exception cref="CorruptionException">The record has flags or a state that no record can have.</exception>
    public static void CheckHeader(RecordHeader* record, string path)
    {
        if ((record->Flags & ~RecordHeader.KnownFlags) != 0)
            throw Malformed(record, path, $"the unknown flags {record->Flags:X}");
        if (record->Kind != RecordKind.DurabilityMarker && StateStructure.FindFault(record->State) is { } fault)
            throw Malformed(record, path, fault);
    }

    public static CorruptionException Malformed(RecordHeader* record, string path, string what) =>
        new($"Record {record->Sequence} at offset {record->Offset} of '{path}' has a valid checksum, but contains {what}.");

    public void Dispose()
    {
        if (_owned == null)
            return;
        var address = _owned.Address;
        _owned.Dispose();
        if (PlantedFault.FreeTwice)
            EngineMemory.Free(address);
        if (PlantedFault.ReadFreedBlock)
            _ = Volatile.Read(ref *address);
        _owned = null;
    }
}
