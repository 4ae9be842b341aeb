using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees;

/// <summary>Views of the insides of pages for tests.</summary>
internal static unsafe class PageViews
{
    public static long FirstPage(this WritablePage page) => page.Header->PageNumber;

    public static List<byte[]> RootSeparators(this TestTree tree)
    {
        var root = tree.Pages.Read(tree.State.Root);
        var separators = new List<byte[]>();
        for (var i = 1; i < SlottedPage.Count(root); i++)
            separators.Add(BranchPage.Key(SlottedPage.Record(root, i)).ToArray());
        return separators;
    }

    /// <summary>Returns the journaled bytes of a page without zeros: "offset: hex" for each 16 bytes that are not all zero.</summary>
    public static string Image(this TestTree tree, Voron.Primitives.PageNumber page) => Image(tree.Pages, page);

    /// <inheritdoc cref="Image(TestTree, Voron.Primitives.PageNumber)"/>
    public static string Image(this FakePages pages, Voron.Primitives.PageNumber page)
    {
        var bytes = new ReadOnlySpan<byte>(pages.Read(page), pages.PageSize);
        var lines = new List<string>();
        for (var i = 32; i < bytes.Length; i += 16)
        {
            if (bytes.Slice(i, 16).ContainsAnyExcept((byte)0))
                lines.Add($"{i:x4}: {Convert.ToHexStringLower(bytes.Slice(i, 16))}");
        }

        return string.Join('\n', lines);
    }
}
