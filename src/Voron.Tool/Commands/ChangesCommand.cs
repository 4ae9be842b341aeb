using System.CommandLine;
using System.Runtime.CompilerServices;
using Voron.ChangeTracking;
using Voron.Format;

namespace Voron.Tool.Commands;

/// <summary>Shows the change log of an environment, by which incremental backups know which pages have changed.</summary>
internal static class ChangesCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var command = new Command("changes", "Shows the change log of an environment: which pages flushes have changed, and on which backups others can build.")
        {
            directory,
        };
        return command.Runs((parsed, output, stop) =>
        {
            using var files = ToolContext.OpenFiles(parsed.GetRequiredValue(directory));
            var survey = ChangeLogSurvey.Read(files.Disk, files.Header, stop);
            var log = survey.Log;
            var problem = ProblemOf(survey, files.Header);
            output.WriteFacts(
                [
                    ("path", files.Disk.Path),
                    ("log", survey.Condition switch { ChangeLogCondition.None => "none", ChangeLogCondition.Complete => "complete", _ => "lost" }),
                    ("file", log?.Name),
                    ("bytes", log?.Bytes),
                    ("used bytes", log == null ? null : log.Entries.LastOrDefault(entry => entry.Counts) is { } last ? End(last) : 0),
                    ("since", survey.Since),
                    ("checkpoint transaction", files.Header.State.TransactionId),
                    ("problem", problem),
                ],
                [EntriesOf(log), PointsOf(survey), FilesOf(survey)]);
            return Task.FromResult(problem == null ? ExitCode.Done : ExitCode.Problems);
        });
    }

    private static long End(SurveyedChangeLogEntry entry) => new ChangeLogPlace(entry.Header, entry.Offset).End;

    private static string? ProblemOf(ChangeLogSurvey survey, in CheckpointHeader header)
    {
        if (survey.Condition == ChangeLogCondition.Lost)
        {
            return $"No file contains the entry {header.ChangeLogEntry:X16} that the header names, and all entries before it. The next opening for writing ends " +
                "the log, and the next backup is a full one.";
        }

        return survey.Log?.Entries.FirstOrDefault(entry => entry.Counts && entry.Fault != null)?.Fault;
    }

    private static ToolRows EntriesOf(SurveyedChangeLogFile? log)
    {
        var rows = new List<object?[]>();
        foreach (var entry in log?.Entries ?? [])
        {
            var header = entry.Header;
            var isOfPages = header.Kind is ChangeLogEntryKind.Flush or ChangeLogEntryKind.Direct;
            rows.Add(
            [
                header.Sequence, header.Kind.ToString().ToLowerInvariant(), header.From, header.To, isOfPages ? entry.Pages : null,
                isOfPages ? header.Count : null, header.Kind == ChangeLogEntryKind.Points ? header.Count : null, header.Checkpoint,
                ChangeLogPlace.LengthOf(header.PayloadBytes), entry.Offset, entry.Counts, header.Replaces != 0, entry.Fault,
            ]);
        }

        return new(
            "entries",
            ["entry", "kind", "after", "to", "pages", "runs", "points", "checkpoint", "bytes", "offset", "counts", "merged", "problem"], rows);
    }

    private static ToolRows PointsOf(ChangeLogSurvey survey)
    {
        var rows = from entry in survey.Log?.Entries ?? []
                   where entry.Counts
                   from point in entry.Points
                   select new object?[] { IdOf(point.BackupId), point.TransactionId, point.TransactionId >= survey.Since };
        return new("backups", ["backup", "transaction", "can be built on"], [.. rows]);
    }

    private static ToolRows FilesOf(ChangeLogSurvey survey)
    {
        var rows = survey.Files.Where(file => !ReferenceEquals(file, survey.Log))
            .Select(file => new object?[] { file.Name, file.Bytes, file.Entries.Count, file.End, file.Failure });
        return new("others", ["other file", "bytes", "entries", "end", "problem"], [.. rows]);
    }

    // As backups name themselves.
    private static string IdOf(RandomId id) => Unsafe.BitCast<RandomId, Guid>(id).ToString();
}
