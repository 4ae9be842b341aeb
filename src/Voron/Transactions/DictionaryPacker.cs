using Voron.Compression;
using Voron.Primitives;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Compresses the values of a write transaction with the newest dictionaries of their trees. Used by the holder of the writer.</summary>
/// <remarks>The settings of a tree are read once per transaction, and again after a rollback to a savepoint.</remarks>
/// <param name="pages">The pages of the open transaction.</param>
/// <param name="dictionaries">The dictionaries of the environment.</param>
internal sealed class DictionaryPacker(CopyOnWritePages pages, DictionaryCache dictionaries) : TreePacker
{
    /// <summary>The number of trees whose statistics are kept. A tree written again after many others starts with new ones.</summary>
    private const int MostTrees = 1000;

    private readonly BoundedCache<uint, TreePacking> _trees = new(MostTrees * TreePacking.Bytes, static _ => { });
    private readonly TreeState _closed = new();
    private readonly List<uint> _wanted = [];
    private TreePacking? _last;
    private uint _lastTree;
    private long _epoch = 1;

    /// <summary>Reads the trees of the transaction. Set by the transaction.</summary>
    public ITreePeeker? Trees { get; set; }

    /// <summary>The dictionaries of the environment.</summary>
    public DictionaryCache Dictionaries => dictionaries;

    /// <summary>Begins a transaction, or notes that settings have changed or were rolled back.</summary>
    public void Begin() => _epoch++;

    /// <summary>Returns the trees that need a dictionary, and forgets them.</summary>
    public uint[] TakeWanted()
    {
        if (_wanted.Count == 0)
            return [];
        var wanted = _wanted.ToArray();
        _wanted.Clear();
        return wanted;
    }

    /// <summary>Forgets a tree that was deleted.</summary>
    public void Forget(uint treeId)
    {
        _trees.Remove(treeId);
        _last = null;
        _wanted.Remove(treeId);
        dictionaries.Forget(treeId);
    }

    protected override TreePacking Find(uint treeId) => _last is { } last && _lastTree == treeId && last.Epoch == _epoch ? last : Load(treeId);

    protected override DictionaryIndex FindIndex(uint treeId, int number)
    {
        // Without a dictionary, all trees share one index.
        if (number == 0)
            treeId = 0;
        if (dictionaries.FindIndex(treeId, number) is { } known)
            return known;
        if (number == 0)
            return dictionaries.MakeIndex(treeId, number, []);
        var dictionary = pages.Unpacker.Find(treeId, number) ?? throw DictionaryTree.Damaged(pages, treeId, number);
        return dictionaries.MakeIndex(treeId, number, dictionary.Bytes);
    }

    protected override void Want(uint treeId)
    {
        if (!_wanted.Contains(treeId))
            _wanted.Add(treeId);
    }

    private TreePacking Load(uint treeId)
    {
        if (!_trees.TryGet(treeId, out var tree))
            tree = _trees.Add(treeId, new TreePacking(), TreePacking.Bytes);
        if (tree.Epoch != _epoch)
            Read(treeId, tree);
        (_last, _lastTree) = (tree, treeId);
        return tree;
    }

    private void Read(uint treeId, TreePacking tree)
    {
        var name = SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]);
        if (!Trees!.TryPeek(name, _closed, out var state)
            || !DictionaryTree.TryReadSettings(state, pages, out var settings))
        {
            throw new CorruptionException(
                $"The {SystemTree.Describe(name)} in '{pages.FilePath}', whose values are compressed, is missing or damaged. Run Verify, or restore a backup.");
        }

        tree.Settings = settings;
        ReadDictionary(treeId, tree, state, settings.LastDictionary);
        tree.Epoch = _epoch;
    }

    // The cache may still contain a dropped dictionary: the tree decides.
    private void ReadDictionary(uint treeId, TreePacking tree, TreeState state, int number)
    {
        if (number == 0 || !DictionaryTree.Contains(state, pages, number))
        {
            (tree.Dictionary, tree.Ratio) = (0, 0);
            return;
        }

        if (tree.Dictionary == number)
            return;
        DictionaryTree.Read(state, pages, treeId, number, out var ratio);
        (tree.Dictionary, tree.Ratio) = (number, ratio);
    }
}

/// <summary>Reads trees of a write transaction without opening them, while another tree is being changed.</summary>
internal interface ITreePeeker
{
    /// <summary>Loads the state of a tree that has no waiting puts; false if there is no tree of that name.</summary>
    /// <param name="name">The bytes of the name.</param>
    /// <param name="closed">Receives the state if the transaction has not opened the tree.</param>
    /// <param name="state">The state.</param>
    bool TryPeek(ReadOnlySpan<byte> name, TreeState closed, out TreeState state);
}
