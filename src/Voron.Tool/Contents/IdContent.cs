using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Contents;

/// <summary>A tree of id sets.</summary>
internal sealed class IdContent(IdTree tree) : Content
{
    public override DumpSection Section => new(tree.Name, TreeKind.IdSets);

    /// <summary>A line for each id, with its payload.</summary>
    public override bool Show(string key, EntryOutput output)
    {
        using var ids = tree.OpenIds(KeyText.Parse(key));
        var isThere = false;
        while (ids.MoveNext())
        {
            isThere = true;
            if (!output.Write(output.IsJson ? JsonLinesWriter.LineOfId(ids.Id, ids.Payload) : $"{ids.Id}\t{ids.Payload}"))
                break;
        }

        return isThere;
    }

    /// <summary>A line for each key, with the number of its ids.</summary>
    public override void List(KeyBounds keys, EntryOutput output)
    {
        var range = keys.ToRange(KeyText.Parse);
        using var cursor = tree.OpenCursor();
        var found = Seek(cursor, range, output.IsReversed);
        while (found && range.Contains(cursor.Key))
        {
            var line = output.IsJson
                ? JsonLinesWriter.LineOfSet(cursor.Key, cursor.Count)
                : $"{KeyText.Format(cursor.Key)}\t{cursor.Count} ids";
            if (!output.Write(line))
                break;
            found = output.IsReversed ? cursor.MovePrevious() : cursor.MoveNext();
        }
    }

    public override void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop)
    {
        var range = keys.ToRange(KeyText.Parse);
        using var cursor = tree.OpenCursor();
        for (var found = Seek(cursor, range, isReversed: false); found && range.Contains(cursor.Key); found = cursor.MoveNext())
        {
            using var ids = tree.OpenIds(cursor.Key);
            while (ids.MoveNext())
            {
                stop.ThrowIfCancellationRequested();
                dump.WriteId(cursor.Key, ids.Id, ids.Payload);
            }
        }
    }

    public override byte[]? Read(string key) =>
        throw new ToolException(ExitCode.Usage, $"The tree '{tree.Name}' has sets of ids, which have no bytes to write with --raw.");

    private static bool Seek(IdKeyCursor cursor, KeyRange keys, bool isReversed)
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
        return cursor.SeekForPrevious(key) && (bound.IsAfter(cursor.Key) || cursor.MovePrevious());
    }
}
