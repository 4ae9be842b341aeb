using Voron.Format;

namespace Voron.Recovery;

/// <summary>The records after the end of the chain: from writes that were in progress, or a record that has decayed since.</summary>
/// <remarks>The header of an incomplete record is reported without guarantee, because its checksum is wrong.</remarks>
internal sealed class DroppedTail(string path, long offset)
{
    /// <summary>The file that contains the first of them.</summary>
    public string Path => path;

    /// <summary>The offset of the first of them in that file.</summary>
    public long Offset => offset;

    /// <summary>The number of records that are valid on their own, but have no predecessor.</summary>
    public int WholeRecords { get; private set; }

    /// <summary>
    /// The number of broken records: 1 if part of the first record is present, plus the records whose beginning is in the wrong place.
    /// </summary>
    public int BrokenRecords { get; private set; }

    public long FirstSequence { get; private set; }

    /// <summary>The first transaction among the records; 0 if there is none.</summary>
    public long FirstTransactionId { get; private set; }

    public long LastTransactionId { get; private set; }

    public unsafe void Add(RecordHeader* header, bool isWhole)
    {
        if (isWhole)
            WholeRecords++;
        else
            BrokenRecords++;
        if (FirstSequence == 0 || header->Sequence < FirstSequence)
            FirstSequence = header->Sequence;
        if (header->Kind != RecordKind.Transaction)
            return;
        var id = header->TransactionId;
        if (FirstTransactionId == 0 || id < FirstTransactionId)
            FirstTransactionId = id;
        LastTransactionId = Math.Max(LastTransactionId, id);
    }
}
