using System.Buffers.Binary;

namespace Voron.Torture.Damage;

/// <summary>The content of id trees as entries: the key with the id behind it leads to the payload.</summary>
internal static class IdEntries
{
    /// <summary>Returns an entry for each id, in order.</summary>
    public static List<(byte[] Key, byte[] Value)> Of(IdTree tree)
    {
        var entries = new List<(byte[], byte[])>();
        using var keys = tree.OpenCursor();
        while (keys.MoveNext())
        {
            using var ids = keys.OpenIds();
            while (ids.MoveNext())
                entries.Add((Join(keys.Key, ids.Id), [ids.Payload]));
        }

        return entries;
    }

    public static ReadOnlySpan<byte> KeyOf(ReadOnlySpan<byte> joined) => joined[..^sizeof(long)];

    public static long IdOf(ReadOnlySpan<byte> joined) => BinaryPrimitives.ReadInt64BigEndian(joined[^sizeof(long)..]);

    /// <summary>Returns the key of the entry for an id.</summary>
    public static byte[] Join(ReadOnlySpan<byte> key, long id)
    {
        var bytes = new byte[key.Length + sizeof(long)];
        key.CopyTo(bytes);
        BinaryPrimitives.WriteInt64BigEndian(bytes.AsSpan(key.Length), id);
        return bytes;
    }
}
