using System.Buffers.Binary;

namespace Voron.Tests.Trees;

public sealed class PageSplitTests
{
    public static TheoryData<int> PageSizes => [4096, 8192, 16384, 32768, 65536];

    [Theory]
    [MemberData(nameof(PageSizes))]
    public void Appended_entries_fill_their_pages(int pageSize)
    {
        using var tree = new TestTree(pageSize);
        var perPage = (pageSize - 64) / (4 + 8 + 128 + 2);
        for (var i = 0; i < perPage * 50; i++)
            tree.Put(Number(i), new byte[128]);
        tree.State.LeafPages.Should().Be(50);
        tree.Check();
    }

    [Theory]
    [MemberData(nameof(PageSizes))]
    public void Entries_that_come_downwards_leave_pages_at_least_a_third_full(int pageSize)
    {
        using var tree = new TestTree(pageSize);
        var perPage = (pageSize - 64) / (4 + 8 + 128 + 2);
        for (var i = perPage * 20; i > 0; i--)
            tree.Put(Number(i), new byte[128]);
        tree.State.LeafPages.Should().BeLessThan(60);
        tree.Check();
    }

    [Theory]
    [MemberData(nameof(PageSizes))]
    public void The_longest_keys_and_records_split_and_merge(int pageSize)
    {
        using var tree = new TestTree(pageSize);
        var random = new Random(pageSize);
        var max = tree.MaxKeyLength;
        var half = (pageSize - 64) / 2 - 2 - 4;
        var keys = new List<byte[]>();
        for (var i = 0; i < 300; i++)
        {
            // Keys that differ only at their ends make the longest separators.
            var key = new byte[max - random.Next(3)];
            BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(key.Length - 4), random.Next());
            tree.Put(key, new byte[random.Next(2) == 0 ? half - key.Length : random.Next(20)]);
            keys.Add(key);
            if (i % 10 == 0)
                tree.Check();
        }

        tree.State.Depth.Should().BeGreaterThan(3);
        tree.Pages.EndTransaction();
        foreach (var key in keys.OrderBy(_ => random.Next()).ToList())
        {
            tree.Delete(key);
            if (random.Next(10) == 0)
                tree.Check();
        }

        tree.Pages.EndTransaction();
        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Theory]
    [MemberData(nameof(PageSizes))]
    public void Records_of_every_size_fit_between_any_others(int pageSize)
    {
        var half = (pageSize - 64) / 2 - 2 - 4 - 3;
        int[] sizes = [0, 1, half / 4, half / 2, half - 1, half];
        foreach (var (a, b, c, d) in
            from a in sizes from b in sizes from c in sizes from d in sizes select (a, b, c, d))
        {
            using var tree = new TestTree(pageSize);
            tree.Put([1, 0, 0], new byte[a]);
            tree.Put([3, 0, 0], new byte[b]);
            tree.Put([2, 0, 0], new byte[c]);
            tree.Put([0, 0, 0], new byte[d]);
            tree.Put([2, 0, 0], new byte[half]);
            tree.Check();
            tree.Pages.EndTransaction();
        }
    }

    [Fact]
    public void Separators_are_the_shortest_that_separate()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 200; i++)
            tree.Put([(byte)i, .. new byte[50]], new byte[100]);
        tree.State.BranchPages.Should().Be(1);
        foreach (var separator in tree.RootSeparators())
            separator.Length.Should().Be(1);
    }

    [Fact]
    public void Deleting_and_inserting_at_a_boundary_does_not_split_and_merge_each_time()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 1_000; i++)
            tree.Put(Number(i), new byte[100]);
        for (var i = 0; i < 1_000; i++)
        {
            if (i % 10 != 0)
                tree.Delete(Number(i));
        }

        tree.Check();
        var pages = tree.State.LeafPages;
        pages.Should().BeLessThan(15, "pages below a third have been joined");
        var limit = tree.Pages.PageLimit;
        for (var i = 0; i < 200; i++)
        {
            tree.Put(Number(501), new byte[100]);
            tree.Delete(Number(501));
            tree.State.LeafPages.Should().Be(pages);
        }

        tree.Pages.PageLimit.Should().Be(limit);
    }

    [Fact]
    public void A_queue_keeps_few_pages()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 20_000; i++)
        {
            tree.Put(Number(i), new byte[60]);
            if (i >= 100)
                tree.Delete(Number(i - 100)).Should().BeTrue();
        }

        tree.State.LeafPages.Should().BeLessThan(8);
        tree.State.Depth.Should().BeLessThan(4);
        tree.Pages.EndTransaction();
        tree.Check();
    }

    [Fact]
    public void The_append_path_sees_keys_that_belong_elsewhere()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 3_000; i++)
        {
            tree.Put(Number(i * 10), new byte[60]);
            if (i % 7 == 0)
                tree.Put(Number(i * 5 + 1), new byte[60]);
            if (i % 11 == 0)
                tree.Delete(Number(i * 10));
        }

        tree.Check();
    }

    private static byte[] Number(int number)
    {
        var key = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
