using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>A readable fixed-size tree: 64-bit keys in ascending order, each with a value of the same number of bytes.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. In a write transaction, it sees the transaction's own changes. After the transaction has
/// deleted the tree, calls throw an <see cref="InvalidOperationException"/>. Keys are signed. Unsigned keys keep their order if their highest
/// bit is inverted: <c>(long)(key ^ (1UL &lt;&lt; 63))</c>.
/// </remarks>
public readonly partial struct FixedTree
{
    private readonly OpenTree _tree;
    private readonly long _generation;

    internal FixedTree(OpenTree tree, long generation)
    {
        _tree = tree;
        _generation = generation;
    }

    /// <summary>The number of entries, known without a scan of the tree.</summary>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The name of the tree.</summary>
    public string Name => Catalog.Decode(Opened.Name);

    /// <summary>The size of each value in bytes.</summary>
    public int ValueSize => (int)Opened.StateAsIs.NestedValues;

    /// <summary>Returns the numbers of entries and levels, and of pages by kind.</summary>
    public TreeStatistics GetStatistics() => Opened.GetStatistics();

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

    /// <summary>Reads the value of a key without copying it; false when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">
    /// The value's own bytes, not a copy: valid until the transaction is disposed, or in a write transaction until its next write. The remarks on
    /// <see cref="Tree.TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/> also apply here.
    /// </param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    [UnscopedRef]
    public bool TryGet(long key, out ReadOnlySpan<byte> value)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return FixedTreeAccess.TryGet(tree, key, out value);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Copies the value of a key to the beginning of a span; false, with nothing written, when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Receives <see cref="ValueSize"/> bytes.</param>
    /// <exception cref="ArgumentException">The destination is too short for a value.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryCopyTo(long key, Span<byte> destination)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            if (!FixedTreeAccess.TryGet(tree, key, out var value))
                return false;
            if (!value.TryCopyTo(destination))
                throw TooShort(tree, value.Length, destination.Length, nameof(destination));
            return true;
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Returns true if the tree contains the key.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool Contains(long key) => TryGet(key, out _);

    /// <summary>Gets the entry with the lowest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    [UnscopedRef]
    public bool TryGetFirst(out long found, out ReadOnlySpan<byte> value) => TryGetNear(long.MinValue, 1, out found, out value);

    /// <summary>Gets the entry with the highest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    [UnscopedRef]
    public bool TryGetLast(out long found, out ReadOnlySpan<byte> value) => TryGetNear(long.MaxValue, -1, out found, out value);

    /// <summary>Gets the entry with the highest key that is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    [UnscopedRef]
    public bool TryGetFloor(long key, out long found, out ReadOnlySpan<byte> value) => TryGetNear(key, -1, out found, out value);

    /// <summary>Gets the entry with the lowest key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <param name="key">The key.</param>
    /// <param name="found">The key of the entry; 0 when there is none.</param>
    /// <param name="value">The value's own bytes, as <see cref="TryGet"/> describes.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    [UnscopedRef]
    public bool TryGetCeiling(long key, out long found, out ReadOnlySpan<byte> value) => TryGetNear(key, 1, out found, out value);

    /// <summary>Copies the values of many keys. The searches overlap their memory waits, so this is faster than single lookups.</summary>
    /// <param name="keys">The keys, in any order.</param>
    /// <param name="values">
    /// Receives the values; the value of key i begins at byte i times <see cref="ValueSize"/>. The bytes of missing keys stay unchanged.
    /// </param>
    /// <param name="found">Receives for each key whether the tree contains it.</param>
    /// <returns>The number of keys that the tree contains.</returns>
    /// <exception cref="ArgumentException">A span is too short for the results of all keys.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public int GetMany(ReadOnlySpan<long> keys, Span<byte> values, Span<bool> found)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return FixedTreeAccess.GetMany(tree, keys, values, found);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Returns the entries whose keys are in a range, for <c>foreach</c>.</summary>
    /// <param name="first">The lowest key.</param>
    /// <param name="last">The highest key, included in the range. If it is below <paramref name="first"/>, the range is empty.</param>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public FixedRange Range(long first, long last) => new(Opened, _generation, first, last);

    /// <summary>Returns all entries, for <c>foreach</c>.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public FixedRange GetEntries() => Range(long.MinValue, long.MaxValue);

    /// <summary>Returns a cursor that is not on an entry yet. Dispose of it so that it can be reused.</summary>
    public FixedCursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new FixedCursor(lease, leaseGeneration);
    }

    /// <summary>Describes the tree by its name and its number of entries, or says that it has ended. Any thread may call this at any time.</summary>
    public override string ToString() => _tree is { IsDropped: false } tree && tree.Generation == _generation
        ? $"fixed-size tree {KeyText.Of(tree.Name)} with {tree.StateAsIs.EntryCount} entries"
        : $"fixed-size tree ({(_tree == null ? "never opened" : "ended")})";

    /// <summary>Copies the entry with a key or, if there is none, the one after it (step 1) or before it (step -1).</summary>
    internal bool TryCopyNear(long key, int step, out long found, Span<byte> destination)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            if (!FixedTreeAccess.TryGetNear(tree, key, step, out found, out var value))
                return false;

            // Copied while the transaction cannot end.
            value.CopyTo(destination);
            return true;
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [UnscopedRef]
    private bool TryGetNear(long key, int step, out long found, out ReadOnlySpan<byte> value)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return FixedTreeAccess.TryGetNear(tree, key, step, out found, out value);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    private static ArgumentException TooShort(OpenTree tree, int size, int length, string parameter) => new(
        $"The {Catalog.Describe(tree.Name)} has values of {size} bytes, but there is only room for {length}.", parameter);

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenFixedTree));
}
