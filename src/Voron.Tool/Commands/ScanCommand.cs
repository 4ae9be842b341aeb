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
        var from = new Option<string?>("--from") { Description = "The first key." };
        var to = new Option<string?>("--to") { Description = "The key before which the list ends." };
        var prefix = new Option<string?>("--prefix") { Description = "The beginning of all keys." };
        var limit = new Option<long>("--limit") { Description = "The most entries; 0 for all of them.", DefaultValueFactory = _ => 100 }.NotNegative();
        var reverse = new Option<bool>("--reverse") { Description = "Begins with the last key." };
        return access.AddTo(new Command("scan", "Lists entries of a tree in the order of their keys.") { tree, from, to, prefix, limit, reverse })
            .Runs((parsed, output, stop) =>
            {
                using var opened = access.OpenToRead(parsed);
                var environment = opened.Environment;
                using var reading = environment.BeginRead();
                var entries = reading.Open(parsed.GetRequiredValue(tree), environment.Path);
                var keys = KeyRange.All;
                if (parsed.GetValue(prefix) is { } begins)
                    keys = keys.Intersect(KeyRange.Prefix(KeyText.Parse(begins)));
                if (parsed.GetValue(from) is { } first)
                    keys = keys.Intersect(KeyRange.From(KeyText.Parse(first)));
                if (parsed.GetValue(to) is { } end)
                    keys = keys.Intersect(KeyRange.Before(KeyText.Parse(end)));
                var range = parsed.GetValue(reverse) ? entries.Range(keys).Reverse() : entries.Range(keys);
                var left = parsed.GetValue(limit);
                foreach (var entry in range)
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
