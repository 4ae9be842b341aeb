using Voron.Format;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Tests.Trees;

/// <summary>What code for all kinds of trees asks of a page finds the pages of each kind.</summary>
[Quick]
public sealed unsafe class PageFormTests : IDisposable
{
    private const string Name = "tree";

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    private int PageSize => _environment.Internals.Engine.PageSize;

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void The_root_of_a_tree_of_each_kind_is_recognized()
    {
        foreach (var kind in Enum.GetValues<TreeKind>())
        {
            using var writing = _environment.BeginWrite();
            PutOne(kind)(writing);
            var root = RootOf(writing, kind);
            var form = PageForm.Find(((PageHeader*)root)->Kind);
            form.Should().Be(TreeKinds.Of(kind).Pages, "trees of the kind {0} have such pages", kind);
            form!.IsLeaf(root).Should().BeTrue();
            PageStructure.IsLeaf(*(PageHeader*)root).Should().BeTrue();
            form.KindOf(root).Should().Be((ShownKind(kind), kind == TreeKind.FixedSize ? 8 : 0));
            form.UsedFraction(root, PageSize).Should().BeInRange(0.001, 0.1);
        }
    }

    [Fact]
    public void The_value_of_an_entry_is_found_in_its_leaf()
    {
        foreach (var kind in (TreeKind[])[TreeKind.Plain, TreeKind.FixedSize])
        {
            using var writing = _environment.BeginWrite();
            PutOne(kind)(writing);
            var value = TreeKinds.Of(kind).Pages.Value(RootOf(writing, kind), PageSize, 0, out var length);
            new ReadOnlySpan<byte>(value, length).SequenceEqual("12345678"u8).Should().BeTrue();
        }
    }

    [Fact]
    public void A_value_that_a_leaf_refers_to_is_not_in_it()
    {
        using var writing = _environment.BeginWrite();
        writing.CreateTree(Name).Put("key"u8, new byte[2 * PageSize]);
        (PageForm.Slotted.Value(RootOf(writing, TreeKind.Plain), PageSize, 0, out _) == null).Should().BeTrue();
    }

    [Fact]
    public void Pages_that_no_tree_has_have_no_form()
    {
        foreach (var kind in (PageKind[])[PageKind.Overflow, PageKind.SectionMap, PageKind.Ids, (PageKind)99])
            PageForm.Find(kind).Should().BeNull("{0} is no branch or leaf of a tree", kind);
    }

    // The leaves of value sets contain ordinary values.
    private static TreeKind ShownKind(TreeKind kind) => kind == TreeKind.ValueSets ? TreeKind.Plain : kind;

    private static byte* RootOf(WriteTransaction writing, TreeKind kind)
    {
        var tree = writing.Body.OpenTree(Catalog.Encode(Name, stackalloc byte[256]), kind)!;
        return writing.Body.WritePages.Read(tree.SettledState().Root);
    }

    private static Action<WriteTransaction> PutOne(TreeKind kind) => kind switch
    {
        TreeKind.Plain => static writing => writing.CreateTree(Name).Put("key"u8, "12345678"u8),
        TreeKind.ValueSets => static writing => writing.CreateValueSetTree(Name).Add("key"u8, "12345678"u8),
        TreeKind.IdSets => static writing => writing.CreateIdTree(Name).Add("key"u8, 1),
        TreeKind.FixedSize => static writing => writing.CreateFixedTree(Name, 8).Put(1, "12345678"u8),
    };
}
