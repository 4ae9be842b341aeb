namespace Voron;

/// <summary>How the values of a tree are compressed.</summary>
public enum ValueCompression
{
    /// <summary>Not at all.</summary>
    None,

    /// <summary>With little work: about half the bytes for records with much in common.</summary>
    Fast,

    /// <summary>With more work for each write: a fifth to a quarter fewer bytes than <see cref="Fast"/>. Reading is no slower.</summary>
    Thorough,
}

/// <summary>The compression of the values of a tree, or of the rows of a table, and its savings.</summary>
/// <param name="Compression">How new values are compressed.</param>
/// <param name="Dictionaries">The number of dictionaries that the environment keeps for them.</param>
/// <param name="DictionaryBytes">The total size of the dictionaries in bytes.</param>
/// <param name="Values">The number of values.</param>
/// <param name="CompressedValues">The number of compressed values.</param>
/// <param name="PlainBytes">The size of the compressed values in bytes after decompression.</param>
/// <param name="StoredBytes">The stored size of the compressed values in bytes, including their headers.</param>
public sealed record CompressionStatistics(
    ValueCompression Compression, int Dictionaries, long DictionaryBytes, long Values, long CompressedValues, long PlainBytes, long StoredBytes)
{
    /// <summary>The fraction of their original bytes that the compressed values save, between 0 and 1; 0 if there are none.</summary>
    public double SavedShare => PlainBytes == 0 ? 0 : 1 - (double)StoredBytes / PlainBytes;
}

/// <summary>The result of <see cref="StorageEnvironment.RecompressAsync"/>.</summary>
/// <param name="Entries">The number of entries that were examined.</param>
/// <param name="Rewritten">The number of values that were rewritten.</param>
/// <param name="DroppedDictionaries">The number of dictionaries dropped because no value used them any more.</param>
/// <param name="IsTrained">True if the tree received a new dictionary first.</param>
public sealed record RecompressionReport(long Entries, long Rewritten, long DroppedDictionaries, bool IsTrained);
