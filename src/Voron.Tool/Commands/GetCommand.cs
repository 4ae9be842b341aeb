using System.CommandLine;
using Voron.Tool.Dumps;
using Voron.Tool.Shell;
using Voron.Tool.Streams;

namespace Voron.Tool.Commands;

/// <summary>Shows the value of a key, or the ids or values of its set.</summary>
internal static class GetCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var tree = ToolContext.TreeArgument();
        var key = ToolContext.KeyArgument();
        var raw = new Option<bool>("--raw") { Description = "Writes the bytes of the value as they are." };
        return access.AddTo(new Command("get", "Shows the value of a key, or the ids or values of its set.") { tree, key, raw }).Runs((parsed, output, stop) =>
        {
            using var opened = access.OpenToRead(parsed);
            var environment = opened.Environment;
            using var reading = environment.BeginRead();
            var bytes = KeyText.Parse(parsed.GetRequiredValue(key));
            ToolException Missing() => new(ExitCode.NothingThere, $"The tree '{parsed.GetValue(tree)}' has no key '{parsed.GetValue(key)}'.");
            if (reading.TryOpenSets(parsed.GetRequiredValue(tree), out var sets))
            {
                if (parsed.GetValue(raw))
                    throw new ToolException(ExitCode.Usage, $"The tree '{parsed.GetValue(tree)}' has sets of ids, which have no bytes to write with --raw.");
                return Task.FromResult(WriteIds(sets, bytes, output, stop) ? ExitCode.Done : throw Missing());
            }

            if (reading.TryOpenValueSets(parsed.GetRequiredValue(tree), out var valueSets))
            {
                if (parsed.GetValue(raw))
                    throw new ToolException(ExitCode.Usage, $"The tree '{parsed.GetValue(tree)}' has sets of values, which --raw cannot tell apart.");
                return Task.FromResult(WriteValues(valueSets, bytes, output, stop) ? ExitCode.Done : throw Missing());
            }

            var value = reading.Open(parsed.GetRequiredValue(tree), environment.Path).Get(bytes) ?? throw Missing();
            if (parsed.GetValue(raw))
            {
                using var stream = StandardStreams.OpenOutput();
                stream.Write(value);
            }
            else if (output.Form == OutputForm.Json)
            {
                output.WriteText(JsonLinesWriter.Line(bytes, value));
            }
            else
            {
                output.WriteText(KeyText.Format(value));
            }

            return Task.FromResult(ExitCode.Done);
        });
    }

    // A line for each id, with its payload. Returns false if there is no such key.
    private static bool WriteIds(IdTree sets, ReadOnlySpan<byte> key, ToolOutput output, CancellationToken stop)
    {
        using var cursor = sets.OpenIds(key);
        var isThere = false;
        while (cursor.MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            isThere = true;
            output.WriteText(output.Form == OutputForm.Json ? JsonLinesWriter.LineOfId(cursor.Id, cursor.Payload) : $"{cursor.Id}\t{cursor.Payload}");
        }

        return isThere;
    }

    // A line for each value. Returns false if there is no such key.
    private static bool WriteValues(ValueSetTree sets, ReadOnlySpan<byte> key, ToolOutput output, CancellationToken stop)
    {
        using var cursor = sets.OpenValues(key);
        var isThere = false;
        while (cursor.MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            isThere = true;
            output.WriteText(output.Form == OutputForm.Json ? JsonLinesWriter.Line(key, cursor.Value) : KeyText.Format(cursor.Value));
        }

        return isThere;
    }
}
