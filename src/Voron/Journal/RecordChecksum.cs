using Voron.Format;

namespace Voron.Journal;

/// <summary>The checksum of a record: covers everything after the checksum field, header and payload as stored.</summary>
internal static unsafe class RecordChecksum
{
    public static ulong Compute(RandomId environmentId, byte* record)
    {
        var header = (RecordHeader*)record;
        var length = header->HeaderSize + header->StoredLength - RecordHeader.ChecksummedFrom;
        return Checksum.Compute(record + RecordHeader.ChecksummedFrom, (nuint)length, Checksum.Seed(environmentId, header->Offset));
    }
}
