using System.Buffers.Binary;

namespace Voron.Torture.Model;

/// <summary>Draws keys and lengths of values, more often at the limits than chance would.</summary>
internal sealed class ModelKeys(Random random, StorageOptions options, int maxKeyLength)
{
    private const int LeafHeaders = 64 + 4 + 2;

    private int _next;

    public byte[] NewKey()
    {
        byte[] key;
        switch (random.Next(12))
        {
            case 0:
                return [(byte)random.Next(256)];
            case 1:
                key = new byte[maxKeyLength - random.Next(2)];
                random.NextBytes(key.AsSpan(random.Next(key.Length)));
                return key;
            case 2:
                key = new byte[random.Next(1, maxKeyLength + 1)];
                random.NextBytes(key);
                return key;
            case 3:
            case 4:
                key = new byte[60];
                key[random.Next(50, 60)] = (byte)random.Next(20);
                key[random.Next(50, 60)] = (byte)random.Next(20);
                return key;
            case 5:
            case 6:
            case 7:
                key = new byte[8];
                BinaryPrimitives.WriteInt64BigEndian(key, _next++);
                return key;
            default:
                key = new byte[16];
                random.NextBytes(key);
                return key;
        }
    }

    /// <summary>Returns a key of the tree, a neighbour of one, or any key.</summary>
    public byte[] AnyKey(System.Collections.Immutable.ImmutableSortedSet<ModelEntry> entries)
    {
        if (entries.Count == 0 || random.Next(4) == 0)
            return NewKey();
        var key = entries[random.Next(entries.Count)].Key;
        if (random.Next(5) > 0)
            return key;
        if (key.Length > 1 && random.Next(2) == 0)
            return key[..^1];
        return key.Length < maxKeyLength ? [.. key, 0] : key;
    }

    public int ValueLength(int keyLength)
    {
        var page = options.PageSizeOrDefault;
        switch (random.Next(1000))
        {
            case < 500:
                return random.Next(200);
            case < 650:
                return 128;
            case < 720:
                return random.Next(2);
            case < 820:
                return Math.Max(0, (page - 64) / 2 - LeafHeaders + 64 - keyLength + random.Next(-2, 3));
            case < 880:
                return page * random.Next(1, 5) - 64 + random.Next(-1, 2);
            case < 920:
                return options.LargeValueBytes + random.Next(-2, 3);
            case < 930:
                return random.Next(10 * page);
            case < 933:
                return random.Next(3 << 20);
            default:
                return random.Next(page);
        }
    }
}
