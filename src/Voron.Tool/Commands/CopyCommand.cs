using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Copies an environment into another directory.</summary>
internal static class CopyCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var to = new Argument<string>("TO") { Description = "The directory of the copy, which must be empty or missing." };
        return new Command("copy", "Copies an environment into another directory, where it can be opened at once.") { directory, to }.Runs(
            async (parsed, output, stop) =>
            {
                ToolContext.RefuseWithin(parsed.GetRequiredValue(directory), parsed.GetRequiredValue(to));
                using var environment = ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
                var report = await ToolProgress.ShowAsync("copy", progress => environment.CopyToAsync(
                    parsed.GetRequiredValue(to), new CopyOptions { Progress = progress }, stop).AsTask()).ConfigureAwait(false);
                output.WriteFacts(BackupCommand.Facts(report));
                return ExitCode.Done;
            });
    }
}
