using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.IO;
using Voron.Journal;

namespace Voron.Recovery;

/// <summary>
/// Reads all journal files of a directory, each independently: its records, how far they are valid, and why they end there. Only recovery decides
/// which records count. Writes nothing.
/// </summary>
internal static unsafe class JournalSurvey
{
    private const long MemoryBytes = 64 << 20;

    /// <summary>Reads the files.</summary>
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="checkpoint">The header of the environment.</param>
    /// <param name="stop">Cancels the call.</param>
    /// <returns>The files in the order of their epochs, those without one last.</returns>
    /// <exception cref="DiskException">The directory cannot be listed.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static IReadOnlyList<SurveyedJournalFile> Read(IDisk disk, in CheckpointHeader checkpoint, CancellationToken stop)
    {
        var files = new List<SurveyedJournalFile>();
        foreach (var entry in disk.List())
        {
            if (JournalFile.IsName(entry.Name))
                files.Add(ReadHeader(disk, entry.Name, checkpoint));
        }

        using var temporary = TemporaryFiles.ForReader(NullLogger.Instance);
        using var window = new RecordWindow(new BlockMemory(MemoryBytes, temporary, account: null));
        foreach (var file in files)
        {
            if (file.Info is not { } info)
                continue;
            file.SealedAt = FindSeal(files, info.Header.Incarnation);
            var reader = new JournalFileReader(disk, info, checkpoint.EnvironmentId, window);
            try
            {
                ReadRecords(file, reader, stop);
            }
            catch (StorageAccessException e)
            {
                file.EndReason ??= e.Message;
            }
            finally
            {
                window.Leave();
            }
        }

        return [.. files.OrderBy(file => file.Info?.Header.Epoch ?? long.MaxValue).ThenBy(file => file.Name, StringComparer.Ordinal)];
    }

    private static SurveyedJournalFile ReadHeader(IDisk disk, string name, in CheckpointHeader checkpoint)
    {
        var bytes = 0L;
        try
        {
            using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
            bytes = file.Length;
            var info = JournalFileHeaderReader.Read(file, name, checkpoint.EnvironmentId, out var abandoned);
            if (info != null)
                return new SurveyedJournalFile(name, bytes) { Info = info, IsNeeded = info.IsLive(checkpoint.ReplayStart) };
            var reason = abandoned is { } epoch
                ? $"epoch {epoch.Number} has ended, and the next one has not begun"
                : JournalSign.IsBlank(file) ? "the file has no header: its creation was not finished" : "neither copy of its header is valid";
            return new SurveyedJournalFile(name, bytes) { EndReason = reason };
        }
        catch (Exception e) when (e is VoronException or DiskException)
        {
            return new SurveyedJournalFile(name, bytes) { EndReason = e.Message };
        }
    }

    private static long? FindSeal(List<SurveyedJournalFile> files, RandomId incarnation)
    {
        long? end = null;
        foreach (var file in files)
        {
            foreach (var seal in file.Info?.Seals ?? [])
            {
                if (seal.Incarnation == incarnation && !(end <= seal.EndOffset))
                    end = seal.EndOffset;
            }
        }

        return end;
    }

    // Continues after a break, block by block, because intact records there show whether something was lost.
    private static void ReadRecords(SurveyedJournalFile file, JournalFileReader reader, CancellationToken stop)
    {
        var offset = (long)JournalFormat.FirstRecordOffset;
        var (sequence, checksum) = (0L, 0UL);
        file.ValidBytes = offset;
        while (offset < reader.Length)
        {
            stop.ThrowIfCancellationRequested();
            var record = reader.TryRead(offset);
            if (record == null)
            {
                file.EndReason ??= DescribeBreak(file, reader, offset, sequence);
                offset += JournalFormat.Block;
                continue;
            }

            if (sequence != 0 && (record->Sequence != sequence + 1 || record->PreviousChecksum != checksum))
                file.EndReason ??= $"record {record->Sequence} at offset {offset} does not follow on record {sequence}";
            file.Records.Add(Describe(record, isBehindBreak: file.EndReason != null));
            (sequence, checksum) = (record->Sequence, record->Checksum);
            offset += record->AlignedLength;
            if (file.EndReason == null)
                file.ValidBytes = offset;
        }

        file.EndReason ??= "the file is full";
    }

    private static string DescribeBreak(SurveyedJournalFile file, JournalFileReader reader, long offset, long sequence)
    {
        var header = reader.Peek(offset);
        if (header == null)
            return "the file is full";
        if (header->Marker != JournalFormat.RecordMarker)
        {
            // A record that was cut in the middle may still contain the rest of its header.
            return header->Incarnation == file.Info!.Header.Incarnation && header->Offset == offset
                ? $"record {header->Sequence} is damaged, or was not finished: its marker is missing"
                : header->Marker == 0 ? "nothing follows" : "no record follows";
        }

        if (header->Incarnation != file.Info!.Header.Incarnation)
            return "nothing follows but a record of an earlier epoch";
        if (header->Offset != offset)
            return $"a record that belongs to offset {header->Offset} is in the place of the next one";
        return sequence != 0 && header->Sequence != sequence + 1
            ? $"a record of sequence {header->Sequence} is in the place of {sequence + 1}, and its checksum is wrong"
            : $"record {header->Sequence} is damaged, or was not finished: its checksum is wrong";
    }

    private static SurveyedRecord Describe(RecordHeader* record, bool isBehindBreak) => new()
    {
        Kind = record->Kind,
        Sequence = record->Sequence,
        Offset = record->Offset,
        TransactionId = record->TransactionId,
        CommitTime = record->State.CommitTime,
        Pages = record->EntryCount,
        Bytes = record->PayloadLength,
        StoredBytes = record->StoredLength,
        IsBehindBreak = isBehindBreak,
    };
}

/// <summary>A journal file as found in the directory.</summary>
internal sealed class SurveyedJournalFile(string name, long bytes)
{
    public string Name => name;

    public long Bytes => bytes;

    /// <summary>The header; null if the file has no valid one.</summary>
    public JournalFileInfo? Info { get; init; }

    /// <summary>Whether recovery reads the file, according to its epoch.</summary>
    public bool IsNeeded { get; init; }

    /// <summary>The offset after which recovery reads nothing, because a later file seals this one; null if none does.</summary>
    public long? SealedAt { get; set; }

    /// <summary>All intact records of the file's epoch.</summary>
    public List<SurveyedRecord> Records { get; } = [];

    /// <summary>The offset up to which the records are intact and contiguous.</summary>
    public long ValidBytes { get; set; }

    /// <summary>The reason why they end there.</summary>
    public string? EndReason { get; set; }
}

/// <summary>An intact record of a journal file.</summary>
internal readonly record struct SurveyedRecord
{
    public RecordKind Kind { get; init; }

    public long Sequence { get; init; }

    public long Offset { get; init; }

    /// <summary>The transaction; for a flush, the one whose state is flushed.</summary>
    public long TransactionId { get; init; }

    /// <summary>As in <see cref="EnvironmentState.CommitTime"/>.</summary>
    public long CommitTime { get; init; }

    /// <summary>The number of page entries.</summary>
    public long Pages { get; init; }

    /// <summary>The bytes of the payload, uncompressed.</summary>
    public long Bytes { get; init; }

    public long StoredBytes { get; init; }

    /// <summary>Whether the record follows the end of the valid records.</summary>
    public bool IsBehindBreak { get; init; }
}
