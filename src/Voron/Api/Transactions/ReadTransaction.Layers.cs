using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>What tables and feeds need of a transaction: trees of the engine's own, by the bytes of their names.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>The path of the data file, for messages.</summary>
    internal string DataFilePath => Body.Pages.FilePath;

    /// <inheritdoc cref="Lineage.Stamps"/>
    internal (long Own, long Parent, long ForkTransactionId) LineageStamps => Body.Pages.Lineage.Stamps;

    /// <summary>The maximum length of a key in bytes.</summary>
    internal int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(Body.Pages.PageSize);

    /// <summary>The time at which the transaction judges the expiry of rows, in milliseconds since 1970: the same until it ends.</summary>
    internal long Now => Body.ReadTime();

    /// <summary>Opens a tree of entries by the bytes of its name; false, with a default value, when there is none of that name.</summary>
    internal bool TryFindTree(ReadOnlySpan<byte> name, out Tree tree)
    {
        var open = Body.OpenTree(_generation, name, TreeKind.Plain, out var treeGeneration);
        tree = open == null ? default : new Tree(open, treeGeneration);
        return open != null;
    }

    /// <summary>Opens a tree of id sets by the bytes of its name; false, with a default value, when there is none of that name.</summary>
    internal bool TryFindTree(ReadOnlySpan<byte> name, out IdTree tree)
    {
        var open = Body.OpenTree(_generation, name, TreeKind.IdSets, out var treeGeneration);
        tree = open == null ? default : new IdTree(open, treeGeneration);
        return open != null;
    }

    /// <summary>Returns the compression settings of a tree; zeros if its values were never compressed.</summary>
    /// <exception cref="CorruptionException">The settings are damaged.</exception>
    internal CompressionSettings GetCompression(uint treeId) =>
        OpenDictionaries(treeId) is { } dictionaries ? DictionaryTree.ReadSettings(dictionaries.SettledState(), Body.Pages, treeId) : default;

    /// <summary>Returns the entry of a dictionary of a tree; empty if the tree does not have the dictionary, or if it is damaged.</summary>
    internal ReadOnlySpan<byte> GetDictionary(uint treeId, byte number)
    {
        ReadOnlySpan<byte> key = [number];
        return OpenDictionaries(treeId) is { } dictionaries
            && TreeReader.TryGet(dictionaries.SettledState(), Body.Pages, key, out var entry) && DictionaryEntry.TryRead(entry, treeId, number, out _)
            ? entry
            : default;
    }

    /// <summary>Returns the engine's own trees that were not dropped, in the order of their names.</summary>
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

    /// <summary>Returns the numbers of entries, of ids or values in their sets, and of pages of <see cref="GetSystemTrees"/>.</summary>
    internal IEnumerable<(byte[] Name, long Entries, long Values, long Pages)> GetSystemTreeSizes() =>
        GetSystemTrees().Select(static tree => (tree.Name, tree.Header.EntryCount, tree.Header.NestedValues, tree.Header.Pages));

    /// <summary>Returns the trees that are marked as recorded by a feed, with a description of each.</summary>
    internal Dictionary<uint, string> GetRecordedTrees()
    {
        var recorded = new Dictionary<uint, string>();
        foreach (var name in GetTreeNames())
        {
            _ = GetTreeStatistics(name, out var header);
            Note(header, $"tree '{name}'");
        }

        foreach (var (name, header) in GetSystemTrees())
            Note(header, SystemTree.Describe(name));
        return recorded;

        void Note(in TreeHeader header, string name)
        {
            if ((header.Flags & TreeHeader.RecordedFlag) != 0)
                recorded[header.TreeId] = name;
        }
    }

    private OpenTree? OpenDictionaries(uint treeId) =>
        Body.OpenTree(_generation, SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]), TreeKind.Plain, out _);
}
