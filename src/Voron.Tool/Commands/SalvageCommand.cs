using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Brings what is left of a damaged environment to a new one.</summary>
internal static class SalvageCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var to = new Argument<string>("TO") { Description = "The directory of the new environment, which must be empty or missing." };
        var stale = new Option<bool>("--include-stale")
        {
            Description = "Takes entries of pages that are not in use, too: perhaps deleted, or older. They come into trees that begin with lost+found.",
        };
        var newest = new Option<bool>("--take-newest")
        {
            Description = "Continues behind a hole of the journal, so that trees may mix several states.",
        };
        var command = new Command("salvage", "Brings what is left of a damaged environment to a new one.") { directory, to, stale, newest };
        return command.Runs(async (parsed, output, stop) =>
        {
            var (source, target) = (parsed.GetRequiredValue(directory), parsed.GetRequiredValue(to));
            ToolContext.RefuseWithin(source, target);
            var report = await ToolProgress.ShowAsync("salvage", progress =>
            {
                var options = new SalvageOptions
                {
                    IncludeStale = parsed.GetValue(stale),
                    TakeNewest = parsed.GetValue(newest),
                    Progress = progress,
                };
                return Salvage.RunAsync(source, target, options, stop).AsTask();
            }).ConfigureAwait(false);
            if (output.Form == OutputForm.Json)
                output.WriteText(ToJson(report));
            else
                output.WriteText(ToText(report));
            return report.HasLosses || report.DamageCount > 0 ? ExitCode.Problems : ExitCode.Done;
        });
    }

    private static string ToText(SalvageReport report)
    {
        using var text = new StringWriter();
        report.WriteText(text);
        return text.ToString().TrimEnd();
    }

    private static string ToJson(SalvageReport report)
    {
        using var json = new MemoryStream();
        report.WriteJson(json);
        return System.Text.Encoding.UTF8.GetString(json.ToArray());
    }
}
