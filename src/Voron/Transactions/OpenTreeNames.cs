using System.Numerics;

namespace Voron.Transactions;

/// <summary>Finds the open trees of a transaction by their names.</summary>
/// <remarks>A few trees are searched one by one; more are kept in a hash table with chains.</remarks>
internal sealed class OpenTreeNames
{
    private const int Few = 8;
    private const int MaxKeptBuckets = 1024;

    private readonly OpenTree?[] _few = new OpenTree?[Few];
    private OpenTree?[] _buckets = [];
    private int _count;
    private bool _isTable;

    /// <summary>Returns the tree with that name, or null.</summary>
    public OpenTree? Find(ReadOnlySpan<byte> name)
    {
        if (!_isTable)
        {
            for (var i = 0; i < _count; i++)
            {
                if (_few[i]!.Name.SequenceEqual(name))
                    return _few[i];
            }

            return null;
        }

        var hash = Hash(name);
        var tree = _buckets[hash & (_buckets.Length - 1)];
        while (tree != null && (tree.NameHash != hash || !tree.Name.SequenceEqual(name)))
            tree = tree.NextWithHash;
        return tree;
    }

    /// <summary>Adds a tree under its current name, which no other tree has.</summary>
    public void Add(OpenTree tree)
    {
        if (!_isTable && _count < Few)
        {
            _few[_count++] = tree;
            return;
        }

        if (!_isTable || _count >= _buckets.Length)
            Rebuild();
        _count++;
        tree.NameHash = Hash(tree.Name);
        Link(tree);
    }

    /// <summary>Removes a tree, which still has the name that it was added under.</summary>
    public void Remove(OpenTree tree)
    {
        _count--;
        if (!_isTable)
        {
            var at = Array.IndexOf(_few, tree);
            _few[at] = _few[_count];
            _few[_count] = null;
            return;
        }

        ref var link = ref _buckets[tree.NameHash & (_buckets.Length - 1)];
        if (link == tree)
        {
            link = tree.NextWithHash;
        }
        else
        {
            var before = link!;
            while (before.NextWithHash != tree)
                before = before.NextWithHash!;
            before.NextWithHash = tree.NextWithHash;
        }

        tree.NextWithHash = null;
    }

    /// <summary>Removes all trees, and keeps little memory.</summary>
    public void Clear()
    {
        if (_buckets.Length > MaxKeptBuckets)
            _buckets = [];
        else if (_isTable)
            Array.Clear(_buckets);
        Array.Clear(_few);
        _isTable = false;
        _count = 0;
    }

    // Seeded per process: names come from outside, and cannot be chosen to fall into one chain.
    private static int Hash(ReadOnlySpan<byte> name)
    {
        var hash = default(HashCode);
        hash.AddBytes(name);
        return hash.ToHashCode();
    }

    private void Link(OpenTree tree)
    {
        ref var bucket = ref _buckets[tree.NameHash & (_buckets.Length - 1)];
        tree.NextWithHash = bucket;
        bucket = tree;
    }

    // Moves the trees from the short list to a table, or to a table of twice the size. If there is no memory for it, nothing changes.
    private void Rebuild()
    {
        var old = _buckets;
        var wanted = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(4 * Few, 2 * _count));
        if (_isTable || old.Length < wanted)
            _buckets = new OpenTree?[wanted];
        if (!_isTable)
        {
            _isTable = true;
            foreach (var tree in _few)
            {
                tree!.NameHash = Hash(tree.Name);
                Link(tree);
            }

            Array.Clear(_few);
            return;
        }

        foreach (var first in old)
        {
            for (var tree = first; tree != null;)
            {
                var next = tree.NextWithHash;
                Link(tree);
                tree = next;
            }
        }
    }
}
