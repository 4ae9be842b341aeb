namespace Voron.Tables;

/// <summary>Writes the primary keys of a table as bytes. The table sorts its keys by these bytes.</summary>
/// <remarks>
/// Equal keys must have equal bytes, other keys other bytes, at any time and on any machine. <see cref="KeyCodec"/> has codecs for common types, and
/// makes others from a function. A codec is used by many threads at the same time.
/// </remarks>
/// <typeparam name="TKey">The type of the keys.</typeparam>
public interface IKeyCodec<TKey>
{
    /// <summary>
    /// The name of the encoding, which is stored with the table: a table cannot be opened with a codec of another name. It must change when
    /// the bytes do.
    /// </summary>
    string Name { get; }

    /// <summary>Writes a key: at least one byte, and at most <see cref="StorageEnvironment.MaxKeyLength"/> bytes.</summary>
    /// <param name="key">The key.</param>
    /// <param name="writer">A writer without any field.</param>
    void Write(TKey key, ref KeyWriter writer);
}
