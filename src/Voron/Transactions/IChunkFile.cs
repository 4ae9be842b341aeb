namespace Voron.Transactions;

/// <summary>Writes the chunks of a value to its extent, and reads them back when the value moves to a larger one.</summary>
internal interface IChunkFile
{
    /// <summary>Writes a chunk of a value whose extent starts at a page.</summary>
    /// <returns>Its checksum.</returns>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    /// <exception cref="StorageAccessException">The chunk could not be written.</exception>
    ulong WriteChunk(long firstPage, long chunk, ReadOnlySpan<byte> bytes);

    /// <summary>Reads a chunk back that was written before.</summary>
    /// <exception cref="CorruptionException">The chunk does not hold the bytes that were written.</exception>
    /// <exception cref="StorageAccessException">The chunk could not be read.</exception>
    void ReadChunk(long firstPage, long chunk, Span<byte> bytes, ulong checksum);
}
