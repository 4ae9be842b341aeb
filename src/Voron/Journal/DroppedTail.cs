using Voron.Format;

namespace Voron.Journal;

/// <summary>What stands behind the end of the chain: records of writes that were under way, or one that has rotted since.</summary>
/// <remarks>Of a record that is not whole, what its header says is told for what it is worth: its checksum is wrong.</remarks>
internal sealed class DroppedTail(string path, long offset)
{
    /// <summary>The file with the first of them.</summary>
    public string Path => path;

    /// <summary>Where in it that stands.</summary>
    public long Offset => offset;

    /// <summary>Records that are valid by themselves, but have none before them.</summary>
    public int WholeRecords { get; private set; }

    /// <summary>1 when the first record is there in part, and those of which the begin stands where it does not belong.</summary>
    public int BrokenRecords { get; private set; }

    public long FirstSequence { get; private set; }

    /// <summary>The transactions among them; 0 when there are none.</summary>
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
        var id = header->State.TransactionId;
        if (FirstTransactionId == 0 || id < FirstTransactionId)
            FirstTransactionId = id;
        LastTransactionId = Math.Max(LastTransactionId, id);
    }
}
