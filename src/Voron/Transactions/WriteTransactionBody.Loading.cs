using Voron.Format;
using Voron.Testing;

namespace Voron.Transactions;

/// <content>Trees whose pages were written before the transaction began.</content>
internal sealed partial class WriteTransactionBody
{
    /// <summary>Finds a plain tree to load into. A tree that does not exist gets the id that it will have.</summary>
    /// <param name="name">The name in UTF-8.</param>
    /// <param name="target">Receives what was found.</param>
    /// <returns>True if the id of a new tree has to be committed.</returns>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public bool FindLoadTarget(ReadOnlySpan<byte> name, out LoadTarget target)
    {
        var isNew = OpenTree(name, TreeKind.Plain) == null;
        var header = CreateTree(name).SettledState().ToHeader();
        target = new LoadTarget(header, isNew, FindCompression(header));

        // The id is used up, and nothing else remains.
        return isNew && DeleteTree(name);
    }

    /// <summary>Gives a new or an empty tree the content of a load.</summary>
    /// <param name="name">The name in UTF-8.</param>
    /// <param name="loaded">The header of the loaded tree.</param>
    /// <param name="isNew">True if the tree did not exist when the load began.</param>
    /// <param name="dictionaries">The numbers of the dictionaries of its values; null if it is not compressed.</param>
    /// <returns>False if the tree is not as it was when the load began; then the transaction must be rolled back.</returns>
    public bool TryAdopt(ReadOnlySpan<byte> name, in TreeHeader loaded, bool isNew, IEnumerable<int>? dictionaries = null)
    {
        var tree = OpenTree(name);
        if (isNew != (tree == null) && !PlantedFault.AdoptChanged)
            return false;
        Context.BeginChange();
        try
        {
            if (tree == null)
                return Trees.Catalog.Create(WritePages, Catalog, name, loaded);
            var state = tree.SettledState();
            var now = state.ToHeader();
            var isUnchanged = now.TreeId == loaded.TreeId && now.Kind == loaded.Kind && now.Flags == loaded.Flags && now.RootPage == 0;
            if (!isUnchanged && !PlantedFault.AdoptChanged)
                return false;
            if (dictionaries != null && !TryUseDictionaries(loaded.TreeId, dictionaries))
                return false;
            tree.BeforeChange();
            state.Load(loaded);
            state.Changed = true;
            return true;
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }
    }
}
