using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.Kinds;

/// <summary>Finds the parts of a tree with pages in the tail of the file, for a compaction. Reads a snapshot, one key at a time.</summary>
/// <param name="state">The tree.</param>
/// <param name="reader">The snapshot's pages.</param>
/// <param name="tailStart">The first page of the tail.</param>
internal sealed unsafe class TreeTail(TreeState state, PageReader reader, long tailStart)
{
    private static readonly byte[] LeastKey = [0];

    private readonly PageForm _form = TreeKinds.Of(state.Kind).Pages;

    /// <summary>Returns the initial key: no key of a tree precedes it.</summary>
    public static byte[]? First() => LeastKey;

    /// <summary>Examines the branch above the leaf of a key: its children, and the pages on the path to it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="pages">The number of these pages in the tail. They have been read, so that they are in memory.</param>
    /// <returns>A key of the next such branch; null if this is the last one.</returns>
    public byte[]? Look(ReadOnlySpan<byte> key, out int pages)
    {
        pages = 0;
        if (state.Root.IsNone)
            return null;
        _form.Descend(state, reader, key, out var path);
        for (var level = 0; level < Math.Max(1, path.LeafLevel); level++)
            Count(path.Page(level), ref pages);
        if (path.LeafLevel == 0)
            return null;
        var branch = _form.ReadBranch(reader, path.Page(path.LeafLevel - 1));
        for (var index = 0; index < PageForm.Count(branch); index++)
            Count(_form.Child(branch, reader.PageSize, index), ref pages);
        return NextBranch(path);
    }

    private void Count(PageNumber page, ref int pages)
    {
        if (page.Value < tailStart)
            return;
        pages++;
        reader.Read(page);
    }

    // The next branch above leaves begins at the lowest separator to the right of the path, at a level above this branch.
    private byte[]? NextBranch(in TreePath path)
    {
        Span<byte> key = stackalloc byte[ArrayKey.Size];
        for (var level = path.LeafLevel - 2; level >= 0; level--)
        {
            var branch = _form.ReadBranch(reader, path.Page(level));
            var next = path.Index(level) + 1;
            if (next < PageForm.Count(branch))
                return _form.Key(branch, reader.PageSize, next, key).ToArray();
        }

        return null;
    }
}
