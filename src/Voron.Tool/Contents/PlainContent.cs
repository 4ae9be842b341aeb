using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Contents;

/// <summary>An ordinary tree.</summary>
internal sealed class PlainContent(Tree tree) : Content
{
    private const int ShownValueBytes = 60;

    public override DumpSection Section => new(tree.Name, TreeKind.Plain);

    public override bool Show(string key, EntryOutput output)
    {
        if (Read(key) is not { } value)
            return false;
        output.Write(output.IsJson ? JsonLinesWriter.Line(KeyText.Parse(key), value) : KeyText.Format(value));
        return true;
    }

    public override void List(KeyBounds keys, EntryOutput output)
    {
        var range = tree.Range(keys.ToRange(KeyText.Parse));
        foreach (var entry in output.IsReversed ? range.Reverse() : range)
        {
            var line = output.IsJson
                ? JsonLinesWriter.Line(entry.Key, entry.Value)
                : $"{KeyText.Format(entry.Key)}\t{Shorten(entry.Value)}";
            if (!output.Write(line))
                break;
        }
    }

    public override void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop)
    {
        foreach (var entry in tree.Range(keys.ToRange(KeyText.Parse)))
        {
            stop.ThrowIfCancellationRequested();
            dump.Write(entry.Key, entry.Value);
        }
    }

    public override byte[]? Read(string key) => tree.Get(KeyText.Parse(key));

    /// <summary>Returns the beginning of a value that is shown beside its key.</summary>
    public static string Shorten(ReadOnlySpan<byte> value) => value.Length <= ShownValueBytes
        ? KeyText.Format(value)
        : $"{KeyText.Format(value[..ShownValueBytes])}... ({value.Length} bytes)";
}
