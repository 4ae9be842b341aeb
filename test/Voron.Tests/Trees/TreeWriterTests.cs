using Voron.Format;
using Voron.Primitives;
using Voron.Trees;

namespace Voron.Tests.Trees;

[Quick]
public sealed class TreeWriterTests
{
    [Fact]
    public void An_empty_tree_has_no_page_and_no_entry()
    {
        using var tree = new TestTree();
        tree.Get([1]).Should().BeNull();
        tree.Delete([1]).Should().BeFalse();
        tree.State.Changed.Should().BeFalse();
        tree.Check();
        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Fact]
    public void Deleting_the_last_entry_frees_the_last_page()
    {
        using var tree = new TestTree();
        tree.Put([1], [2]);
        tree.State.Depth.Should().Be(1);
        tree.Pages.PagesInUse.Should().Be(1);
        tree.Delete([1]).Should().BeTrue();
        tree.State.Depth.Should().Be(0);
        tree.Pages.PagesInUse.Should().Be(0);
        tree.Check();
    }

    [Fact]
    public void Keys_are_ordered_as_unsigned_bytes_and_a_prefix_comes_first()
    {
        using var tree = new TestTree();
        byte[][] keys =
        [
            [0], [0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 1], [1], [1, 0, 0, 0, 0, 0, 0, 1],
            [1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0, 0, 1, 9, 9], [127], [128], [255], [255, 255],
        ];
        foreach (var key in keys.Reverse())
            tree.Insert(key, key).Should().BeTrue();

        var cursor = tree.OpenCursor();
        foreach (var key in keys)
        {
            cursor.MoveNext().Should().BeTrue();
            cursor.Key.ToArray().Should().Equal(key);
            tree.Get(key).Should().Equal(key);
        }

        tree.Check();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(961)]
    public void A_key_of_a_wrong_length_is_refused_with_the_numbers(int length)
    {
        using var tree = new TestTree();
        var put = () => TreeWriter.Put(tree.Pages, tree.State, new byte[length], []);
        put.Should().Throw<ArgumentException>().WithMessage($"*1 to 960*{length}*");
        tree.Check();
    }

    [Fact]
    public void Insert_leaves_an_existing_entry_alone()
    {
        using var tree = new TestTree();
        tree.Insert([1], [2]).Should().BeTrue();
        TreeWriter.Insert(tree.Pages, tree.State, [1], [3]).Should().BeFalse();
        tree.Get([1]).Should().Equal(2);
        tree.State.EntryCount.Should().Be(1);
    }

