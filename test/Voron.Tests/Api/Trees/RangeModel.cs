using System.Buffers.Binary;

namespace Voron.Tests.Api;

/// <summary>Ranges of random bounds, with random cuts, beside what LINQ makes of the same on a sorted list.</summary>
/// <param name="random">The source of all choices.</param>
/// <param name="longest">The length of the longest key that the tree can have.</param>
internal sealed class RangeModel(Random random, int longest)
{
    public delegate KeyRange Restriction(KeyRange range, ReadOnlySpan<byte> bound);

    private static readonly (string Name, Restriction Restrict, Func<byte[], byte[], bool> Has)[] Kinds =
    [
        ("From", KeyRangeExtensions.From, (key, bound) => Order(key, bound) >= 0),
        ("After", KeyRangeExtensions.After, (key, bound) => Order(key, bound) > 0),
        ("Before", KeyRangeExtensions.Before, (key, bound) => Order(key, bound) < 0),
        ("Through", KeyRangeExtensions.Through, (key, bound) => Order(key, bound) <= 0),
        ("Prefix", KeyRangeExtensions.Prefix, (key, bound) => key.AsSpan().StartsWith(bound)),
        ("AfterPrefix", KeyRangeExtensions.AfterPrefix, (key, bound) => Order(key, bound) > 0 && !key.AsSpan().StartsWith(bound)),
    ];

    private readonly List<(int Kind, byte[] Bound)> _bounds = [];

    public enum Keys
    {
        Numbers,
        FewBytes,
        Longest,
        AnyLength,
    }

    public static int Order(byte[] key, byte[] bound) => key.AsSpan().SequenceCompareTo(bound);

    public static SortedDictionary<byte[], byte[]> NewEntries() => new(Comparer<byte[]>.Create(Order));

    public byte[] NewKey(Keys keys)
    {
        byte[] alphabet = [0, 1, 0x61, 0xFE, 0xFF];
        var key = new byte[keys switch
        {
            Keys.Numbers => 8,
            Keys.FewBytes => random.Next(1, 5),
            Keys.Longest => longest,
            _ => random.Next(1, longest + 1),
        }];
        switch (keys)
        {
            case Keys.Numbers:
                BinaryPrimitives.WriteInt64BigEndian(key, random.Next(1 << 20));
                break;
            case Keys.FewBytes:
                foreach (ref var b in key.AsSpan())
                    b = alphabet[random.Next(alphabet.Length)];
                break;
            case Keys.Longest:
                key.AsSpan().Fill(0xFF);
                BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(longest - 4), random.Next());
                break;
            default:
                random.NextBytes(key);
                break;
        }

        return key;
    }

    /// <summary>Draws the bounds of another range: none, some that are near keys, some that are longer than any key.</summary>
    public void DrawBounds(IReadOnlyList<byte[]> keys)
    {
        _bounds.Clear();
        for (var i = random.Next(4); i > 0; i--)
            _bounds.Add((random.Next(Kinds.Length), DrawBound(keys)));
    }

    public byte[] DrawBound(IReadOnlyList<byte[]> keys)
    {
        var key = keys.Count == 0 ? [5] : keys[random.Next(keys.Count)];
        switch (random.Next(7))
        {
            case 0:
                return key[..random.Next(key.Length + 1)];
            case 1:
                return [.. key, 0];
            case 2:
                return [.. key[..^1], (byte)(key[^1] + 1)];
            case 3:
                return [.. key, .. new byte[longest + 1 - key.Length], (byte)random.Next(256)];
            case 4:
                var high = new byte[random.Next(1, longest + 10)];
                high.AsSpan().Fill(0xFF);
                return high;
            default:
                return key;
        }
    }

    /// <summary>The range that was drawn.</summary>
    public KeyRange Range
    {
        get
        {
            var range = KeyRange.All;
            foreach (var (kind, bound) in _bounds)
                range = Kinds[kind].Restrict(range, bound);
            return range;
        }
    }

    public bool Contains(byte[] key) => _bounds.TrueForAll(bound => Kinds[bound.Kind].Has(key, bound.Bound));

    public List<(char Method, long Count)> DrawCuts(int entries)
    {
        var cuts = new List<(char, long)>();
        for (var i = random.Next(5); i > 0; i--)
        {
            long count = random.Next(random.Next(2) == 0 ? 4 : entries + 3);
            cuts.Add(("RST"[random.Next(3)], random.Next(8) == 0 ? long.MaxValue - random.Next(3) : count));
        }

        return cuts;
    }

    /// <summary>True if a range cannot be reversed where these cuts reverse it.</summary>
    public static bool ReversesTooOften(List<(char Method, long Count)> cuts)
    {
        var (isTurned, isCut, isCutAgain) = (false, false, false);
        foreach (var (method, count) in cuts)
        {
            if (method == 'R' && isTurned && isCutAgain)
                return true;
            if (method == 'R')
                isTurned = !isTurned && isCut;
            else if (count != (method == 'S' ? 0 : long.MaxValue))
                _ = isTurned ? isCutAgain = true : isCut = true;
        }

        return false;
    }

    public static TreeRange Cut(TreeRange range, List<(char Method, long Count)> cuts)
    {
        foreach (var (method, count) in cuts)
            range = method switch { 'R' => range.Reverse(), 'S' => range.Skip(count), _ => range.Take(count) };
        return range;
    }

    public static List<byte[]> Cut(IEnumerable<byte[]> keys, List<(char Method, long Count)> cuts)
    {
        foreach (var (method, count) in cuts)
        {
            var number = (int)Math.Min(count, int.MaxValue);
            keys = method switch { 'R' => keys.Reverse(), 'S' => keys.Skip(number), _ => keys.Take(number) };
        }

        return keys.ToList();
    }

    public string Describe(List<(char Method, long Count)> cuts) =>
        string.Join(' ', _bounds.Select(bound => $"{Kinds[bound.Kind].Name} {Convert.ToHexString(bound.Bound)}"))
        + string.Concat(cuts.Select(cut => $" {cut.Method}{(cut.Method == 'R' ? "" : cut.Count)}"));
}
