using Voron.Compression;
using Voron.Format;

namespace Voron.Paging;

/// <summary>Finds the dictionaries with which values are compressed. Shared by all transactions of an environment.</summary>
internal abstract class ValueDictionaries
{
    /// <summary>Bounds the memory that readers keep for the values of their next transaction.</summary>
    public abstract ArenaMemory ArenaMemory { get; }

    /// <summary>Returns a dictionary; null if the tree has none of that number, or if it is damaged.</summary>
    /// <param name="pages">The pages of the transaction that needs the dictionary.</param>
    /// <param name="catalog">The catalog of that transaction.</param>
    /// <param name="treeId">The tree whose values are compressed with it.</param>
    /// <param name="number">Its number in that tree.</param>
    public abstract ValueDictionary? Find(PageReader pages, in TreeHeader catalog, uint treeId, int number);

    /// <summary>Reads a dictionary from its tree, even if it is cached; null if the tree has none of that number, or if it is damaged.</summary>
    /// <inheritdoc cref="Find"/>
    public abstract ValueDictionary? Read(PageReader pages, in TreeHeader catalog, uint treeId, int number);
}
