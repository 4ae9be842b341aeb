using Voron.Format;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees;

[Quick]
public sealed unsafe class TreeCheckerTests
{
    private delegate void Planting(byte* leaf, byte* root);

    private readonly List<string> _problems = [];

    [Fact]
    public void A_sound_tree_has_no_problems()
    {
        using var tree = Filled();
        Check(tree).Should().BeTrue();
        _problems.Should().BeEmpty();
    }

    [Fact]
    public void A_wrong_page_number_is_found() => Plant((leaf, _) => Header(leaf)->PageNumber++, "names itself");

    [Fact]
    public void A_wrong_kind_is_found() => Plant((leaf, _) => Header(leaf)->Kind = PageKind.Branch, "is of kind Branch");

    [Fact]
    public void Wrong_hole_bytes_are_found() => Plant((leaf, _) => Header(leaf)->HoleBytes++, "bytes of holes");

    [Fact]
    public void A_wrong_heap_start_is_found() => Plant((leaf, _) => Header(leaf)->HeapStart -= 8, "heap starts at");

    [Fact]
    public void A_slot_outside_the_heap_is_found() => Plant((leaf, _) => SlottedPage.Slots(leaf)[3] = 4095, "slot 3");

    [Fact]
    public void Overlapping_records_are_found() =>
        Plant((leaf, _) => SlottedPage.Slots(leaf)[3] = SlottedPage.Slots(leaf)[4], "overlaps");

    [Fact]
    public void Keys_out_of_order_are_found() => Plant((leaf, _) => SlottedPage.Record(leaf, 3)[4] ^= 0x80, "not above");

    [Fact]
    public void A_key_outside_of_its_separators_is_found() =>
        Plant((leaf, _) => LeafPage.KeyBytes(SlottedPage.Record(leaf, SlottedPage.Count(leaf) - 1))[0] = 255, "separator that follows");

    [Fact]
    public void A_lost_entry_is_found() => Plant((leaf, _) => Header(leaf)->EntryCount--, "entries");

    [Fact]
    public void A_child_outside_of_the_file_is_found() =>
        Plant((_, root) => ((BranchRecordHeader*)SlottedPage.Record(root, 1))->Child = long.MaxValue, "pages go from 1");

    [Fact]
    public void A_child_linked_twice_is_found() =>
        Plant((_, root) => ((BranchRecordHeader*)SlottedPage.Record(root, 1))->Child = BranchPage.Child(root, 0).Value, "twice");

    [Fact]
    public void A_cycle_is_found() =>
        Plant((_, root) => ((BranchRecordHeader*)SlottedPage.Record(root, 1))->Child = Header(root)->PageNumber, "twice");

    [Fact]
    public void An_extent_with_a_wrong_length_is_found()
    {
        using var tree = Filled();
        Header(tree.Pages.Damage(ExtentOf(tree)))->ExtentBytes++;
        Check(tree).Should().BeFalse();
        _problems.Should().ContainMatch("*extent of page*");
    }

    [Fact]
    public void An_extent_outside_of_the_file_is_found()
    {
        using var tree = Filled();
        var record = TreeReader.Find(tree.State, tree.Pages, [7]);
        ((OverflowReference*)LeafPage.InlineBytes(record))->Length = long.MaxValue;
        Check(tree).Should().BeFalse();
        _problems.Should().ContainMatch("*does not lie inside*");
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 33)]
    [InlineData(0, 2)]
    [InlineData(3, 0)]
    public void Impossible_headers_are_found(long root, ushort depth)
    {
        using var tree = Filled();
        var header = tree.State.ToHeader();
        header.RootPage = root;
        header.Depth = depth;
        new TreeCheck(tree.Pages, tree.Pages.PageLimit, _problems.Add).Run(header).Should().BeFalse();
        _problems.Should().ContainMatch("tree header*");
    }

    [Fact]
    public void An_impossible_kind_is_found()
    {
        using var tree = Filled();
        new TreeCheck(tree.Pages, tree.Pages.PageLimit, _problems.Add).Run(tree.State.ToHeader() with { Kind = (TreeKind)4 }).Should().BeFalse();
        _problems.Should().ContainSingle().Which.Should().Contain("kind is 4");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Random_damage_never_makes_the_check_fail_itself(int seed)
    {
        var random = new Random(seed);
        using var tree = Filled();
        var found = 0;
        for (var round = 0; round < SuiteShare.Rounds(3_000); round++)
        {
            var page = new PageNumber(random.NextInt64(1, 8));
            var bytes = tree.Pages.Damage(page);
            var offset = random.Next(2) == 0 ? random.Next(32, 160) : random.Next(32, 4096);
            var length = Math.Min(random.Next(1, 5), 4096 - offset);
            var old = new Span<byte>(bytes + offset, length).ToArray();
            random.NextBytes(new Span<byte>(bytes + offset, length));
            if (!Check(tree))
                found++;
            old.CopyTo(new Span<byte>(bytes + offset, length));
        }

        found.Should().BeGreaterThan(SuiteShare.Rounds(500), $"seed {seed}: the rest hits values and gaps");
        Check(tree).Should().BeTrue();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(50)]
    public void In_slices_every_page_is_walked_once(int pages)
    {
        using var tree = new TestTree();
        for (var i = 0; i < 5_000; i++)
            tree.Put(BitConverter.GetBytes(i), new byte[i % 100 == 0 ? 5_000 : 100]);
        var check = new TreeCheck(tree.Pages, tree.Pages.PageLimit, _problems.Add) { SlicePages = pages };
        check.Run(tree.State.ToHeader()).Should().BeTrue();
        _problems.Should().BeEmpty();
        check.Owned.Count.Should().Be((int)tree.Pages.PagesInUse);
        check.Slices.Should().BeGreaterThan(check.Owned.Count / (4 * pages));
    }

    private void Plant(Planting damage, string expected)
    {
        using var tree = Filled();
        var root = tree.Pages.Damage(tree.State.Root);
        damage(tree.Pages.Damage(BranchPage.Child(root, 0)), root);
        Check(tree).Should().BeFalse();
        _problems.Should().ContainMatch($"*{expected}*");
    }

    private bool Check(TestTree tree)
    {
        _problems.Clear();
        return new TreeCheck(tree.Pages, tree.Pages.PageLimit, _problems.Add).Run(tree.State.ToHeader());
    }

    private static PageHeader* Header(byte* page) => (PageHeader*)page;

    private static PageNumber ExtentOf(TestTree tree)
    {
        var record = TreeReader.Find(tree.State, tree.Pages, [7]);
        return new PageNumber(((OverflowReference*)LeafPage.InlineBytes(record))->FirstPage);
    }

    private static TestTree Filled()
    {
        var tree = new TestTree();
        for (var i = 0; i < 150; i++)
            tree.Put([(byte)i], new byte[100]);
        tree.Put([7], new byte[9_000]);
        tree.State.Depth.Should().Be(2);
        return tree;
    }
}
