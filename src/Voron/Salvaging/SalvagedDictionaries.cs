using Voron.Compression;
using Voron.Format;

namespace Voron.Salvaging;

/// <summary>The dictionaries that a salvage has found, with which it decompresses values.</summary>
internal sealed class SalvagedDictionaries
{
    private readonly Dictionary<(uint Tree, int Number), ValueDictionary> _found = [];

    /// <summary>Adds the dictionary in an entry of a dictionary tree; an entry without one, or with a damaged one, is skipped.</summary>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (key.Length == 1 && DictionaryEntry.TryReadAny(value, key[0], out var treeId, out var dictionary))
            _found.TryAdd((treeId, key[0]), new ValueDictionary(key[0], dictionary));
    }

    /// <summary>Decompresses a value. Returns null, or a sentence that describes why it is lost.</summary>
    /// <param name="header">The header of the value.</param>
    /// <param name="block">The block.</param>
    /// <param name="treeId">The tree; null if it is not known.</param>
    /// <param name="value">Receives the value.</param>
    public string? Unpack(in PackedValue header, ReadOnlySpan<byte> block, uint? treeId, Span<byte> value)
    {
        var dictionary = default(ReadOnlySpan<byte>);
        if (header.Dictionary != 0)
        {
            if (treeId is not { } tree || !_found.TryGetValue((tree, header.Dictionary), out var found))
                return $"it is compressed with dictionary {header.Dictionary} of its tree, which is lost";
            dictionary = found.Bytes;
        }

        return ValueDecoder.Decompress(block, dictionary, value) == value.Length ? null : "it is compressed, and its bytes are damaged";
    }
}
