using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <content>Trees that lose their names immediately, and their pages step by step.</content>
internal sealed partial class WriteTransactionBody
{
    /// <summary>Removes a tree's name. Its pages are left to <see cref="CutDroppedTree"/>, unless they are few.</summary>
    /// <remarks>In version 1 of the format, whose engines know no system trees, all pages are freed immediately.</remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="fewPages">The maximum number of pages that are freed immediately.</param>
    public DroppedTree DropTree(ReadOnlySpan<byte> name, long fewPages)
    {
        var tree = OpenTree(name);
        if (tree == null)
            return default;

        Context.BeginChange();
        try
        {
            tree.BeforeChange();
            RecordName(tree, default);
            var state = tree.SettledState();
            var id = state.TreeId;
            var isLarge = !_engine.Format.IsVersion1 && state.ToHeader().Pages > fewPages;
            if (isLarge)
                MoveToDropped(name, state);
            else
                FreeAndForget(name, state);
            SetDropped(tree, isDropped: true);
            DeleteDictionaries(id);
            var large = tree.LargeSets is OpenTree sets ? DropTree(sets.Name, fewPages) : default;
            return new DroppedTree { IsFound = true, HasPages = isLarge, Id = id, LargeSetsId = large.HasPages ? large.Id : null };
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    /// <summary>Finds the first dropped tree whose id is not below another.</summary>
    public DroppedTree FindDroppedTree(uint fromId) => Trees.Catalog.TryFindDropped(Catalog, WritePages, fromId, out var id)
        ? new DroppedTree { IsFound = true, HasPages = true, Id = id }
        : default;

    /// <summary>Frees pages of a dropped tree.</summary>
    /// <param name="id">The id of the tree, as <see cref="FindDroppedTree"/> has found it.</param>
    /// <param name="most"><inheritdoc cref="TreeCutter.Cut" path="/param[@name='most']/node()"/></param>
    /// <param name="freed">The number of pages that were freed.</param>
    /// <exception cref="CorruptionException">A page of the tree is damaged. The transaction is rolled back by the caller.</exception>
    public DroppedTree CutDroppedTree(uint id, int most, out long freed)
    {
        Span<byte> buffer = stackalloc byte[SystemTree.DroppedNameBytes];
        freed = 0;
        var name = SystemTree.DroppedName(id, buffer);
        Context.BeginChange();
        try
        {
            var tree = OpenTree(name)!;
            tree.BeforeChange();
            var state = tree.SettledState();
            freed = TreeCutter.Cut(WritePages, state, most);
            if (!state.Root.IsNone)
                return new DroppedTree { IsFound = true, HasPages = true, Id = id };
            state.Changed = false;
            TreeWriter.Delete(WritePages, Catalog, name);
            SetDropped(tree, isDropped: true);
            return new DroppedTree { IsFound = true, Id = id };
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }

    // The old name is removed first: the new one then fits even if no page is left.
    private void MoveToDropped(ReadOnlySpan<byte> name, TreeState state)
    {
        var header = state.ToHeader();
        var dropped = SystemTree.DroppedName(header.TreeId, stackalloc byte[SystemTree.DroppedNameBytes]);
        state.Changed = false;
        TreeWriter.Delete(WritePages, Catalog, name);
        if (!Trees.Catalog.Create(WritePages, Catalog, dropped, header))
        {
            throw new CorruptionException(
                $"The catalog of '{WritePages.FilePath}' contains a {SystemTree.Describe(dropped)} and a tree with the same id. " +
                "Nothing was dropped. Run Verify.");
        }
    }
}

/// <summary>A tree that was dropped, or whose pages were freed.</summary>
internal readonly record struct DroppedTree
{
    /// <summary>False if there is no such tree.</summary>
    public bool IsFound { get; init; }

    /// <summary>True if pages are left, under an internal name.</summary>
    public bool HasPages { get; init; }

    public uint Id { get; init; }

    /// <summary>The id of a value-set tree's companion that has pages left; otherwise null.</summary>
    public uint? LargeSetsId { get; init; }
}
