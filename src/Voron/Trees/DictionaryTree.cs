using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees;

/// <summary>Reads the tree in which another tree has the settings of its compression, and its dictionaries.</summary>
internal static class DictionaryTree
{
    /// <summary>Finds the dictionaries of a tree; false if its values never were compressed.</summary>
    /// <param name="catalog">The catalog of the transaction.</param>
    /// <param name="pages">The pages of the transaction.</param>
    /// <param name="treeId">The tree whose values are compressed.</param>
    /// <param name="dictionaries">The tree of its dictionaries.</param>
    public static bool TryOpen(in TreeHeader catalog, PageReader pages, uint treeId, [NotNullWhen(true)] out TreeState? dictionaries)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        dictionaries = Catalog.TryFind(new TreeState(catalog), pages, name, out var header) ? new TreeState(header) : null;
        return dictionaries != null;
    }

    /// <summary>Reads the settings; false if there are none, or damaged ones.</summary>
    public static bool TryReadSettings(TreeState dictionaries, PageReader pages, out CompressionSettings settings)
    {
        settings = default;
        return TreeReader.TryGet(dictionaries, pages, DictionaryEntry.SettingsKey, out var bytes) && CompressionSettings.TryRead(bytes, out settings);
    }

    /// <summary>Reads the settings.</summary>
    /// <exception cref="CorruptionException">There are none, or damaged ones.</exception>
    public static CompressionSettings ReadSettings(TreeState dictionaries, PageReader pages, uint treeId) =>
        TryReadSettings(dictionaries, pages, out var settings)
            ? settings
            : throw new CorruptionException(
                $"The {SystemTree.Describe(SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]))} in '{pages.FilePath}' " +
                "has no settings, or damaged ones. Run Verify, or restore a backup.");

    /// <summary>Returns whether the tree has a dictionary.</summary>
    public static bool Contains(TreeState dictionaries, PageReader pages, int number)
    {
        ReadOnlySpan<byte> key = [(byte)number];
        return TreeReader.Contains(dictionaries, pages, key);
    }
}
