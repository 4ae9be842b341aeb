using System.Buffers.Binary;

namespace Voron.Tests.Trees;

/// <summary>Compares random operations on a tree with those on a sorted dictionary. A failure names the seed to run again.</summary>
public sealed class TreeModelTests
{
    public enum Keys
    {
        Numbers,
        Appended,
        FewBytes,
        LongCommonPrefix,
        AnyLength,
    }

    [Theory]
    [InlineData(4096, Keys.Numbers, 40_000, 1)]
    [InlineData(4096, Keys.Appended, 40_000, 2)]
    [InlineData(4096, Keys.FewBytes, 30_000, 3)]
    [InlineData(4096, Keys.LongCommonPrefix, 15_000, 4)]
    [InlineData(4096, Keys.AnyLength, 15_000, 5)]
    [InlineData(8192, Keys.AnyLength, 8_000, 6)]
    [InlineData(16384, Keys.AnyLength, 6_000, 7)]
    [InlineData(32768, Keys.Numbers, 6_000, 8)]
    [InlineData(65536, Keys.AnyLength, 5_000, 9)]
    [InlineData(65536, Keys.Numbers, 20_000, 10)]
    public void A_tree_does_what_a_sorted_dictionary_does(int pageSize, Keys keys, int operations, int seed)
    {
        try
        {
            Run(pageSize, keys, operations, seed);
        }
        catch (Exception problem)
        {
            throw new InvalidOperationException($"page size {pageSize}, keys {keys}, seed {seed}: {problem.Message}", problem);
        }
    }

    private static void Run(int pageSize, Keys keys, int operations, int seed)
    {
        var random = new Random(seed);
        using var tree = new TestTree(pageSize);
        var known = new List<byte[]>();
        for (var i = 0; i < operations; i++)
        {
            // Alternates phases of growing and of shrinking, so that pages are merged and the tree becomes empty now and then.
            var growing = (i / (operations / 6) & 1) == 0;
            var key = known.Count > 0 && random.Next(2) == 0 ? known[random.Next(known.Count)] : NewKey(keys, i, random, tree);
            var choice = random.Next(100);
            if (choice < (growing ? 65 : 20))
                Store(tree, known, key, random, pageSize);
            else if (choice < 90)
                Remove(tree, known, key, growing ? 1 : 3, random);
            else
                CheckOne(tree, key);

            if (random.Next(growing ? 1_000 : 200) == 0)
                RemoveRange(tree, known, random);
            if (random.Next(100) == 0)
                tree.Pages.EndTransaction();
            else if (random.Next(200) == 0)
                tree.Pages.Savepoint();
            if (random.Next(2_000) == 0)
                tree.Check();
        }

        tree.Check();
        foreach (var key in known)
            tree.Delete(key);
        tree.Pages.EndTransaction();
        tree.State.Root.IsNone.Should().BeTrue();
        tree.Check();
    }

    private static void Store(TestTree tree, List<byte[]> known, byte[] key, Random random, int pageSize)
    {
        var value = new byte[ValueLength(random, pageSize)];
        random.NextBytes(value);
        var isNew = !tree.Model.ContainsKey(key);
        switch (random.Next(3))
        {
            case 0:
                tree.Insert(key, value);
                break;
            case 1:
                value.CopyTo(Voron.Trees.TreeWriter.Reserve(tree.Pages, tree.State, key, value.Length));
                tree.Model[key] = value;
                break;
            default:
                tree.Put(key, value);
                break;
        }

        if (isNew)
            known.Add(key);
    }

    private static void Remove(TestTree tree, List<byte[]> known, byte[] key, int times, Random random)
    {
        tree.Delete(key);
        known.Remove(key);
        for (var i = 1; i < times && known.Count > 0; i++)
        {
            var at = random.Next(known.Count);
            tree.Delete(known[at]);
            known.RemoveAt(at);
        }
    }

    // Mostly short ranges, so that the tree is not emptied each time.
    private static void RemoveRange(TestTree tree, List<byte[]> known, Random random)
    {
        if (known.Count == 0)
            return;
        known.Sort((left, right) => left.AsSpan().SequenceCompareTo(right));
        var first = random.Next(known.Count);
        var last = random.Next(8) == 0 ? random.Next(known.Count + 1) : Math.Min(known.Count, first + random.Next(known.Count / 20 + 2));
        if (random.Next(40) == 0)
            (first, last) = random.Next(2) == 0 ? (0, last) : (first, known.Count);
        tree.DeleteRange(first == 0 && random.Next(2) == 0 ? null : known[first], last == known.Count ? null : known[last]);
        if (last > first)
            known.RemoveRange(first, last - first);
        tree.CheckStructure();
    }

    private static void CheckOne(TestTree tree, byte[] key)
    {
        var expected = tree.Model.GetValueOrDefault(key);
        var actual = tree.Get(key);
        if (!(expected ?? []).AsSpan().SequenceEqual(actual ?? []) || expected == null != (actual == null))
            throw new InvalidOperationException($"wrong value of key {Convert.ToHexString(key)}");
    }

    internal static int ValueLength(Random random, int pageSize) => random.Next(100) switch
    {
        0 => random.Next(pageSize * 5),
        < 6 => random.Next(pageSize / 2),
        < 30 => 128,
        _ => random.Next(200),
    };

    internal static byte[] NewKey(Keys keys, int step, Random random, TestTree tree)
    {
        byte[] key;
        switch (keys)
        {
            case Keys.Numbers:
                key = new byte[16];
                random.NextBytes(key);
                return key;
            case Keys.Appended:
                key = new byte[8];
                BinaryPrimitives.WriteInt64BigEndian(key, step);
                return key;
            case Keys.FewBytes:
                key = new byte[random.Next(1, 4)];
                for (var i = 0; i < key.Length; i++)
                    key[i] = (byte)(random.Next(24) % 12 * random.Next(20));
                return key;
            case Keys.LongCommonPrefix:
                key = new byte[random.Next(100, 120)];
                for (var i = 90; i < key.Length; i++)
                    key[i] = (byte)random.Next(3);
                return key;
            default:
                key = new byte[random.Next(4) == 0 ? random.Next(1, tree.MaxKeyLength + 1) : random.Next(1, 40)];
                random.NextBytes(key);
                return key;
        }
    }
}
