using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Contents;

/// <summary>A tree of value sets.</summary>
internal sealed class ValueContent(ValueSetTree tree) : Content
{
    public override DumpSection Section => new(tree.Name, TreeKind.ValueSets);

    /// <summary>A line for each value.</summary>
    public override bool Show(string key, EntryOutput output)
    {
        var bytes = KeyText.Parse(key);
        using var values = tree.OpenValues(bytes);
        var isThere = false;
        while (values.MoveNext())
        {
            isThere = true;
            if (!output.Write(output.IsJson ? JsonLinesWriter.Line(bytes, values.Value) : KeyText.Format(values.Value)))
                break;
        }

        return isThere;
    }

    /// <summary>A line for each key, with the number of its values.</summary>
    public override void List(KeyBounds keys, EntryOutput output)
    {
        var range = keys.ToRange(KeyText.Parse);
        using var cursor = tree.OpenCursor();
        var found = Seek(cursor, range, output.IsReversed);
        while (found && range.Contains(cursor.Key))
        {
            var line = output.IsJson
                ? JsonLinesWriter.LineOfValueSet(cursor.Key, cursor.CountOfKey)
                : $"{KeyText.Format(cursor.Key)}\t{cursor.CountOfKey} values";
            if (!output.Write(line))
                break;
            found = output.IsReversed ? cursor.MoveToPreviousKey() : cursor.MoveToNextKey();
        }
    }

    public override void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop)
    {
        var range = keys.ToRange(KeyText.Parse);
        using var cursor = tree.OpenCursor();
        for (var found = Seek(cursor, range, isReversed: false); found && range.Contains(cursor.Key); found = cursor.MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            dump.Write(cursor.Key, cursor.Value);
        }
    }

    public override byte[]? Read(string key) =>
        throw new ToolException(ExitCode.Usage, $"The tree '{tree.Name}' has sets of values, which --raw cannot tell apart.");

    private static bool Seek(ValueSetCursor cursor, KeyRange keys, bool isReversed)
    {
        var bound = isReversed ? keys.End : keys.Start;
        if (isReversed ? bound.IsEnd : bound.IsStart)
            return isReversed ? cursor.SeekLast() : cursor.SeekFirst();
        if (bound.IsEnd || bound.IsStart)
            return false;
        var key = new byte[bound.Length];
        bound.CopyTo(key);
        if (!isReversed)
            return cursor.Seek(key);
        return cursor.SeekForPrevious(key) && (bound.IsAfter(cursor.Key) || cursor.MoveToPreviousKey());
    }
}
