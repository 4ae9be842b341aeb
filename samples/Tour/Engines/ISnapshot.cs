using Tour.Data;

namespace Tour.Engines;

/// <summary>A table at one moment. Both engines give the bytes where they lie, without a copy; each method hashes all that it finds.</summary>
internal interface ISnapshot : IDisposable
{
    /// <summary>Returns the hash of a text; 0 if its key is missing.</summary>
    ulong Read(byte[] key);

    /// <summary>Reads a group of entries in the order of their keys.</summary>
    Digest ReadRange(KeyPrefix prefix);

    /// <summary>Reads all entries.</summary>
    Digest ReadAll();
}
