using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>Trees of the engine's own, by the bytes of their names.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>The path of the data file, for messages.</summary>
    internal string DataFilePath => Body.Pages.FilePath;

    /// <summary>The history that the environment belongs to.</summary>
    internal Lineage Lineage => Body.Pages.Lineage;

    /// <summary>The maximum length of a key in bytes.</summary>
    internal int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(Body.Pages.PageSize);

    /// <summary>Opens a tree of entries by the bytes of its name; a default value, with false, when there is none of that name.</summary>
    internal bool TryFindTree(ReadOnlySpan<byte> name, out Tree tree)
    {
        var open = Body.OpenTree(_generation, name, TreeKind.Plain, out var treeGeneration);
        tree = open == null ? default : new Tree(open, treeGeneration);
        return open != null;
    }

    /// <summary>Opens a tree of id sets by the bytes of its name; a default value, with false, when there is none of that name.</summary>
    internal bool TryFindTree(ReadOnlySpan<byte> name, out IdTree tree)
    {
        var open = Body.OpenTree(_generation, name, TreeKind.IdSets, out var treeGeneration);
        tree = open == null ? default : new IdTree(open, treeGeneration);
        return open != null;
    }

    /// <summary>Reads how the values of a tree are compressed; false if they never were.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="settings">The settings.</param>
    /// <param name="newest">The entry of the newest dictionary; empty if the tree has none.</param>
    /// <exception cref="CorruptionException">The settings are damaged.</exception>
    internal bool TryGetCompression(uint treeId, out CompressionSettings settings, out ReadOnlySpan<byte> newest)
    {
        settings = default;
        newest = default;
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        if (Body.OpenTree(_generation, name, TreeKind.Plain, out _) is not { } dictionaries)
            return false;
        var state = dictionaries.SettledState();
        if (!TreeReader.TryGet(state, Body.Pages, DictionaryEntry.SettingsKey, out var bytes) || !CompressionSettings.TryRead(bytes, out settings))
            throw new CorruptionException($"The {SystemTree.Describe(name)} in '{DataFilePath}' has no settings, or damaged ones. Run Verify.");
        ReadOnlySpan<byte> key = [settings.LastDictionary];
        if (settings.LastDictionary == 0 || !TreeReader.TryGet(state, Body.Pages, key, out newest)
            || !DictionaryEntry.TryRead(newest, treeId, settings.LastDictionary, out _))
            newest = default;
        return true;
    }

    /// <summary>Returns the trees of the engine's own that were not dropped, in the order of their names.</summary>
    internal IReadOnlyList<(byte[] Name, TreeHeader Header)> GetSystemTrees()
    {
        Body.ThrowIfEnded(_generation);
        var mark = _body.Enter();
        try
        {
            _body.ThrowIfEnded(_generation);
            return TreeNames.ListSystem(_body);
        }
        finally
        {
            _body.Leave(mark);
        }
    }
}
