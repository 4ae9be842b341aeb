namespace Voron.Sorting;

/// <summary>Two entries of a sort have the same key, and its options refuse that.</summary>
internal sealed class DuplicateEntryException(byte[] key) : Exception(Describe(key))
{
    private const int ShownBytes = 32;

    /// <summary>The key that was added more than once.</summary>
    public ReadOnlyMemory<byte> Key => key;

    private static string Describe(byte[] key) => key.Length <= ShownBytes
        ? $"The key 0x{Convert.ToHexString(key)} was added more than once."
        : $"The key 0x{Convert.ToHexString(key.AsSpan(0, ShownBytes))}... of {key.Length} bytes was added more than once.";
}
