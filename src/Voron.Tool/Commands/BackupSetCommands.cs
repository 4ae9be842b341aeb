using System.CommandLine;
using System.Globalization;
using Voron.Backup;

namespace Voron.Tool.Commands;

/// <summary>Looks after sets of backups. No environment is opened.</summary>
internal static class BackupSetCommands
{
    private const int MaxDays = 100 * 366;

    public static Command CreateList()
    {
        var set = SetArgument();
        return new Command("list", "Lists the backups of a set, and what each needs to be restored.") { set }.Runs(async (parsed, output, stop) =>
        {
            var entries = await OpenFilled(parsed.GetRequiredValue(set)).ListAsync(stop).ConfigureAwait(false);
            output.WriteRows(
                "backups", ["file", "id", "parent", "transaction", "time", "bytes", "files needed", "note", "problem"],
                [
                    .. entries.Select(entry => new object?[]
                    {
                        Path.GetFileName(entry.File), entry.Info?.BackupId.ToString(), entry.Info?.ParentId?.ToString(), entry.Info?.TransactionId,
                        entry.Info?.Time, entry.Info?.Bytes, entry.Chain.Count, entry.Info?.Note, entry.Problem ?? WrongTime(entry.Info),
                    }),
                ]);
            return entries.Any(entry => entry.Problem != null) ? ExitCode.Problems : ExitCode.Done;
        });
    }

    // Nothing that keeps the backup from being restored.
    private static string? WrongTime(BackupInfo? info) => info is { IsTimeWrong: true }
        ? string.Create(CultureInfo.InvariantCulture, $"A clock was wrong: the state is later than the backup, which counts as one of {info.FinishedAt:u}.")
        : null;

    public static Command CreateVerify()
    {
        var path = new Argument<string>("FILE-OR-SET") { Description = "A backup, or the directory of a set." };
        return new Command("verify", "Reads backups, and checks all that they say of themselves.") { path }.Runs(async (parsed, output, stop) =>
        {
            var given = parsed.GetRequiredValue(path);
            IEnumerable<(string File, string? Problem)> files = [(given, null)];
            if (Directory.Exists(given))
                files = (await OpenFilled(given).ListAsync(stop).ConfigureAwait(false)).Select(entry => (entry.File, entry.Problem));
            else
                ToolContext.RequireFiles([given]);
            var rows = new List<object?[]>();
            var code = ExitCode.Done;
            foreach (var (file, problem) in files)
            {
                try
                {
                    var info = await BackupFile.VerifyAsync(file, stop).ConfigureAwait(false);
                    rows.Add([Path.GetFileName(file), info.BackupId.ToString(), info.Pages, info.Bytes, problem]);
                    if (problem is not null && code == ExitCode.Done)
                        code = ExitCode.TargetNotReached;
                }
                catch (Exception e) when (e is VoronException or IOException or UnauthorizedAccessException)
                {
                    rows.Add([Path.GetFileName(file), null, null, null, e.Message]);
                    code = Failures.CodeOf(e);
                }
            }

            output.WriteRows("backups", ["file", "id", "pages", "bytes", "problem"], rows);
            return code;
        });
    }

    public static Command CreateMerge()
    {
        var set = SetArgument();
        return new Command("merge", "Makes one full backup out of the newest one and all that it builds on. Nothing is deleted.") { set }.Runs(
            async (parsed, output, stop) =>
            {
                var merged = await OpenFilled(parsed.GetRequiredValue(set)).MergeAsync(stop).ConfigureAwait(false);
                output.WriteFacts(
                [
                    ("id", merged.BackupId.ToString()), ("transaction", merged.TransactionId), ("pages", merged.Pages), ("bytes", merged.Bytes),
                ]);
                return ExitCode.Done;
            });
    }

    public static Command CreatePrune()
    {
        var set = SetArgument();
        var keep = new Option<int>("--keep-full")
        {
            Description = "The number of full backups to keep, with all that build on them; at least 1.",
            Required = true,
        };
        var days = new Option<double>("--keep-days") { Description = "The age in days below which a backup is kept." };
        var dry = new Option<bool>("--dry-run") { Description = "Deletes nothing, and lists what would be deleted." };
        return new Command("prune", "Deletes old chains of backups.") { set, keep, days, dry }.Runs(async (parsed, output, stop) =>
        {
            var (full, age) = (parsed.GetRequiredValue(keep), parsed.GetValue(days));
            if (full < 1 || age is not (>= 0 and <= MaxDays))
                throw new ToolException(ExitCode.Usage, $"--keep-full must be at least 1, and --keep-days between 0 and {MaxDays}.");
            var report = await OpenFilled(parsed.GetRequiredValue(set))
                .PruneAsync(full, TimeSpan.FromDays(age), parsed.GetValue(dry), stop).ConfigureAwait(false);
            output.WriteRows("deleted", ["file"], [.. report.Deleted.Select(file => new object?[] { Path.GetFileName(file) })]);
            return ExitCode.Done;
        });
    }

    // An empty directory is more likely a path that is wrong, or not mounted, than a set.
    private static BackupSet OpenFilled(string directory)
    {
        if (!Directory.Exists(directory) || !Directory.EnumerateFiles(directory, BackupShelf.Pattern).Any())
            throw new ToolException(ExitCode.NothingThere, $"There are no backups in '{directory}'.");
        return BackupSet.Open(directory);
    }

    private static Argument<string> SetArgument() => new("SET") { Description = "The directory of the backups." };
}
