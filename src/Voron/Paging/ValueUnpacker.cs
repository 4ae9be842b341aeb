using Voron.Compression;

namespace Voron.Paging;

/// <summary>Decompresses the values of a transaction: provides the dictionaries, and the memory of the values that it has read.</summary>
/// <param name="memory">Bounds the memory that is kept for the next transaction.</param>
internal abstract class ValueUnpacker(ArenaMemory memory)
{
    /// <summary>The memory of the values that were read; valid until the transaction, or the operation of a group commit, ends.</summary>
    public ValueArena Arena { get; } = new(memory);

    /// <summary>Returns a dictionary; null if the tree has none of that number, or if it is damaged.</summary>
    /// <param name="treeId">The tree whose values are compressed with it.</param>
    /// <param name="number">Its number in that tree.</param>
    public abstract ValueDictionary? Find(uint treeId, int number);

    /// <summary>Returns whether the tree contains a dictionary, and not only the cache of the environment.</summary>
    public abstract bool IsStored(uint treeId, int number);
}
