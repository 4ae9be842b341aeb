using System.Collections.Concurrent;
using Voron.Compression;
using Voron.Format;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Keeps the dictionaries that were read, for all transactions of an environment. Readers take no lock.</summary>
/// <remarks>
/// <code>
///   trained ─▶ installed in a transaction of its own ─▶ committed: writers and readers find it in the tree ─▶ read once, and kept here
///                                                                 └▶ dropped: older snapshots find it here, or in their tree
/// </code>
/// A number is never given twice in a tree, and a transaction that installs a dictionary does nothing else: so what is kept here under a number is
/// the same for every snapshot that has it, and what was rolled back has never been kept. That a dictionary is kept does not mean that the tree still
/// has it: a writer looks into the tree.
/// </remarks>
internal sealed class DictionaryCache : ValueDictionaries
{
    private readonly ConcurrentDictionary<(uint Tree, int Number), ValueDictionary> _dictionaries = new();

    /// <inheritdoc/>
    public override ValueDictionary? Find(PageReader pages, in TreeHeader catalog, uint treeId, int number)
    {
        if (PlantedFault.UnpackWithNewestDictionary)
            number = Newest(pages, catalog, treeId);
        if (_dictionaries.TryGetValue((treeId, number), out var known))
            return known;
        return Read(pages, catalog, treeId, number) is { } read ? _dictionaries.GetOrAdd((treeId, number), read) : null;
    }

    /// <summary>Forgets the dictionaries of a tree that was deleted. A snapshot that still has the tree reads them again.</summary>
    public void Forget(uint treeId)
    {
        for (var number = 1; number <= PackedValue.MostDictionaries; number++)
            _dictionaries.TryRemove((treeId, number), out _);
    }

    /// <inheritdoc/>
    public override ValueDictionary? Read(PageReader pages, in TreeHeader catalog, uint treeId, int number)
    {
        ReadOnlySpan<byte> key = [(byte)number];
        if (!DictionaryTree.TryOpen(catalog, pages, treeId, out var dictionaries)
            || !TreeReader.TryGet(dictionaries, pages, key, out var entry)
            || !DictionaryEntry.TryRead(entry, treeId, number, out var dictionary))
            return null;
        return new ValueDictionary(number, dictionary);
    }

    private static int Newest(PageReader pages, in TreeHeader catalog, uint treeId) =>
        DictionaryTree.TryOpen(catalog, pages, treeId, out var dictionaries) && DictionaryTree.TryReadSettings(dictionaries, pages, out var settings)
            ? settings.LastDictionary
            : 0;
}