    [Fact]
    public void Overwriting_with_the_same_length_changes_only_the_bytes_of_the_value()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 20; i++)
            tree.Put([(byte)i], Bytes(100, 1));
        tree.Pages.EndTransaction();
        tree.State.Changed = false;

        tree.Put([7], Bytes(100, 2));
        tree.Pages.EndTransaction();
        tree.Pages.ChangedBytes.Should().Be(100);
        tree.State.Changed.Should().BeFalse("no field of the header has changed");
    }

    [Fact]
    public void A_deleted_records_hole_is_reused_without_moving_others()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 29; i++)
            tree.Put([(byte)(i * 2)], Bytes(130, (byte)i));
        tree.Delete([20]);
        tree.Pages.EndTransaction();

        tree.Put([31], Bytes(130, 99));
        tree.Pages.EndTransaction();
        tree.State.LeafPages.Should().Be(1);
        tree.Pages.ChangedBytes.Should().BeLessThan(190, "that is a record, the slots behind it, and the header");
        tree.Check();
    }

    [Fact]
    public void A_page_is_compacted_only_when_no_hole_is_large_enough()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 29; i++)
            tree.Put([(byte)i], Bytes(130, (byte)i));
        tree.Delete([5]);
        tree.Delete([15]);
        tree.Pages.EndTransaction();

        tree.Put([5], Bytes(260, 1));
        tree.State.LeafPages.Should().Be(1);
        tree.Check();
        tree.Pages.EndTransaction();
        tree.Pages.ChangedBytes.Should().BeGreaterThan(1000);
    }

    [Fact]
    public void Shorter_then_longer_values_keep_the_page_sound()
    {
        using var tree = new TestTree();
        foreach (var length in new[] { 100, 10, 90, 0, 300, 299, 1900, 5, 3000, 5 })
        {
            tree.Put([1], Bytes(length, (byte)length));
            tree.Put([2], Bytes(50, 2));
            tree.Check();
            tree.Pages.EndTransaction();
        }
    }

    [Fact]
    public void Values_go_into_the_leaf_up_to_half_a_page_and_into_an_extent_beyond()
    {
        using var tree = new TestTree();
        var longest = (4096 - 64) / 2 - 2 - LeafRecordHeader.Size - 1;
        tree.Put([1], Bytes(longest, 1));
        tree.State.OverflowPages.Should().Be(0);
        tree.Put([2], Bytes(longest + 1, 2));
        tree.State.OverflowPages.Should().Be(1);
        tree.Put([3], Bytes(4096 - 64, 3));
        tree.State.OverflowPages.Should().Be(2);
        tree.Put([4], Bytes(4096 - 63, 4));
        tree.State.OverflowPages.Should().Be(4);
        tree.Check();
    }

    [Fact]
    public void An_extent_is_reused_by_a_value_that_needs_as_many_pages_and_freed_otherwise()
    {
        using var tree = new TestTree();
        tree.Put([1], Bytes(10_000, 1));
        var limit = tree.Pages.PageLimit;
        tree.Pages.EndTransaction();
        tree.Put([1], Bytes(9_000, 2));
        tree.Pages.EndTransaction();
        tree.Pages.PageLimit.Should().Be(limit);
        tree.Check();

        tree.Put([1], Bytes(100_000, 3));
        tree.Check();
        tree.Put([1], Bytes(3, 4));
        tree.State.OverflowPages.Should().Be(0);
        tree.Check();
        tree.Put([1], Bytes(50_000, 5));
        tree.Delete([1]);
        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Fact]
    public void Keys_and_values_may_be_spans_of_the_tree_itself()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 25; i++)
            tree.Put([(byte)i, 7], Bytes(140, (byte)i));
        tree.Put([99], Bytes(20_000, 99));

        for (var i = 0; i < 200; i++)
        {
            byte[] from = [(byte)(i % 25), 7];
            byte[] to = [(byte)(i * 7 % 25), (byte)(i % 3 + 7)];
            var expected = tree.Get(from)!;
            TreeReader.TryGet(tree.State, tree.Pages, from, out var value);
            TreeWriter.Put(tree.Pages, tree.State, to, value);
            tree.Model[to] = expected;
            tree.Put(to, expected.Concat(expected).Take(140 + i % 17).ToArray());
            if (i % 5 == 0)
                tree.Pages.EndTransaction();
        }

        TreeReader.TryGet(tree.State, tree.Pages, [99], out var run);
        TreeWriter.Put(tree.Pages, tree.State, [99], run[5_000..19_000]);
        tree.Model[[99]] = Bytes(14_000, 99);
        tree.Check();
    }

    [Fact]
    public void A_value_from_the_page_survives_the_compaction_that_its_copy_causes()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 28; i++)
            tree.Put([(byte)(i * 2)], Bytes(130, (byte)i));
        tree.Put([27], Bytes(180, 99));
        tree.Delete([10]);
        tree.Delete([30]);

        TreeReader.TryGet(tree.State, tree.Pages, [27], out var value);
        TreeWriter.Put(tree.Pages, tree.State, [60], value);
        tree.Model[[60]] = Bytes(180, 99);
        tree.State.LeafPages.Should().Be(1);
        tree.Check();
    }

    [Fact]
    public void A_failed_allocation_of_an_extent_leaves_the_tree_as_it_was()
    {
        using var tree = new TestTree();
        tree.Pages.PagesLeft = 2;
        var put = () => TreeWriter.Put(tree.Pages, tree.State, [1], new byte[20_000]);
        put.Should().Throw<StorageFullException>();
        tree.Check();
        tree.Put([2], [3]);
        put.Should().Throw<StorageFullException>();
        tree.Check();
    }

    [Fact]
    public void A_large_extent_is_kept_by_its_reference_and_freed_with_its_checksums()
    {
        using var tree = new TestTree();
        var run = tree.Pages.AllocateExtent(17 * 4096 - 64, PageNumber.None);
        var checksums = tree.Pages.AllocateExtent(100, PageNumber.None);
        var reference = new LargeExtentReference
        {
            FirstPage = run.FirstPage(),
            Length = 17 * 4096,
            Checksums = (ulong)checksums.FirstPage(),
        };
        TreeWriter.PutLargeExtent(tree.Pages, tree.State, [1], reference);
        tree.State.OverflowPages.Should().Be(18);
        tree.CheckStructure();
        var get = () => tree.Get([1]);
        get.Should().Throw<NotSupportedException>();

        TreeWriter.Put(tree.Pages, tree.State, [1], [2]);
        tree.State.OverflowPages.Should().Be(0);
        tree.CheckStructure();
    }

    [Fact]
    public void Reserve_refuses_a_negative_length()
    {
        using var tree = new TestTree();
        var reserve = () => { TreeWriter.Reserve(tree.Pages, tree.State, [1], -1); };
        reserve.Should().Throw<ArgumentOutOfRangeException>();
    }

    [Fact]
    public void Freeing_a_tree_gives_every_page_back()
    {
        using var tree = new TestTree();
        var random = new Random(1);
        for (var i = 0; i < 2_000; i++)
            tree.Put(BitConverter.GetBytes(random.Next()), Bytes(i % 50 == 0 ? 9_000 : 100, 1));
        tree.State.Depth.Should().BeGreaterThan(1);

        RangeRemoval.DeleteAll(tree.Pages, tree.State);
        tree.Model.Clear();
        tree.Pages.PagesInUse.Should().Be(0);
        tree.Check();
        tree.Put([1], [1]);
        tree.Check();
    }

    private static byte[] Bytes(int length, byte value)
    {
        var bytes = new byte[length];
        bytes.AsSpan().Fill(value);
        return bytes;
    }
}
