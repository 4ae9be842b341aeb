namespace Voron.Torture.Damage;

/// <summary>The content of trees of value sets as entries: the key with the value behind it leads to nothing.</summary>
internal static class ValueSetEntries
{
    /// <summary>The length of all keys.</summary>
    public const int KeyBytes = 4;

    /// <summary>Returns an entry for each value, in order.</summary>
    public static List<(byte[] Key, byte[] Value)> Of(ValueSetTree tree)
    {
        var entries = new List<(byte[], byte[])>();
        using var cursor = tree.OpenCursor();
        while (cursor.MoveNext())
            entries.Add(([.. cursor.Key, .. cursor.Value], []));
        return entries;
    }

    public static ReadOnlySpan<byte> KeyOf(ReadOnlySpan<byte> joined) => joined[..KeyBytes];

    public static ReadOnlySpan<byte> ValueOf(ReadOnlySpan<byte> joined) => joined[KeyBytes..];
}
