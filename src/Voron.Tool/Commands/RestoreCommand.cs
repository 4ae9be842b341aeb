using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Restores an environment from backups.</summary>
internal static class RestoreCommand
{
    public static Command Create()
    {
        var from = new Argument<string>("FROM") { Description = "A full backup, the directory of a set, or - for standard input." };
        var to = new Argument<string>("TO") { Description = "The directory of the environment, which must be empty or missing." };
        var then = new Option<string[]>("--then")
        {
            Description = "With a file: an incremental backup that follows it. Given once for each, oldest first.",
        };
        var time = new Option<DateTimeOffset?>("--time")
        {
            Description = "With a set: the newest backup whose state is not later than this, in local time if no zone is given.",
            CustomParser = ParseTime,
        };
        var unverified = new Option<bool>("--no-verify") { Description = "Does not verify the restored environment." };
        var command = new Command("restore", "Restores an environment from backups.") { from, to, then, time, unverified };
        command.Validators.Add(given =>
        {
            var source = given.GetResult(from) is { Tokens: [var token] } ? token.Value : "";
            var isSet = Directory.Exists(source);
            if (given.GetResult(then) is not null && (isSet || source == "-"))
                given.AddError("--then follows a backup file. A set knows what follows, and standard input has one backup.");
            if (given.GetResult(time) is not null && !isSet)
                given.AddError("--time chooses among the backups of a set, and FROM is not the directory of one.");
        });
        return command.Runs(async (parsed, output, stop) =>
        {
            var (source, target) = (parsed.GetRequiredValue(from), parsed.GetRequiredValue(to));
            if (source != "-" && !Directory.Exists(source))
                ToolContext.RequireFiles([source, .. parsed.GetValue(then) ?? []]);
            var report = await ToolProgress.ShowAsync("restore", progress =>
            {
                var options = new RestoreOptions { VerifyRestored = !parsed.GetValue(unverified), Progress = progress };
                if (source == "-")
                    return RestoreInputAsync(target, options, stop);
                return Directory.Exists(source)
                    ? BackupSet.Open(source).RestoreAsync(target, parsed.GetValue(time), options, stop).AsTask()
                    : BackupFile.RestoreAsync([source, .. parsed.GetValue(then) ?? []], target, options, stop).AsTask();
            }).ConfigureAwait(false);
            output.WriteFacts(
            [
                ("backup", report.Backup.BackupId.ToString()), ("transaction", report.Backup.TransactionId), ("time", report.Backup.Time),
                ("pages", report.Pages), ("entries", report.Verification?.Entries), ("seconds", report.Duration.TotalSeconds),
            ]);
            return ExitCode.Done;
        });
    }

    // Times as this tool shows them, too.
    private static DateTimeOffset? ParseTime(ArgumentResult given)
    {
        var text = given.Tokens is [var token] ? token.Value : "";
        if (text.EndsWith(" UTC", StringComparison.Ordinal))
            text = text[..^" UTC".Length] + "Z";
        if (DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeLocal, out var time))
            return time;
        given.AddError($"'{text}' is no time. One is '2026-11-25 22:04:14.8 UTC', and '2026-11-25T22:04:14+01:00' another.");
        return null;
    }

    private static async Task<RestoreReport> RestoreInputAsync(string target, RestoreOptions options, CancellationToken stop)
    {
        using var input = StandardStreams.OpenInput();
        return await BackupFile.RestoreAsync(input, target, options, stop).ConfigureAwait(false);
    }
}
