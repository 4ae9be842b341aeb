using System.Text;
using Voron.Format;
using Voron.Trees;

namespace Voron.Tests.Trees;

[Quick]
public sealed class CatalogTests : IDisposable
{
    private readonly FakePages _pages = new();
    private readonly TreeState _catalog = new();

    [Fact]
    public void A_tree_is_found_again_under_its_name()
    {
        Catalog.TryFind(_catalog, _pages, "users"u8, out _).Should().BeFalse();
        Catalog.Create(_pages, _catalog, "users"u8, new TreeHeader { TreeId = 7 }).Should().BeTrue();
        Catalog.Create(_pages, _catalog, "users"u8, new TreeHeader { TreeId = 8 }).Should().BeFalse();
        Catalog.TryFind(_catalog, _pages, "users"u8, out var header).Should().BeTrue();
        header.TreeId.Should().Be(7);
    }

    [Fact]
    public void Saving_writes_the_header_and_clears_the_mark()
    {
        Catalog.Create(_pages, _catalog, "users"u8, new TreeHeader { TreeId = 7 });
        var tree = new TreeState(new TreeHeader { TreeId = 7 });
        TreeWriter.Put(_pages, tree, [1], [2]);
        tree.Changed.Should().BeTrue();
        Catalog.Save(_pages, _catalog, "users"u8, tree);
        tree.Changed.Should().BeFalse();

        Catalog.TryFind(_catalog, _pages, "users"u8, out var header);
        var again = new TreeState(header);
        again.EntryCount.Should().Be(1);
        again.TreeId.Should().Be(7);
        TreeReader.Contains(again, _pages, [1]).Should().BeTrue();
    }

    [Fact]
    public void A_header_keeps_all_of_its_fields_when_it_is_saved()
    {
        var sets = new TreeHeader { RootPage = 1, EntryCount = 2, LeafPages = 3, BranchPages = 4, OverflowPages = 5, Depth = 6, TreeId = 7 };
        sets = sets with { Kind = TreeKind.IdSets, Flags = 8, NestedPages = 9, NestedValues = 10 };
        new TreeState(sets).ToHeader().Should().Be(sets);
    }

    [Fact]
    public void An_emptied_tree_keeps_its_kind_and_the_size_of_its_values()
    {
        var tree = new TreeState(
            new TreeHeader { RootPage = 1, EntryCount = 2, LeafPages = 1, Depth = 1, Kind = TreeKind.FixedSize, NestedValues = 8 });
        tree.SetEmpty();
        tree.ToHeader().Should().Be(new TreeHeader { Kind = TreeKind.FixedSize, NestedValues = 8 });

        var sets = new TreeState(
            new TreeHeader { RootPage = 1, EntryCount = 2, LeafPages = 1, Depth = 1, Kind = TreeKind.IdSets, NestedPages = 3, NestedValues = 8 });
        sets.SetEmpty();
        sets.ToHeader().Should().Be(new TreeHeader { Kind = TreeKind.IdSets });
    }

    [Fact]
    public void Renaming_moves_the_header_and_refuses_a_taken_name()
    {
        Catalog.Create(_pages, _catalog, "a"u8, new TreeHeader { TreeId = 1 });
        Catalog.Create(_pages, _catalog, "b"u8, new TreeHeader { TreeId = 2 });
        Catalog.Rename(_pages, _catalog, "missing"u8, "c"u8).Should().BeFalse();
        Catalog.Rename(_pages, _catalog, "a"u8, "a"u8).Should().BeTrue();
        var taken = () => Catalog.Rename(_pages, _catalog, "a"u8, "b"u8);
        taken.Should().Throw<ArgumentException>().WithMessage("*'b'*");

        Catalog.Rename(_pages, _catalog, "a"u8, "c"u8).Should().BeTrue();
        Catalog.TryFind(_catalog, _pages, "a"u8, out _).Should().BeFalse();
        Catalog.TryFind(_catalog, _pages, "c"u8, out var header).Should().BeTrue();
        header.TreeId.Should().Be(1);
    }

    [Fact]
    public void Deleting_removes_the_name()
    {
        Catalog.Create(_pages, _catalog, "users"u8, default);
        var tree = new TreeState();
        for (var i = 0; i < 100; i++)
            TreeWriter.Put(_pages, tree, [(byte)i], new byte[1_000]);
        RangeRemoval.DeleteAll(_pages, tree);
        Catalog.Delete(_pages, _catalog, "users"u8, tree).Should().BeTrue();
        Catalog.Delete(_pages, _catalog, "users"u8, tree).Should().BeFalse();
        _pages.PagesInUse.Should().Be(0);
    }

    [Theory]
    [InlineData("", 0)]
    [InlineData("€", 86)]
    [InlineData("x", 256)]
    public void Names_of_wrong_length_are_refused_with_the_numbers(string text, int times)
    {
        var name = string.Concat(Enumerable.Repeat(text, times));
        var bytes = Encoding.UTF8.GetByteCount(name);
        var encode = () => Catalog.Encode(name, new byte[300]).Length;
        encode.Should().Throw<ArgumentException>().WithMessage($"*1 to 255*{bytes}*");
        var create = () => Catalog.Create(_pages, _catalog, new byte[bytes], default);
        create.Should().Throw<ArgumentException>().WithMessage($"*1 to 255*{bytes}*");
    }

    [Fact]
    public void A_name_that_is_no_text_is_refused()
    {
        var encode = () => Catalog.Encode("a\ud800", new byte[300]).Length;
        encode.Should().Throw<ArgumentException>().WithMessage("*surrogate*");
    }

    [Fact]
    public void The_longest_name_is_fine()
    {
        var name = Catalog.Encode(new string('x', 255), new byte[255]);
        Catalog.Create(_pages, _catalog, name, default).Should().BeTrue();
        Catalog.Decode(name).Should().Be(new string('x', 255));
    }

    [Fact]
    public void An_entry_that_is_no_header_is_reported()
    {
        TreeWriter.Put(_pages, _catalog, "bad"u8, [1, 2, 3]);
        var find = () => Catalog.TryFind(_catalog, _pages, "bad"u8, out _);
        find.Should().Throw<CorruptionException>().WithMessage("*'bad'*3 bytes*64*");
    }

    public void Dispose() => _pages.Dispose();
}
