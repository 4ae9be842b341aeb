using Voron.Trees;

namespace Voron.Transactions;

/// <content>Trees that lose their names at once, and their pages step by step.</content>
internal sealed partial class WriteTransactionBody
{
    /// <summary>Takes its name from a tree. Its pages are left to <see cref="CutDroppedTree"/>, unless they are few.</summary>
    /// <remarks>In version 1 of the format, whose engines know no system trees, all pages are freed at once.</remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="fewPages">The number of pages up to which they are freed at once.</param>
    /// <returns>False if there is no such tree.</returns>
    public bool DropTree(ReadOnlySpan<byte> name, long fewPages)
    {
        var tree = OpenTree(name);
        if (tree == null)
            return false;

        Scope.BeginChange();
        try
        {
            tree.BeforeChange();
            var state = tree.SettledState();
            if (_engine.Format.IsVersion1 || state.LeafPages + state.BranchPages + state.OverflowPages <= fewPages)
            {
                Trees.Catalog.Delete(WritePages, Catalog, name, state);
            }
            else
            {
                // The old name goes first: the new one then finds room even if there is no page left.
                var header = state.ToHeader();
                state.Changed = false;
                TreeWriter.Delete(WritePages, Catalog, name);
                var dropped = SystemTree.DroppedName(header.TreeId, stackalloc byte[SystemTree.DroppedNameBytes]);
                Trees.Catalog.Create(WritePages, Catalog, dropped, header);
            }

            SetDropped(tree, isDropped: true);
            return true;
        }
        catch (Exception e) when (Scope.Break(e))
        {
            throw;
        }
    }

    /// <summary>Frees pages of the first dropped tree.</summary>
    /// <param name="most"><inheritdoc cref="TreeCutter.Cut" path="/param[@name='most']/node()"/></param>
    /// <returns>The number of pages that were freed; -1 if there is no dropped tree.</returns>
    public long CutDroppedTree(int most)
    {
        Span<byte> name = stackalloc byte[SystemTree.DroppedNameBytes];
        if (!Trees.Catalog.TryFindDropped(Catalog, WritePages, name))
            return -1;
        var tree = OpenTree(name)!;
        Scope.BeginChange();
        try
        {
            tree.BeforeChange();
            var state = tree.SettledState();
            var freed = TreeCutter.Cut(WritePages, state, most);
            if (!state.Root.IsNone)
                return freed;
            state.Changed = false;
            TreeWriter.Delete(WritePages, Catalog, name);
            SetDropped(tree, isDropped: true);
            return freed;
        }
        catch (Exception e) when (Scope.Break(e))
        {
            throw;
        }
    }
}
