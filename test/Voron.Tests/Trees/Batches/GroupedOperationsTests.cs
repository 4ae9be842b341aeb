using System.Runtime.InteropServices;
using Voron.Trees;
using Voron.Trees.Batches;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.Batches;

/// <summary>Puts that are applied together, and keys that are looked up together, give the same results as one by one.</summary>
public sealed unsafe class GroupedOperationsTests
{
    [Theory]
    [InlineData(4096, TreeModelTests.Keys.Numbers, 20_000, 1, 0)]
    [InlineData(4096, TreeModelTests.Keys.Appended, 20_000, 2, 0)]
    [InlineData(4096, TreeModelTests.Keys.FewBytes, 10_000, 3, 0)]
    [InlineData(4096, TreeModelTests.Keys.LongCommonPrefix, 10_000, 4, 0)]
    [InlineData(8192, TreeModelTests.Keys.AnyLength, 6_000, 5, 0)]
    [InlineData(65536, TreeModelTests.Keys.AnyLength, 4_000, 6, 0)]
    [InlineData(4096, TreeModelTests.Keys.Numbers, 20_000, 11, 1 << 20)]
    [InlineData(4096, TreeModelTests.Keys.Numbers, 20_000, 12, 1 << 10)]
    [InlineData(4096, TreeModelTests.Keys.Appended, 20_000, 13, 1 << 20)]
    [InlineData(4096, TreeModelTests.Keys.FewBytes, 10_000, 14, 1 << 20)]
    [InlineData(4096, TreeModelTests.Keys.LongCommonPrefix, 10_000, 15, 1 << 20)]
    [InlineData(8192, TreeModelTests.Keys.AnyLength, 6_000, 16, 1 << 20)]
    [InlineData(16384, TreeModelTests.Keys.FewBytes, 10_000, 17, 1 << 20)]
    [InlineData(65536, TreeModelTests.Keys.AnyLength, 4_000, 18, 1 << 20)]
    public void Grouped_puts_and_lookups_agree_with_a_sorted_dictionary(
        int pageSize, TreeModelTests.Keys keys, int operations, int seed, int dataFileKeyHeadBytes)
    {
        try
        {
            Run(pageSize, keys, operations, new Random(seed), dataFileKeyHeadBytes);
        }
        catch (Exception problem)
        {
            throw new InvalidOperationException(
                $"page size {pageSize}, keys {keys}, seed {seed}, heads in {dataFileKeyHeadBytes} bytes: {problem.Message}", problem);
        }
    }

    /// <summary>A full buffer grows, and is sorted: puts of one key must still take effect in the order in which they came.</summary>
    [Theory]
    [InlineData(TreeModelTests.Keys.Numbers, 1)]
    [InlineData(TreeModelTests.Keys.FewBytes, 2)]
    [InlineData(TreeModelTests.Keys.LongCommonPrefix, 3)]
    [InlineData(TreeModelTests.Keys.AnyLength, 4)]
    public void The_many_puts_of_a_large_transaction_agree_with_a_sorted_dictionary(TreeModelTests.Keys keys, int seed)
    {
        var random = new Random(seed);
        using var tree = new TestTree(4096);
        var buffer = new PutBuffer();
        var known = new List<byte[]>();
        var most = 0;
        for (var transaction = 0; transaction < 2; transaction++)
        {
            for (var put = 0; put < 20_000; put++)
            {
                var isOld = known.Count > 0 && random.Next(3) == 0;
                var key = isOld ? known[random.Next(known.Count)] : TreeModelTests.NewKey(keys, put, random, tree);
                var value = new byte[random.Next(60)];
                random.NextBytes(value);
                while (!buffer.TryAdd(key, value, WaitingOperation.Put))
                    Apply();
                tree.Model[key] = value;
                known.Add(key);
            }

            Apply();
            buffer.Trim();
            tree.Check();
            tree.Pages.EndTransaction();
        }

        most.Should().BeGreaterThan(8 * PutBuffer.FirstCount);

        void Apply()
        {
            most = Math.Max(most, buffer.Count);
            buffer.Apply(tree.Pages, tree.State);
        }
    }

    private static void Run(int pageSize, TreeModelTests.Keys keys, int operations, Random random, int dataFileKeyHeadBytes)
    {
        using var tree = new TestTree(pageSize, dataFileKeyHeadBytes);
        var buffer = new PutBuffer();
        var known = new List<byte[]>();
        for (var done = 0; done < operations;)
        {
            for (var group = random.Next(1, random.Next(2) == 0 ? 8 : 400); group > 0; group--)
            {
                var isOld = known.Count > 0 && random.Next(3) == 0;
                var key = isOld ? known[random.Next(known.Count)] : TreeModelTests.NewKey(keys, done, random, tree);
                var value = new byte[Math.Min(TreeModelTests.ValueLength(random, pageSize), 1024 - Math.Min(1024, key.Length))];
                random.NextBytes(value);
                done++;
                if (!PutBuffer.CanHold(key.Length, value.Length))
                    continue;
                if (!buffer.TryAdd(key, value, WaitingOperation.Put))
                    break;
                tree.Model[key] = value;
                if (!isOld)
                    known.Add(key);
            }

            buffer.Apply(tree.Pages, tree.State);
            buffer.Count.Should().Be(0);
            LookUp(tree, keys, known, random, done);
            Delete(tree, known, random);
            if (random.Next(4) == 0)
                tree.Pages.EndTransaction();
            if (random.Next(40) == 0)
                tree.Check();
        }

        tree.Check();
    }

    private static void LookUp(TestTree tree, TreeModelTests.Keys keys, List<byte[]> known, Random random, int step)
    {
        if (tree.State.Root.IsNone)
            return;

        var count = random.Next(1, ManyKeySearch.Width + 1);
        var wanted = new byte[count][];
        var handles = new GCHandle[count];
        var search = stackalloc SearchKey[ManyKeySearch.Width];
        var records = stackalloc byte*[ManyKeySearch.Width];
        for (var i = 0; i < count; i++)
        {
            wanted[i] = random.Next(3) > 0 && known.Count > 0 ? known[random.Next(known.Count)] : TreeModelTests.NewKey(keys, step + i, random, tree);
            handles[i] = GCHandle.Alloc(wanted[i], GCHandleType.Pinned);
            search[i] = new SearchKey((byte*)handles[i].AddrOfPinnedObject(), wanted[i].Length);
        }

        ManyKeySearch.FindRecords(tree.State, tree.Pages, search, count, records);
        for (var i = 0; i < count; i++)
        {
            handles[i].Free();
            var isThere = tree.Model.TryGetValue(wanted[i], out var expected);
            if (isThere != (records[i] != null) || (isThere && !LeafValue.Read(tree.Pages, records[i], treeId: 0).SequenceEqual(expected)))
                throw new InvalidOperationException($"wrong answer for key {Convert.ToHexString(wanted[i])}, the {i}th of {count}");
            if (isThere ? !tree.Get(wanted[i]).AsSpan().SequenceEqual(expected) : tree.Get(wanted[i]) != null)
                throw new InvalidOperationException($"wrong answer for key {Convert.ToHexString(wanted[i])} alone");
        }
    }

    private static void Delete(TestTree tree, List<byte[]> known, Random random)
    {
        for (var i = random.Next(20); i > 0 && known.Count > 0; i--)
        {
            var at = random.Next(known.Count);
            tree.Delete(known[at]);
            known.RemoveAt(at);
        }
    }
}
