namespace Voron.Compression;

/// <summary>A dictionary: bytes that many values of a tree have in common. It never changes.</summary>
internal sealed class ValueDictionary
{
    /// <summary>The most bytes of a dictionary: no match of the format reaches back further.</summary>
    public const int MaxBytes = 64 << 10;

    private readonly byte[] _bytes;

    /// <param name="number">The number of the dictionary in its tree; 0 for none.</param>
    /// <param name="bytes">The bytes, which are copied.</param>
    public ValueDictionary(int number, ReadOnlySpan<byte> bytes)
    {
        Number = number;
        _bytes = bytes.ToArray();
    }

    /// <summary>The number of the dictionary in its tree; 0 for none.</summary>
    public int Number { get; }

    /// <summary>The bytes.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;
}
