using Voron.Format;

namespace Voron.Tool.Dumps;

/// <summary>An entry of a dump, or the line that begins a tree or a table.</summary>
/// <param name="Section">The tree or the table.</param>
/// <param name="Line">The number of its last line.</param>
internal readonly record struct DumpEntry(DumpSection Section, long Line)
{
    /// <summary>The key; null where it is a number, and for the line that begins a tree or a table.</summary>
    public byte[]? Key { get; init; }

    /// <summary>The key of an entry of a fixed-size tree, the id in a set, or the id of a row.</summary>
    public long Number { get; init; }

    /// <summary>The value; the payload of an id; the bytes of a row. Null for the line that begins a tree or a table.</summary>
    public byte[]? Value { get; init; }

    /// <summary>The number of bytes of the key and the value; 0 for the line that begins a tree or a table.</summary>
    public int Bytes => Value == null ? 0 : (Key?.Length ?? sizeof(long)) + Value.Length;

    /// <summary>Returns whether an entry directly before this one has the same place.</summary>
    public bool Repeats(in DumpEntry before) =>
        before.Value != null && before.Section == Section && before.Number == Number && before.Key.AsSpan().SequenceEqual(Key)
        && (Section.Kind != TreeKind.ValueSets || before.Value.AsSpan().SequenceEqual(Value));

    /// <summary>The key for a message.</summary>
    public string KeyText => Key == null ? $"{Number}" : Tool.KeyText.Format(Key);
}
