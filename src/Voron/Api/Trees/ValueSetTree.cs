using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.ValueSets;

namespace Voron;

/// <summary>A readable tree of value sets: each key has a set of byte strings in ascending order.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. In a write transaction, it sees the transaction's own changes. Values have 1 to
/// <see cref="MaxValueLength"/> bytes, and are ordered by their bytes, like keys. A key with an empty set does not exist.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct ValueSetTree
{
    private readonly OpenTree _tree;
    private readonly long _generation;

    internal ValueSetTree(OpenTree tree, long generation)
    {
        _tree = tree;
        _generation = generation;
    }

    /// <summary>The number of keys, known without a scan of the tree.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The number of values in all sets, known without a scan of the tree.</summary>
    /// <inheritdoc cref="Count"/>
    public long ValueCount => Opened.SettledState().NestedValues;

    /// <summary>The maximum value length in bytes: 952 with 4 KiB pages, eight less than the maximum key length.</summary>
    /// <inheritdoc cref="Count"/>
    public int MaxValueLength => ValueSetLayout.MaxValueLength(Opened.Owner.Pages.PageSize);

    /// <summary>The name of the tree.</summary>
    /// <inheritdoc cref="Count"/>
    public string Name => Catalog.Decode(Opened.Name);

    internal OpenTree Opened
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var tree = _tree;
            if (tree == null)
                ThrowDefault();
            tree.ThrowIfClosed(_generation);
            return tree;
        }
    }

    /// <summary>Returns the numbers of keys and levels, and of pages by kind. The nested pages are those of the large sets.</summary>
    /// <inheritdoc cref="Count"/>
    public TreeStatistics GetStatistics() => Opened.GetStatistics();

    /// <summary>Returns the number of values of a key; 0 when the tree does not contain it. Costs one lookup, whatever the size of the set.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long CountOf(ReadOnlySpan<byte> key)
    {
        using var call = new ReadingCall(Opened, _generation);
        return ValueSetReader.CountOf(_tree.SettledState(), _tree.Owner.Pages, key);
    }

    /// <summary>Returns true if the set of a key contains a value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool Contains(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        using var call = new ReadingCall(Opened, _generation);
        return ValueSetReader.Contains(_tree.SettledState(), _tree.LargeSets?.StateAsIs, _tree.Owner.Pages, key, value);
    }

    /// <summary>Returns a cursor over the set of a key, which is not on a value yet. Dispose of it so that it can be reused.</summary>
    /// <remarks>
    /// If the tree does not contain the key, the set is empty. In a write transaction, the key may be added while the cursor is open.
    /// </remarks>
    /// <param name="key">The key, which the cursor copies.</param>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public ValueCursor OpenValues(ReadOnlySpan<byte> key) => new(Opened.OpenSet(_generation, key, out var lease), lease);

    /// <summary>Returns a cursor over all pairs of key and value, which is not on a pair yet. Dispose of it so that it can be reused.</summary>
    /// <inheritdoc cref="Count"/>
    public ValueSetCursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new ValueSetCursor(lease, leaseGeneration);
    }

    /// <summary>
    /// Describes the tree by its name and its numbers of keys and values, or says that it has ended. Any thread may call this at any time.
    /// </summary>
    public override string ToString() => _tree is not { IsDropped: false } tree || tree.Generation != _generation
        ? $"value set tree ({(_tree == null ? "never opened" : "ended")})"
        : $"value set tree {KeyText.Of(tree.Name)} with {tree.StateAsIs.EntryCount} keys and {tree.StateAsIs.NestedValues} values";

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenValueSetTree));
}
