using Voron.Compression;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Caches the dictionaries read by the transactions of an environment. Readers take no lock.</summary>
/// <remarks>
/// <code>
///   trained ─▶ installed in a transaction of its own ─▶ committed: writers and readers find it in the tree ─▶ kept here while there is room
///                                                                 └▶ dropped: older snapshots find it here, or in their tree
/// </code>
/// A tree never reuses a number, and a transaction that installs a dictionary does nothing else. A dictionary cached under a number is therefore
/// the same for every snapshot that contains it, and rolled-back dictionaries are never cached. The tree may no longer contain a cached
/// dictionary: a writer checks the tree. Half of the memory is for the indexes with which the writer compresses, an eighth for the bytes with
/// which readers decompress, and the rest for value strings and for <see cref="ValueArena"/>.
/// </remarks>
internal sealed class DictionaryCache : ValueDictionaries, IDisposable
{
    private const int PartOfIndexes = 2;
    private const int PartOfDictionaries = 8;
    private const int PartOfArenas = 8;

    /// <summary>The overhead of an object, in bytes.</summary>
    private const int BytesBeside = 256;

    private readonly MemoryAccount _account;
    private readonly BoundedCache<(uint Tree, int Number), ValueDictionary> _dictionaries;

    // Used by the holder of the writer.
    private readonly BoundedCache<(uint Tree, int Number), DictionaryIndex> _indexes;
    private ValueStrings? _strings;

    /// <param name="limitBytes">The maximum memory of the cache: at least 1 MiB.</param>
    /// <param name="account">Counts this memory.</param>
    public DictionaryCache(long limitBytes, MemoryAccount account)
    {
        _account = account;
        _dictionaries = new(limitBytes / PartOfDictionaries, account.Add);
        _indexes = new(limitBytes / PartOfIndexes, account.Add);
        ArenaMemory = new ArenaMemory(limitBytes / PartOfArenas, account.Add);
    }

    /// <inheritdoc/>
    public override ArenaMemory ArenaMemory { get; }

    /// <inheritdoc/>
    public override ValueDictionary? Find(PageReader pages, in TreeHeader catalog, uint treeId, int number)
    {
        var key = (treeId, PlantedFault.UnpackWithFirstDictionary ? 0 : number);
        if (_dictionaries.TryGet(key, out var known))
            return known;
        return Read(pages, catalog, treeId, number) is { } read
            ? _dictionaries.Add(key, read, read.Bytes.Length + BytesBeside)
            : null;
    }

    /// <summary>Returns the index of a dictionary, for the holder of the writer; null if it has none yet.</summary>
    public DictionaryIndex? FindIndex(uint treeId, int number) => _indexes.TryGet((treeId, number), out var index) ? index : null;

    /// <summary>Creates the index of a dictionary, for the holder of the writer.</summary>
    /// <param name="treeId">The tree whose values are compressed with it.</param>
    /// <param name="number">Its number in that tree.</param>
    /// <param name="dictionary">Its bytes.</param>
    public DictionaryIndex MakeIndex(uint treeId, int number, ReadOnlySpan<byte> dictionary)
    {
        if (_strings == null)
        {
            _strings = new ValueStrings();
            _account.Add(ValueStrings.Bytes);
        }

        var index = new DictionaryIndex(dictionary, _strings);
        return _indexes.Add((treeId, number), index, index.Bytes + BytesBeside);
    }

    /// <summary>Forgets dictionaries that were dropped. A snapshot that still has them reads them again.</summary>
    /// <param name="treeId">Their tree.</param>
    /// <param name="below">The first number that is kept.</param>
    public void Forget(uint treeId, int below = PackedValue.MostDictionaries + 1)
    {
        for (var number = 1; number < below; number++)
        {
            _dictionaries.Remove((treeId, number));
            _indexes.Remove((treeId, number));
        }
    }

    /// <summary>Frees everything. Called when the environment is closed and its last user has ended.</summary>
    public void Dispose()
    {
        _dictionaries.Close();
        _indexes.Close();
        if (_strings != null)
            _account.Add(-ValueStrings.Bytes);
        _strings = null;
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
}
