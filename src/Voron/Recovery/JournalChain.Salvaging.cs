using Voron.Format;

namespace Voron.Recovery;

/// <content>Follows the chain of a salvage to its end, and beyond it.</content>
internal sealed unsafe partial class JournalChain
{
    /// <summary>Receives the problems that would otherwise end the recovery; null to throw.</summary>
    public ICollection<string>? Problems { get; init; }

    /// <summary>Visits the intact records after a hole in the chain, in sequence order.</summary>
    /// <param name="end">The end of the chain.</param>
    /// <param name="visitor">Receives the records.</param>
    /// <param name="onHole">Called before each record that does not follow the previous one.</param>
    public void FollowRest(in JournalPosition end, IRecordVisitor visitor, Action onHole)
    {
        var last = end.Sequence;
        foreach (var file in _files)
        {
            var offset = end.Incarnation == file.Info.Header.Incarnation ? end.Offset : JournalFormat.FirstRecordOffset;
            while (offset < EndOf(file))
            {
                var record = file.TryRead(offset);
                if (record == null || record->Sequence <= last)
                {
                    offset += JournalFormat.Block;
                    continue;
                }

                if (record->Sequence != last + 1)
                    onHole();
                last = record->Sequence;
                offset += record->AlignedLength;
                if (!TryVisit(visitor, record, file))
                    onHole();
            }
        }
    }

    // A record that cannot be used ends the chain of a salvage, in later passes too.
    private bool TryVisit(IRecordVisitor visitor, RecordHeader* record, JournalFileReader file)
    {
        try
        {
            CheckRecord(record, file);
            visitor.Visit(record, file.Path);
            return true;
        }
        catch (CorruptionException e) when (Problems != null)
        {
            Problems.Add(e.Message);
            _lastWhole = Math.Min(_lastWhole, record->Sequence - 1);
            return false;
        }
    }

    private void Fail(string problem)
    {
        if (Problems == null)
            throw new CorruptionException(problem);
        Problems.Add(problem);
    }
}
