using System.CommandLine;
using Voron.Tool.Dumps;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Lists entries of a tree.</summary>
internal static class ScanCommand
{
    private const int ShownValueBytes = 60;

    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument();
        var range = new KeyRangeOptions();
        var limit = new Option<long>("--limit") { Description = "The most entries; 0 for all of them.", DefaultValueFactory = _ => 100 }.NotNegative();
        var reverse = new Option<bool>("--reverse") { Description = "Begins with the last key." };
        var command = new Command("scan", "Lists entries of a tree in the order of their keys.") { tree };
        range.AddTo(command);
        command.Options.Add(limit);
        command.Options.Add(reverse);
        return access.AddTo(command)
            .Runs((parsed, output, stop) =>
            {
                using var opened = access.OpenToRead(parsed);
                var environment = opened.Environment;
                using var reading = environment.BeginRead();
                var entries = reading.Open(parsed.GetRequiredValue(tree), environment.Path);
                var keys = range.RangeOf(parsed);
                var chosen = parsed.GetValue(reverse) ? entries.Range(keys).Reverse() : entries.Range(keys);
                var left = parsed.GetValue(limit);
                foreach (var entry in chosen)
                {
                    stop.ThrowIfCancellationRequested();
                    if (output.Form == OutputForm.Json)
                        output.WriteText(JsonLinesWriter.Line(entry.Key, entry.Value));
                    else
                        output.WriteText($"{KeyText.Format(entry.Key)}\t{Shorten(entry.Value)}");
                    if (--left == 0)
                        break;
                }

                return Task.FromResult(ExitCode.Done);
            });
    }

    private static string Shorten(ReadOnlySpan<byte> value) => value.Length <= ShownValueBytes
        ? KeyText.Format(value)
        : $"{KeyText.Format(value[..ShownValueBytes])}... ({value.Length} bytes)";
}
