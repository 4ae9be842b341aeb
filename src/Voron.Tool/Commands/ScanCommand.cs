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
                var keys = range.RangeOf(parsed);
                var left = parsed.GetValue(limit);
                if (reading.TryOpenSets(parsed.GetRequiredValue(tree), out var sets))
                {
                    WriteSets(sets, keys, parsed.GetValue(reverse), left, output, stop);
                    return Task.FromResult(ExitCode.Done);
                }

                if (reading.TryOpenValueSets(parsed.GetRequiredValue(tree), out var valueSets))
                {
                    WriteValueSets(valueSets, keys, parsed.GetValue(reverse), left, output, stop);
                    return Task.FromResult(ExitCode.Done);
                }

                var entries = reading.Open(parsed.GetRequiredValue(tree), environment.Path);
                var chosen = parsed.GetValue(reverse) ? entries.Range(keys).Reverse() : entries.Range(keys);
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

    // A line for each key, with the number of its ids.
    private static void WriteSets(IdTree sets, KeyRange keys, bool isReverse, long left, ToolOutput output, CancellationToken stop)
    {
        using var cursor = sets.OpenCursor();
        var found = Seek(cursor, keys, isReverse);
        while (found && keys.Contains(cursor.Key))
        {
            stop.ThrowIfCancellationRequested();
            output.WriteText(output.Form == OutputForm.Json
                ? JsonLinesWriter.LineOfSet(cursor.Key, cursor.Count)
                : $"{KeyText.Format(cursor.Key)}\t{cursor.Count} ids");
            if (--left == 0)
                break;
            found = isReverse ? cursor.MovePrevious() : cursor.MoveNext();
        }
    }

    // A line for each key, with the number of its values.
    private static void WriteValueSets(ValueSetTree sets, KeyRange keys, bool isReverse, long left, ToolOutput output, CancellationToken stop)
    {
        using var cursor = sets.OpenCursor();
        var found = Seek(cursor, keys, isReverse);
        while (found && keys.Contains(cursor.Key))
        {
            stop.ThrowIfCancellationRequested();
            output.WriteText(output.Form == OutputForm.Json
                ? JsonLinesWriter.LineOfValueSet(cursor.Key, cursor.CountOfKey)
                : $"{KeyText.Format(cursor.Key)}\t{cursor.CountOfKey} values");
            if (--left == 0)
                break;
            found = isReverse ? cursor.MoveToPreviousKey() : cursor.MoveToNextKey();
        }
    }

    private static bool Seek(ValueSetCursor cursor, KeyRange keys, bool isReverse)
    {
        var bound = isReverse ? keys.End : keys.Start;
        if (isReverse ? bound.IsEnd : bound.IsStart)
            return isReverse ? cursor.SeekLast() : cursor.SeekFirst();
        if (bound.IsEnd || bound.IsStart)
            return false;
        var key = new byte[bound.Length];
        bound.CopyTo(key);
        if (!isReverse)
            return cursor.Seek(key);
        return cursor.SeekForPrevious(key) && (bound.IsAfter(cursor.Key) || cursor.MoveToPreviousKey());
    }

    private static bool Seek(IdKeyCursor cursor, KeyRange keys, bool isReverse)
    {
        var bound = isReverse ? keys.End : keys.Start;
        if (isReverse ? bound.IsEnd : bound.IsStart)
            return isReverse ? cursor.SeekLast() : cursor.SeekFirst();
        if (bound.IsEnd || bound.IsStart)
            return false;
        var key = new byte[bound.Length];
        bound.CopyTo(key);
        if (!isReverse)
            return cursor.Seek(key);
        return cursor.SeekForPrevious(key) && (bound.IsAfter(cursor.Key) || cursor.MovePrevious());
    }

    private static string Shorten(ReadOnlySpan<byte> value) => value.Length <= ShownValueBytes
        ? KeyText.Format(value)
        : $"{KeyText.Format(value[..ShownValueBytes])}... ({value.Length} bytes)";
}
