using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Makes the data file of an environment as short as its content, in place or in another directory.</summary>
internal static class CompactCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var to = new Option<string?>("--to")
        {
            Description = "Writes a compact copy into this directory instead, which must be empty or missing, and changes nothing.",
        };
        var write = ToolContext.WriteOption();
        var command = new Command("compact", "Returns the free space of an environment to the file system.") { directory, to, write };
        return command.Runs(async (parsed, output, stop) =>
        {
            var (source, target) = (parsed.GetRequiredValue(directory), parsed.GetValue(to));
            if (target is not null)
                ToolContext.RefuseWithin(source, target);
            using var environment = target is null
                ? ToolContext.OpenToWrite(source, parsed.GetValue(write))
                : ToolContext.OpenToRead(source);
            var report = await ToolProgress.ShowAsync("compact", progress =>
            {
                var options = new CompactionOptions { Progress = progress };
                return target is null ? environment.CompactAsync(options, stop).AsTask() : environment.CompactToAsync(target, options, stop).AsTask();
            }).ConfigureAwait(false);
            output.WriteFacts(
            [
                ("bytes before", report.BytesBefore), ("bytes after", report.BytesAfter), ("bytes used", report.UsedBytes),
                ("bytes moved", report.BytesMoved), ("values left", report.ValuesLeft), ("complete", report.IsComplete),
                ("seconds", report.Duration.TotalSeconds),
            ]);
            return ExitCode.Done;
        });
    }
}
