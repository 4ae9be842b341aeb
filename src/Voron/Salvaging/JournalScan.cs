using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Recovery;

namespace Voron.Salvaging;

/// <summary>A pass over all records of all journal files, contiguous or not.</summary>
internal sealed unsafe class JournalScan
{
    private readonly SourceDisk _disk;
    private readonly RandomId _environmentId;
    private readonly IReadOnlyList<JournalFileInfo> _files;
    private readonly BlockMemory _memory;

    // The final ends of files: a recovery has dropped the records after them.
    private readonly Dictionary<RandomId, long> _ends = [];

    public JournalScan(SourceDisk disk, RandomId environmentId, IReadOnlyList<JournalFileInfo> files, BlockMemory memory)
    {
        (_disk, _environmentId, _files, _memory) = (disk, environmentId, files, memory);
        foreach (var seal in files.SelectMany(file => file.Seals))
            _ends[seal.Incarnation] = Math.Min(seal.EndOffset, _ends.GetValueOrDefault(seal.Incarnation, long.MaxValue));
        ForEach((record, file) =>
        {
            Bytes += record->AlignedLength;
            if (record->Kind != RecordKind.DurabilityMarker && StateStructure.FindFault(record->State) == null)
                PageCount = Math.Max(PageCount, record->State.PageCount);
        });
    }

    private delegate void Visitor(RecordHeader* record, JournalFileInfo file);

    /// <summary>The length of all records in bytes.</summary>
    public long Bytes { get; private set; }

    /// <summary>The largest page count of any state.</summary>
    public long PageCount { get; private set; }

    /// <summary>
    /// Returns whether the data file contains all pages of a flush: the stamp may have become durable without them. Damaged pages are found when
    /// they are read; here it suffices that none is an older version.
    /// </summary>
    /// <remarks>
    /// A flush may have several records, and none states their number. They are known to be complete only if no record is missing from that of the
    /// flush's transaction on, and another one follows them.
    /// </remarks>
    /// <param name="data">The data file.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="seedBase">The environment's part of all seeds.</param>
    /// <param name="stamp">The stamp of the flush.</param>
    public bool HasPagesOf(DiskFile data, int pageSize, ulong seedBase, ulong stamp)
    {
        var number = (ushort)DataFileStamp.NumberOf(stamp);
        var isWhole = true;
        var (transaction, lastOfFlush) = (0L, 0L);
        using var page = new PageBuffer(pageSize);
        ForEach((record, file) =>
        {
            if (record->FlushNumber != number || record->Kind is not (RecordKind.FlushList or RecordKind.FlushImages))
                return;
            (transaction, lastOfFlush) = (record->TransactionId, Math.Max(lastOfFlush, record->Sequence));
            isWhole = isWhole && HasPagesOf(record, file.Name, data, page, seedBase);
        });
        return isWhole && HasAllFrom(transaction, lastOfFlush);
    }

    // Returns whether no record is missing from that of a transaction to the last of all, and one follows the last record of its flush.
    private bool HasAllFrom(long transactionId, long lastOfFlush)
    {
        var (first, last, count) = (0L, 0L, 0L);
        ForEach((record, _) =>
        {
            last = Math.Max(last, record->Sequence);
            if (record->Kind == RecordKind.Transaction && record->TransactionId == transactionId)
                first = record->Sequence;
        });
        ForEach((record, _) => count += record->Sequence >= first ? 1 : 0);
        return first > 0 && last > lastOfFlush && count == last - first + 1;
    }

    private bool HasPagesOf(RecordHeader* record, string name, DiskFile data, PageBuffer page, ulong seedBase)
    {
        try
        {
            using var payload = new RecordPayload(record, name, _memory);
            if (payload.Length > int.MaxValue)
                return false;
            var isWhole = true;
            if (record->Kind == RecordKind.FlushImages)
            {
                var images = new FlushImageReader(new ReadOnlySpan<byte>(payload.Bytes, (int)payload.Length), record->State.PageCount, page.Size);
                for (var i = 0u; i < record->EntryCount && images.TryRead(page.Bytes, out var number); i++)
                    isWhole &= IsInPlace(data, page, seedBase, number, ComputeChecksum(page.Bytes, page.Size, seedBase, number));
                return isWhole;
            }

            foreach (ref readonly var entry in new ReadOnlySpan<FlushListEntry>(payload.Bytes, (int)(payload.Length / FlushListEntry.Size)))
                isWhole &= IsInPlace(data, page, seedBase, entry.Page, entry.Checksum);
            return isWhole;
        }
        catch (CorruptionException)
        {
            return false;
        }
    }

    private static bool IsInPlace(DiskFile data, PageBuffer page, ulong seedBase, long number, ulong expected)
    {
        if (number < 0 || number >= data.Length / page.Size)
            return true;
        data.Read(number * page.Size, new Span<byte>(page.Bytes, page.Size));
        var header = page.Header;
        return header->Checksum == expected || header->PageNumber != number || header->Kind == PageKind.None
            || (header->Kind != PageKind.Overflow && header->Checksum != ComputeChecksum(page.Bytes, page.Size, seedBase, number));
    }

    private static ulong ComputeChecksum(byte* page, int pageSize, ulong seedBase, long number) => Checksum.Compute(
        page + PageHeader.UnjournaledBytes, (nuint)(pageSize - PageHeader.UnjournaledBytes), Checksum.Seed(seedBase, number));

    /// <summary>
    /// Returns the header of the checkpoint whose flush has stamped the data file, rebuilt from the records; null if they do not show it.
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

        // A flush that has only begun has no state yet, and only its header would say where the previous one ended.
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

    // Returns the position after the record of a transaction, or before that of the next one; the default if both are missing.
    private JournalPosition FindStart(long transactionId)
    {
        JournalPosition behind = default, before = default;
        ForEach((record, file) =>
        {
            if (record->Kind != RecordKind.Transaction)
                return;
            var at = new JournalPosition { Incarnation = file.Header.Incarnation, Epoch = file.Header.Epoch };
            if (record->TransactionId == transactionId)
                behind = at with { Offset = record->Offset + record->AlignedLength, Sequence = record->Sequence, Checksum = record->Checksum };
            else if (record->TransactionId == transactionId + 1)
                before = at with { Offset = record->Offset, Sequence = record->Sequence - 1, Checksum = record->PreviousChecksum };
        });
        return behind.Epoch != 0 ? behind : before;
    }

    private void ForEach(Visitor visit)
    {
        using var window = new RecordWindow(_memory);
        foreach (var file in _files)
        {
            var reader = new JournalFileReader(_disk, file, _environmentId, window);
            var end = Math.Min(reader.Length, _ends.GetValueOrDefault(file.Header.Incarnation, long.MaxValue));
            for (var offset = (long)JournalFormat.FirstRecordOffset; offset < end;)
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
