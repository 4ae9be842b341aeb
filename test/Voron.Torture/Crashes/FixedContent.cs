using System.Collections.Immutable;

namespace Voron.Torture.Crashes;

/// <summary>The entries of a fixed-size tree, as of one commit: numbers from which the bytes of the values follow.</summary>
internal sealed class FixedContent : TreeContent
{
    private const string Prefix = "fixed";

    private static readonly int[] ValueSizes = [0, 1, 8, 12, 60, 512];

    private FixedContent(int valueSize, ImmutableSortedDictionary<long, int> entries) => (ValueSize, Entries) = (valueSize, entries);

    public int ValueSize { get; }

    public ImmutableSortedDictionary<long, int> Entries { get; }

    /// <summary>Returns whether a fixed-size tree, and no other, may have a name.</summary>
    public static bool IsName(string name) => name.StartsWith(Prefix, StringComparison.Ordinal);

    /// <summary>Returns the content of a new tree, with values of any size.</summary>
    public static FixedContent New(Random random) => New(ValueSizes[random.Next(ValueSizes.Length)]);

    /// <summary>Returns the content of a new tree.</summary>
    public static FixedContent New(int valueSize) => new(valueSize, ImmutableSortedDictionary<long, int>.Empty);

    public FixedContent With(ImmutableSortedDictionary<long, int> entries) => new(ValueSize, entries);

    /// <summary>Writes the bytes of a value.</summary>
    public static void Fill(Span<byte> value, int number)
    {
        for (var i = 0; i < value.Length; i++)
            value[i] = (byte)((number >> i % 4 * 8) + i / 4);
    }

    public static ulong DigestOf(FixedTree tree)
    {
        var digest = new Digest();
        digest.Add((ulong)tree.ValueSize);
        digest.Add((ulong)tree.Count);
        using var cursor = tree.OpenCursor();
        while (cursor.MoveNext())
        {
            digest.Add((ulong)cursor.Key);
            digest.Add(cursor.Value);
        }

        return digest.Value;
    }

    public override string Compare(ReadTransaction reading, string name)
    {
        var tree = reading.OpenFixedTree(name);
        if (tree.ValueSize != ValueSize)
            return $"{name} has values of {tree.ValueSize} bytes instead of {ValueSize}; ";
        Span<byte> value = stackalloc byte[ValueSize];
        using var cursor = tree.OpenCursor();
        foreach (var (key, number) in Entries)
        {
            Fill(value, number);
            if (!cursor.MoveNext() || cursor.Key != key)
                return $"{name} has {(cursor.IsOnEntry ? $"key {cursor.Key}" : "no more keys")} where {key} should be; ";
            if (!cursor.Value.SequenceEqual(value))
                return $"{name}/{key} has other bytes than those of {number}; ";
        }

        var more = cursor.MoveNext() ? $"{name}/{cursor.Key} exists; " : "";
        return tree.Count == Entries.Count ? more : $"{more}{name} counts {tree.Count} entries of {Entries.Count}; ";
    }

    protected override ulong ComputeDigest()
    {
        var digest = new Digest();
        digest.Add((ulong)ValueSize);
        digest.Add((ulong)Entries.Count);
        Span<byte> value = stackalloc byte[ValueSize];
        foreach (var (key, number) in Entries)
        {
            Fill(value, number);
            digest.Add((ulong)key);
            digest.Add(value);
        }

        return digest.Value;
    }
}
