using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Recovery;

namespace Voron.Salvaging;

/// <summary>A pass over all records of all journal files, whether they follow each other or not.</summary>
internal sealed unsafe class JournalScan
{
    private readonly SourceDisk _disk;
    private readonly RandomId _environmentId;
    private readonly IReadOnlyList<JournalFileInfo> _files;
    private readonly BlockMemory _memory;

    public JournalScan(SourceDisk disk, RandomId environmentId, IReadOnlyList<JournalFileInfo> files, BlockMemory memory)
    {
        (_disk, _environmentId, _files, _memory) = (disk, environmentId, files, memory);
        ForEach((record, _) => PageCount = Math.Max(PageCount, record->Kind == RecordKind.DurabilityMarker ? 0 : record->State.PageCount));
    }

    private delegate void Visitor(RecordHeader* record, JournalFileInfo file);

    /// <summary>The largest page count of a state.</summary>
    public long PageCount { get; private set; }

    /// <summary>
    /// Returns the header that a checkpoint would have whose flush has stamped the data file, as far as records show it; null if they do not.
    /// </summary>
    /// <param name="template">A header with the id, the version and the page size.</param>
    /// <param name="stamp">The stamp of the data file.</param>
    public CheckpointHeader? FindCheckpoint(CheckpointHeader template, ulong stamp)
    {
        var header = template;
        header.Flags = CheckpointFlags.IsStamped;
        header.DataFileStamp = stamp;
        header.CheckpointNumber = Math.Max(1, DataFileStamp.NumberOf(stamp));
        if (stamp == 0)
        {
            if (!_files.Any(file => file.Header.Epoch == 1))
                return null;
            header.State = new EnvironmentState { PageCount = 3 };
            return header;
        }

        // A flush that has begun has no state yet. Only its header would say where the one before it ended.
        if (stamp != DataFileStamp.Finished(DataFileStamp.NumberOf(stamp)))
            return null;
        var number = (ushort)DataFileStamp.NumberOf(stamp);
        ForEach((record, _) =>
        {
            if (record->Kind is RecordKind.FlushList or RecordKind.FlushImages && record->FlushNumber == number
                && record->TransactionId >= header.State.TransactionId && StateStructure.FindFault(record->State) == null)
                header.State = record->State;
        });
        if (header.State.TransactionId == 0)
            return null;
        header.ReplayStart = FindStart(header.State.TransactionId);
        return header;
    }

    // Behind the record of a transaction, or before the first one that follows it.
    private JournalPosition FindStart(long transactionId)
    {
        JournalPosition behind = default, before = default;
        ForEach((record, file) =>
        {
            var at = new JournalPosition { Incarnation = file.Header.Incarnation, Epoch = file.Header.Epoch };
            if (record->Kind == RecordKind.Transaction && record->TransactionId == transactionId)
                behind = at with { Offset = record->Offset + record->AlignedLength, Sequence = record->Sequence, Checksum = record->Checksum };
            else if (record->Kind != RecordKind.Transaction || record->TransactionId > transactionId)
            {
                if (before.Epoch == 0 || record->Sequence <= before.Sequence)
                    before = at with { Offset = record->Offset, Sequence = record->Sequence - 1, Checksum = record->PreviousChecksum };
            }
        });
        return behind.Epoch != 0 ? behind : before;
    }

    private void ForEach(Visitor visit)
    {
        using var window = new RecordWindow(_memory);
        foreach (var file in _files)
        {
            var reader = new JournalFileReader(_disk, file, _environmentId, window);
            for (var offset = (long)JournalFormat.FirstRecordOffset; offset < reader.Length;)
            {
                var record = reader.TryRead(offset);
                if (record == null)
                {
                    offset += JournalFormat.Block;
                    continue;
                }

                visit(record, file);
                offset += record->AlignedLength;
            }
        }
    }
}
