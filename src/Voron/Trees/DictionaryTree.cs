using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees;

/// <summary>Reads the tree that stores the compression settings and dictionaries of another tree.</summary>
internal static class DictionaryTree
{
    /// <summary>Opens the dictionary tree of a tree; returns false if the values of that tree were never compressed.</summary>
    /// <param name="catalog">The catalog of the transaction.</param>
    /// <param name="pages">The pages of the transaction.</param>
    /// <param name="treeId">The id of the tree with the compressed values.</param>
    /// <param name="dictionaries">Receives the dictionary tree.</param>
    public static bool TryOpen(in TreeHeader catalog, PageReader pages, uint treeId, [NotNullWhen(true)] out TreeState? dictionaries)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        dictionaries = Catalog.TryFind(new TreeState(catalog), pages, name, out var header) ? new TreeState(header) : null;
        return dictionaries != null;
    }

    /// <summary>Reads the settings; returns false if they are missing or damaged.</summary>
    public static bool TryReadSettings(TreeState dictionaries, PageReader pages, out CompressionSettings settings)
    {
        settings = default;
        return TreeReader.TryGet(dictionaries, pages, DictionaryEntry.SettingsKey, out var bytes) && CompressionSettings.TryRead(bytes, out settings);
    }

    /// <summary>Reads the settings.</summary>
    /// <exception cref="CorruptionException">The settings are missing or damaged.</exception>
    public static CompressionSettings ReadSettings(TreeState dictionaries, PageReader pages, uint treeId) =>
        TryReadSettings(dictionaries, pages, out var settings)
            ? settings
            : throw new CorruptionException(
                $"The {SystemTree.Describe(SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]))} in '{pages.FilePath}' " +
                "contains no settings, or damaged ones. Run Verify, or restore a backup.");

    /// <summary>Returns whether the tree contains the dictionary with this number.</summary>
    public static bool Contains(TreeState dictionaries, PageReader pages, int number)
    {
        ReadOnlySpan<byte> key = [(byte)number];
        return TreeReader.Contains(dictionaries, pages, key);
    }

    /// <summary>Reads a dictionary that the tree contains.</summary>
    /// <param name="dictionaries">The dictionary tree.</param>
    /// <param name="pages">The pages of the transaction.</param>
    /// <param name="treeId">The id of the tree with the compressed values.</param>
    /// <param name="number">The number of the dictionary.</param>
    /// <param name="ratio">The bytes to which it compressed a million bytes when it was trained.</param>
    /// <returns>The bytes of the dictionary, in the page.</returns>
    /// <exception cref="CorruptionException">It is damaged.</exception>
    public static ReadOnlySpan<byte> Read(TreeState dictionaries, PageReader pages, uint treeId, int number, out int ratio)
    {
        ReadOnlySpan<byte> key = [(byte)number];
        if (!TreeReader.TryGet(dictionaries, pages, key, out var entry) || !DictionaryEntry.TryRead(entry, treeId, number, out var dictionary))
            throw Damaged(pages, treeId, number);
        ratio = DictionaryEntry.Ratio(entry);
        return dictionary;
    }

    /// <summary>Returns the exception for a writer that needs a damaged dictionary.</summary>
    public static CorruptionException Damaged(PageReader pages, uint treeId, int number) => new(
        $"Dictionary {number} of the tree with id {treeId} in '{pages.FilePath}' is damaged. Nothing was written. Run Verify, or restore a backup.");
}
