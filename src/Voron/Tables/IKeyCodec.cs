namespace Voron.Tables;

/// <summary>Writes the primary keys of a table as bytes. The table sorts its keys by these bytes.</summary>
/// <remarks>
/// Equal keys must have equal bytes, and different keys different bytes, at any time and on any machine. <see cref="KeyCodec"/> provides codecs for
/// common types, and creates others from a function. Many threads use a codec concurrently.
/// </remarks>
/// <typeparam name="TKey">The type of the keys.</typeparam>
public interface IKeyCodec<TKey>
{
    /// <summary>
    /// The name of the encoding, which is stored with the table: a codec with another name cannot open the table. It must change when the bytes do.
    /// </summary>
    string Name { get; }

    /// <summary>Writes a key: at least one byte, and at most <see cref="StorageEnvironment.MaxKeyLength"/> bytes.</summary>
    /// <param name="key">The key.</param>
    /// <param name="writer">An empty writer.</param>
    void Write(TKey key, ref KeyWriter writer);
}
