using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Contents;

/// <summary>A fixed-size tree.</summary>
internal sealed class FixedContent(FixedTree tree) : Content
{
    public override DumpSection Section => new(tree.Name, TreeKind.FixedSize) { ValueBytes = tree.ValueSize };

    public override bool Show(string key, EntryOutput output)
    {
        var number = KeyBounds.ParseNumber(key);
        if (!tree.TryGet(number, out var value))
            return false;
        output.Write(output.IsJson ? JsonLinesWriter.LineOfNumber(number, value) : KeyText.Format(value));
        return true;
    }

    public override void List(KeyBounds keys, EntryOutput output)
    {
        if (!keys.TryGetNumbers(out var first, out var last))
            return;
        var range = tree.Range(first, last);
        foreach (var entry in output.IsReversed ? range.Reverse() : range)
        {
            var line = output.IsJson
                ? JsonLinesWriter.LineOfNumber(entry.Key, entry.Value)
                : $"{entry.Key}\t{PlainContent.Shorten(entry.Value)}";
            if (!output.Write(line))
                break;
        }
    }

    public override void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop)
    {
        if (!keys.TryGetNumbers(out var first, out var last))
            return;
        foreach (var entry in tree.Range(first, last))
        {
            stop.ThrowIfCancellationRequested();
            dump.WriteNumber(entry.Key, entry.Value);
        }
    }

    public override byte[]? Read(string key) => tree.TryGet(KeyBounds.ParseNumber(key), out var value) ? value.ToArray() : null;
}
