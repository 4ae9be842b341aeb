namespace Voron;

/// <summary>An entry of a tree, as a range returns it; its spans are valid until the range moves on.</summary>
public readonly ref struct TreeEntry
{
    internal TreeEntry(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Key = key;
        Value = value;
    }

    /// <summary>The key.</summary>
    public ReadOnlySpan<byte> Key { get; }

    /// <summary>The value.</summary>
    public ReadOnlySpan<byte> Value { get; }
}
