using System.CommandLine;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Backs up an environment that no other process has open.</summary>
internal static class BackupCommand
{
    private const int BytesPerMegabyte = 1_000_000;

    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var to = new Argument<string>("FILE")
        {
            Description = "A new file; or the directory of a set, which exists or ends in a slash, and opens the environment for writing; - for standard output.",
        };
        var full = new Option<bool>("--full") { Description = "With a set: copies everything, not only what has changed since the newest backup." };
        var since = new Option<Guid?>("--since")
        {
            Description = "With a file: the id of a backup to build on. Only what has changed since is copied. Opens the environment for writing.",
        };
        var isBase = new Option<bool>("--base")
        {
            Description = "Lets later backups build on this one, as those of a set can. Opens the environment for writing.",
        };
        var rate = new Option<long>("--rate") { Description = "The most MB to read in a second; 0 for as many as the device reads." }
            .NotNegative().AtMost(long.MaxValue / BytesPerMegabyte);
        var plain = new Option<bool>("--no-compression") { Description = "Does not compress the pages." };
        var values = new Option<bool>("--verify-values") { Description = "Verifies large values, too, which reads them once more." };
        var note = new Option<string?>("--note") { Description = "A text to store in the backup." };
        var command = new Command("backup", "Backs up an environment to a file or into a set of backups, and looks after such sets.")
        {
            directory, to, full, since, isBase, rate, plain, values, note,
            BackupSetCommands.CreateList(), BackupSetCommands.CreateVerify(), BackupSetCommands.CreateMerge(), BackupSetCommands.CreatePrune(),
        };
        command.Validators.Add(given =>
        {
            var isSet = given.GetResult(to) is { Tokens: [var target] } && IsSet(target.Value);
            if (isSet && given.GetResult(since) is not null)
                given.AddError("--since is for a backup file. A set knows what to build on.");
            if (!isSet && given.GetResult(full) is not null)
                given.AddError("--full is for a set. A backup file is a full one without --since.");
        });
        return command.Runs(async (parsed, output, stop) =>
        {
            var target = parsed.GetRequiredValue(to);
            var isSet = IsSet(target);
            if (target != "-")
                ToolContext.RefuseWithin(parsed.GetRequiredValue(directory), target);
            var writes = isSet || parsed.GetValue(isBase) || parsed.GetValue(since) != null;
            using var environment = writes
                ? ToolContext.OpenToWrite(parsed.GetRequiredValue(directory), isAllowed: true)
                : ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
            var report = await ToolProgress.ShowAsync("backup", progress =>
            {
                var options = new BackupOptions
                {
                    Since = parsed.GetValue(since),
                    IsBase = isSet || parsed.GetValue(isBase),
                    MaxBytesPerSecond = parsed.GetValue(rate) * BytesPerMegabyte,
                    Compress = !parsed.GetValue(plain),
                    VerifyValues = parsed.GetValue(values),
                    Note = parsed.GetValue(note),
                    Progress = progress,
                };
                if (target == "-")
                    return BackUpToOutputAsync(environment, options, stop);
                return isSet
                    ? BackupSet.Open(target).BackupAsync(
                        environment, parsed.GetValue(full) ? BackupKind.Full : BackupKind.Incremental, options, stop).AsTask()
                    : environment.BackupAsync(target, options, stop).AsTask();
            }).ConfigureAwait(false);
            (target == "-" ? output.ForErrors() : output).WriteFacts(Facts(report));
            return ExitCode.Done;
        });
    }

    /// <summary>Returns what a report says.</summary>
    public static IReadOnlyList<(string Name, object? Value)> Facts(BackupReport report) =>
    [
        ("id", report.BackupId == Guid.Empty ? null : report.BackupId.ToString()),
        ("parent", report.ParentId?.ToString()),
        ("can be built on", report.IsBase),
        ("transaction", report.TransactionId),
        ("time", report.Time),
        ("pages", report.Pages),
        ("bytes", report.Bytes),
        ("seconds", report.Duration.TotalSeconds),
    ];

    private static bool IsSet(string target) => target != "-" && (Path.EndsInDirectorySeparator(target) || Directory.Exists(target));

    private static async Task<BackupReport> BackUpToOutputAsync(StorageEnvironment environment, BackupOptions options, CancellationToken stop)
    {
        using var target = StandardStreams.OpenOutput();
        return await environment.BackupAsync(target, options, stop).ConfigureAwait(false);
    }
}
