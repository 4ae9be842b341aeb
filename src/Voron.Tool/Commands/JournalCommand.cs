using System.CommandLine;
using Voron.Format;
using Voron.Journal;
using Voron.Opening;
using Voron.Recovery;

namespace Voron.Tool.Commands;

/// <summary>Shows the journal files of an environment, and what recovery makes of them.</summary>
internal static class JournalCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var transactions = new Option<bool>("--transactions") { Description = "Lists each record: transactions, and what flushes have left." };
        var command = new Command("journal", "Shows the journal files of an environment, how far they are valid, and what recovery replays.")
        {
            directory, transactions,
        };
        return command.Runs((parsed, output, stop) =>
        {
            // The lock stays, so that both see the same files.
            using var files = ToolContext.OpenFiles(parsed.GetRequiredValue(directory));
            var journal = JournalSurvey.Read(files.Disk, files.Header, stop);
            var (recovered, failure) = Recover(parsed.GetRequiredValue(directory));
            var lists = new List<ToolRows> { FilesOf(journal) };
            if (parsed.GetValue(transactions))
                lists.Add(RecordsOf(journal, files.Header, recovered));
            output.WriteFacts([.. HeaderFacts(files), .. RecoveryFacts(recovered, failure)], lists);
            return Task.FromResult(failure == null ? ExitCode.Done : Failures.CodeOf(failure));
        });
    }

    // Recovery decides by more than the journal: by values and pages in the data file that records name.
    private static (RecoveryResult? Recovered, VoronException? Failure) Recover(string directory)
    {
        try
        {
            using var environment = ToolContext.OpenToRead(directory);
            return (environment.Internals.Recovered, null);
        }
        catch (VoronException e)
        {
            return (null, e);
        }
    }

    private static IEnumerable<(string, object?)> HeaderFacts(EnvironmentFiles files)
    {
        var header = files.Header;
        return
        [
            ("path", files.Disk.Path),
            ("format version", (int)header.Version),
            ("checkpoint", header.CheckpointNumber),
            ("checkpoint transaction", header.State.TransactionId),
            ("checkpoint time", TimeOf(header.State.CommitTime)),
            ("closed cleanly", (header.Flags & CheckpointFlags.ClosedCleanly) != 0),
            ("replay start epoch", header.ReplayStart.Epoch),
            ("replay start offset", header.ReplayStart.Offset),
            ("replay start record", header.ReplayStart.Sequence),
            ("snapshot", header.JournalSnapshotNumber == 0 ? null : JournalSnapshotFile.NameOf(header.JournalSnapshotNumber)),
            ("snapshot transaction", header.JournalSnapshotNumber == 0 ? null : header.JournalSnapshotTransactionId),
            ("snapshot bytes", header.JournalSnapshotNumber == 0 ? null : header.JournalSnapshotLength),
        ];
    }

    private static IEnumerable<(string, object?)> RecoveryFacts(RecoveryResult? recovered, VoronException? failure) =>
    [
        ("recovered transaction", recovered?.State.TransactionId),
        ("recovered time", TimeOf(recovered?.State.CommitTime ?? 0)),
        ("replayed records", recovered?.ReplayedRecords),
        ("replayed bytes", recovered?.ReplayedBytes),
        ("dropped records", recovered?.Dropped is { } tail ? tail.WholeRecords + tail.BrokenRecords : null),
        ("dropped from", recovered?.Dropped is { } dropped ? $"{Path.GetFileName(dropped.Path)}, offset {dropped.Offset}" : null),
        ("recovery fails", failure?.Message),
    ];

    private static ToolRows FilesOf(IReadOnlyList<SurveyedJournalFile> journal)
    {
        var rows = new List<object?[]>();
        foreach (var file in journal)
        {
            var valid = file.Records.Where(record => !record.IsBehindBreak).ToList();
            var transactions = valid.Where(record => record.Kind == RecordKind.Transaction).ToList();
            rows.Add(
            [
                file.Name, file.Info?.Header.Epoch, file.Bytes, file.IsNeeded, valid.Count, transactions.Count,
                transactions.Count == 0 ? null : transactions[0].TransactionId, transactions.Count == 0 ? null : transactions[^1].TransactionId,
                file.Info == null ? null : file.ValidBytes, file.SealedAt, file.EndReason, file.Records.Count - valid.Count,
            ]);
        }

        return new(
            "files",
            [
                "file", "epoch", "bytes", "needed", "records", "transactions", "first transaction", "last transaction", "valid bytes", "sealed at",
                "ends because", "records behind",
            ],
            rows);
    }

    private static ToolRows RecordsOf(IReadOnlyList<SurveyedJournalFile> journal, in CheckpointHeader header, RecoveryResult? recovered)
    {
        var start = header.ReplayStart.Sequence;
        var rows = new List<object?[]>();
        foreach (var file in journal)
        {
            foreach (var record in file.Records)
            {
                rows.Add(
                [
                    record.TransactionId == 0 ? null : record.TransactionId, NameOf(record.Kind), TimeOf(record.CommitTime), record.Pages,
                    record.Bytes, record.StoredBytes, IsReplayed(record, file, start, recovered), file.Name, record.Offset, record.Sequence,
                ]);
            }
        }

        return new("records", ["transaction", "kind", "time", "pages", "bytes", "stored bytes", "replayed", "file", "offset", "record"], rows);
    }

    private static bool IsReplayed(in SurveyedRecord record, SurveyedJournalFile file, long start, RecoveryResult? recovered)
    {
        if (record.Sequence <= start || recovered == null)
            return false;
        var end = Array.Find(recovered.Ends, end => end.Incarnation == file.Info!.Header.Incarnation);
        return end.Epoch != 0 && record.Sequence <= end.LastSequence && record.Offset < end.EndOffset;
    }

    private static string NameOf(RecordKind kind) => kind switch
    {
        RecordKind.Transaction => "transaction",
        RecordKind.FlushList => "flush list",
        RecordKind.FlushImages => "flush images",
        RecordKind.DurabilityMarker => "durability marker",
        _ => $"kind {(int)kind}",
    };

    private static DateTimeOffset? TimeOf(long commitTime) =>
        commitTime > 0 && commitTime <= DateTimeOffset.MaxValue.Ticks ? new DateTimeOffset(commitTime, TimeSpan.Zero) : null;
}
