using System.Buffers.Binary;
using System.Collections.Immutable;
using Voron.Torture.Feeds;

namespace Voron.Torture.Model;

/// <summary>An entry of the model: the value is a slice of <see cref="Pad"/>, or bytes of its own.</summary>
internal readonly record struct ModelEntry(byte[] Key, int Offset, int Length)
{
    private readonly byte[]? _own;

    /// <summary>Creates the entry of a counter.</summary>
    public ModelEntry(byte[] key, long counter)
        : this(key, 0, sizeof(long))
    {
        _own = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(_own, counter);
    }

    public ReadOnlySpan<byte> Value => _own ?? Pad.Bytes.AsSpan(Offset, Length);
}

/// <summary>The source of the bytes of all values: the first half is random, the second has few bytes that are not zero.</summary>
internal static class Pad
{
    public static readonly byte[] Bytes = Make();

    /// <summary>Returns a slice of the given length; two random slices hardly ever have the same bytes.</summary>
    public static ModelEntry Draw(Random random, byte[] key, int length) => new(key, random.Next(Bytes.Length - length), length);

    private static byte[] Make()
    {
        var bytes = new byte[16 << 20];
        var random = new Random(0x50414421);
        random.NextBytes(bytes.AsSpan(0, bytes.Length / 2));
        for (var i = bytes.Length / 2; i < bytes.Length; i += random.Next(1, 64))
            bytes[i] = (byte)random.Next(256);
        return bytes;
    }
}

/// <summary>Orders keys by their bytes.</summary>
internal sealed class ByKey : IComparer<ModelEntry>
{
    public static readonly ByKey Instance = new();

    public int Compare(ModelEntry x, ModelEntry y) => x.Key.AsSpan().SequenceCompareTo(y.Key);
}

/// <summary>All trees as of one moment. Immutable: a snapshot of it is a reference.</summary>
internal sealed class ModelState
{
    private static readonly ImmutableSortedSet<ModelEntry> NoEntries = ImmutableSortedSet.Create<ModelEntry>(ByKey.Instance);

    public static readonly ModelState Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedSet<ModelEntry>>(StringComparer.Ordinal), null, null);

    private ModelState(
        ImmutableSortedDictionary<string, ImmutableSortedSet<ModelEntry>> trees, ImmutableSortedDictionary<long, int>? fixedTree, ModelIdSets? idSets)
    {
        Trees = trees;
        FixedTree = fixedTree;
        IdSets = idSets;
    }

    /// <summary>The numbers from which the values of the fixed-size tree follow, by key; null if there is no such tree.</summary>
    public ImmutableSortedDictionary<long, int>? FixedTree { get; }

    /// <summary>The tree of id sets; null if there is none.</summary>
    public ModelIdSets? IdSets { get; }

    /// <summary>The tree of value sets; null if there is none.</summary>
    public ModelValueSets? ValueSets { get; private init; }

    /// <summary>What change feeds record; null in runs without feeds.</summary>
    public FeedState? Feeds { get; private init; }

    /// <summary>The ordinary trees by name.</summary>
    public ImmutableSortedDictionary<string, ImmutableSortedSet<ModelEntry>> Trees { get; }

    /// <summary>Returns whether an environment has all trees, and no other.</summary>
    public bool HasNames(IReadOnlyCollection<string> names) =>
        names.Where(name => name is not (ModelFixedTree.Name or ModelIdTree.Name or ModelValueSetTree.Name)).SequenceEqual(Trees.Keys)
        && names.Contains(ModelFixedTree.Name) == (FixedTree != null) && names.Contains(ModelIdTree.Name) == (IdSets != null)
        && names.Contains(ModelValueSetTree.Name) == (ValueSets != null);

    public bool Has(string tree) => Trees.ContainsKey(tree);

    public ModelState Create(string tree) => Has(tree) ? this : With(Trees.Add(tree, NoEntries));

    public ModelState Drop(string tree) => With(Trees.Remove(tree)).WithFeeds(Feeds?.Drop(tree));

    public ModelState Rename(string tree, string newName)
    {
        var entries = Trees[tree];
        return With(Trees.Remove(tree).Add(newName, entries)).WithFeeds(Feeds?.Rename(tree, newName));
    }

    public ModelState Put(string tree, ModelEntry entry) => With(Trees.SetItem(tree, Trees[tree].Remove(entry).Add(entry)));

    public ModelState Delete(string tree, byte[] key)
    {
        var entries = Trees[tree];
        var left = entries.Remove(new ModelEntry(key, 0, 0));
        return left == entries ? this : With(Trees.SetItem(tree, left));
    }

    /// <summary>Removes the entries from one index up to, but not including, another.</summary>
    public ModelState DeleteRange(string tree, int from, int to)
    {
        var entries = Trees[tree];
        return to <= from ? this : With(Trees.SetItem(tree, entries.Except(Enumerable.Range(from, to - from).Select(at => entries[at]))));
    }

    /// <summary>Sets the entries of the fixed-size tree; null for no tree.</summary>
    public ModelState WithFixedTree(ImmutableSortedDictionary<long, int>? entries) =>
        entries == FixedTree ? this : new(Trees, entries, IdSets) { Feeds = Feeds, ValueSets = ValueSets };

    /// <summary>Sets what the tree of id sets has; null for no tree.</summary>
    public ModelState WithIdSets(ModelIdSets? sets) =>
        sets == IdSets ? this : new(Trees, FixedTree, sets) { Feeds = Feeds, ValueSets = ValueSets };

    /// <summary>Sets what the tree of value sets has; null for no tree.</summary>
    public ModelState WithValueSets(ModelValueSets? sets) =>
        sets == ValueSets ? this : new(Trees, FixedTree, IdSets) { Feeds = Feeds, ValueSets = sets };

    /// <summary>Sets what change feeds record.</summary>
    public ModelState WithFeeds(FeedState? feeds) =>
        feeds == Feeds ? this : new(Trees, FixedTree, IdSets) { Feeds = feeds, ValueSets = ValueSets };

    /// <param name="entry">The entry; without a key if there is none.</param>
    public bool TryGet(string tree, byte[] key, out ModelEntry entry)
    {
        var found = Trees[tree].TryGetValue(new ModelEntry(key, 0, 0), out var actual);
        entry = found ? actual : default;
        return found;
    }

    /// <summary>Returns the number of keys of the tree that are below a key.</summary>
    public int Rank(string tree, ReadOnlySpan<byte> key, out bool exact)
    {
        var index = Trees[tree].IndexOf(new ModelEntry(key.ToArray(), 0, 0));
        exact = index >= 0;
        return exact ? index : ~index;
    }

    private ModelState With(ImmutableSortedDictionary<string, ImmutableSortedSet<ModelEntry>> trees) =>
        new(trees, FixedTree, IdSets) { Feeds = Feeds, ValueSets = ValueSets };
}

/// <summary>The engine behaved differently from the model.</summary>
internal sealed class ModelMismatchException : Exception
{
    public ModelMismatchException(string message, byte[]? key = null)
        : base(key == null ? message : $"{message} (key {ModelHistory.Name(key)})") => Key = key;

    public byte[]? Key { get; }
}
