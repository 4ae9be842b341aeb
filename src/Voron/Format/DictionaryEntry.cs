using System.Buffers.Binary;

namespace Voron.Format;

/// <summary>The entries of a tree of dictionaries: the settings under the key 0, and each dictionary under its number.</summary>
internal static class DictionaryEntry
{
    /// <summary>The number of bytes before a dictionary: the id of the tree (4), the number (1), 0 (3), the ratio (4), and a checksum (4).</summary>
    public const int HeaderBytes = 16;

    private const int MostBytes = 64 << 10;

    /// <summary>The key of the settings.</summary>
    public static ReadOnlySpan<byte> SettingsKey => [0];

    /// <summary>Reads an entry.</summary>
    /// <param name="entry">The value under the number of the dictionary.</param>
    /// <param name="treeId">The tree whose values are compressed.</param>
    /// <param name="number">The number.</param>
    /// <param name="dictionary">The dictionary.</param>
    /// <returns>False if the bytes are not such an entry.</returns>
    public static bool TryRead(ReadOnlySpan<byte> entry, uint treeId, int number, out ReadOnlySpan<byte> dictionary)
    {
        return TryReadAny(entry, number, out var tree, out dictionary) && tree == treeId;
    }

    /// <summary>Reads an entry of any tree.</summary>
    /// <inheritdoc cref="TryRead"/>
    public static bool TryReadAny(ReadOnlySpan<byte> entry, int number, out uint treeId, out ReadOnlySpan<byte> dictionary)
    {
        treeId = 0;
        dictionary = default;
        if (entry.Length is <= HeaderBytes or > HeaderBytes + MostBytes || entry[4] != number || number is 0 or > PackedValue.MostDictionaries)
            return false;
        treeId = BinaryPrimitives.ReadUInt32LittleEndian(entry);
        dictionary = entry[HeaderBytes..];
        return BinaryPrimitives.ReadUInt32LittleEndian(entry[12..]) == ChecksumOf(treeId, number, dictionary);
    }

    /// <summary>
    /// Returns the number of bytes to which a million bytes of values were compressed when the dictionary was trained. The caller has read the entry
    /// with <see cref="TryRead"/>.
    /// </summary>
    public static int Ratio(ReadOnlySpan<byte> entry) => BinaryPrimitives.ReadInt32LittleEndian(entry[8..]);

    /// <summary>Returns the entry of a dictionary.</summary>
    public static byte[] Write(uint treeId, int number, int ratio, ReadOnlySpan<byte> dictionary)
    {
        var entry = new byte[HeaderBytes + dictionary.Length];
        BinaryPrimitives.WriteUInt32LittleEndian(entry, treeId);
        entry[4] = (byte)number;
        BinaryPrimitives.WriteInt32LittleEndian(entry.AsSpan(8), ratio);
        BinaryPrimitives.WriteUInt32LittleEndian(entry.AsSpan(12), ChecksumOf(treeId, number, dictionary));
        dictionary.CopyTo(entry.AsSpan(HeaderBytes));
        return entry;
    }

    // The lower half of the checksum, whose seed consists of the tree and the number.
    private static uint ChecksumOf(uint treeId, int number, ReadOnlySpan<byte> dictionary) =>
        (uint)Checksum.Compute(dictionary, ((ulong)treeId << 8) | (byte)number);
}
