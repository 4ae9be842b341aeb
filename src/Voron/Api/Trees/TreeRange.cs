using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Entries of a tree in order, for <c>foreach</c>: a range of keys, possibly reversed, with some entries skipped or taken.</summary>
/// <remarks>
/// <para>
/// A range only describes its entries: nothing is read before they are enumerated. An enumeration allocates nothing and can be repeated. The methods
/// apply in call order: <c>Reverse().Take(5)</c> returns the last five entries, beginning with the last one, and <c>Reverse().Take(5).Reverse()</c>
/// returns the same five in key order.
/// </para>
/// <para>
/// To read a long range in pages, copy the last key of a page, and continue after it, whether or not the tree still contains it. Unlike
/// <see cref="Skip"/>, this reads no entry twice:
/// </para>
/// <code>
/// static byte[]? PrintPage(StorageEnvironment environment, ReadOnlySpan&lt;byte&gt; lastKey)
/// {
///     using var reading = environment.BeginRead();
///     byte[]? last = null;
///     foreach (var entry in reading.OpenTree("users").Range(KeyRange.After(lastKey)).Take(100))
///     {
///         Console.WriteLine(Encoding.UTF8.GetString(entry.Key));
///         last = entry.Key.ToArray();
///     }
///
///     return last;     // null: there are no more
/// }
/// </code>
/// <para>
/// In a write transaction, the tree may change during the enumeration, which continues after the last entry that it returned: it includes entries
/// added there and omits deleted ones, also after a rollback to a savepoint.
/// </para>
/// </remarks>
public readonly ref partial struct TreeRange
{
    private readonly OpenTree? _tree;
    private readonly long _generation;
    private readonly KeyRange _keys;
    private readonly RangeSlice _slice;

    internal TreeRange(OpenTree tree, long generation, KeyRange keys)
        : this(tree, generation, keys, RangeSlice.All)
    {
    }

    private TreeRange(OpenTree? tree, long generation, KeyRange keys, scoped in RangeSlice slice)
    {
        _tree = tree;
        _generation = generation;
        _keys = keys;
        _slice = slice;
    }

    private OpenTree Opened
    {
        get
        {
            var tree = _tree;
            if (tree == null)
                EndedErrors.ThrowDefault("range", nameof(Tree.Range));
            tree.ThrowIfClosed(_generation);
            return tree;
        }
    }

    /// <summary>Returns the same entries in the opposite order.</summary>
    /// <remarks>
    /// If entries have been skipped or taken before, the enumeration first passes over them, and reads only the header and one key of
    /// each of their pages.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The range has been reversed after <c>Skip</c> or <c>Take</c>, and then limited again by one of them.
    /// </exception>
    public TreeRange Reverse() => _slice.CanReverse ? new(_tree, _generation, _keys, _slice.Reversed()) : throw ReversedTooOften();

    /// <summary>Returns the entries without the first <paramref name="count"/>.</summary>
    /// <remarks>Entries are skipped a page at a time. Continuing after a key, as shown above, skips nothing.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    public TreeRange Skip(long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        return new(_tree, _generation, _keys, _slice.Skipping(count));
    }

    /// <summary>Returns the first <paramref name="count"/> entries, or all if there are fewer.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    public TreeRange Take(long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        return new(_tree, _generation, _keys, _slice.Taking(count));
    }

    /// <summary>Counts the entries.</summary>
    /// <remarks>
    /// The tree stores the number of all its entries. For a range, the call reads the headers of the leaves in that range, or in the rest of the tree
    /// if that is smaller: with 100-byte entries, one header per about 30 entries. Counting stops at the number of entries that <see cref="Take"/>
    /// requests.
    /// </remarks>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public long Count()
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            var count = RangeCounter.Count(tree.SettledState(), owner.Pages, _keys.Start, _keys.End, _slice.EntriesNeeded);
            return _slice.Count(count);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Returns true if the range contains an entry.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool Any() => TryGetFirst(out _);

    /// <summary>Gets the first entry; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool TryGetFirst(out TreeEntry entry) => TryGetFirst(Opened, _generation, _keys, _slice, out entry);

    /// <summary>Gets the last entry; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    public bool TryGetLast(out TreeEntry entry) =>
        _slice.CanReverse ? Reverse().TryGetFirst(out entry) : Skip(Math.Max(0, Count() - 1)).TryGetFirst(out entry);

    /// <summary>Begins an enumeration. Used by <c>foreach</c>; other callers must dispose the enumerator.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Enumerator GetEnumerator() => new(Opened, _generation, _keys, _slice);

    /// <summary>Gets the first entry of a part of a tree. The entry refers to none of the bytes of the bounds.</summary>
    internal static bool TryGetFirst(OpenTree tree, long generation, scoped KeyRange keys, scoped in RangeSlice slice, out TreeEntry entry)
    {
        using var enumerator = new Enumerator(tree, generation, keys, slice);
        var found = enumerator.MoveNext();
        entry = found ? TreeEntry.Detached(tree, generation, enumerator.Position!) : default;
        return found;
    }

    private static InvalidOperationException ReversedTooOften() => new(
        "The range cannot be reversed again: it was reversed after Skip or Take, and then limited again. Copy the entries, and reverse the copies.");

    /// <summary>Enumerates the entries of a range.</summary>
    public ref partial struct Enumerator
    {
        private readonly TransactionTree _tree;
        private readonly Cursor _handle;
        private readonly RangeSlice _slice;
        private readonly long _generation;
        private TreeCursor? _cursor;
        private RangeWalk _walk;
        private bool _hasBegun;
        private bool _hasEnded;

        internal Enumerator(OpenTree tree, long generation, KeyRange keys, scoped in RangeSlice slice)
        {
            var lease = tree.OpenCursor(generation, out var leaseGeneration);
            _handle = new Cursor(lease, leaseGeneration);
            _tree = tree;
            _generation = generation;
            _slice = slice;
            _cursor = lease.Cursor;
            _walk = new RangeWalk(keys.Start, keys.End);
        }

        /// <summary>
        /// The current entry. It may be kept after the next move: see <see cref="TreeEntry"/>. Before the first move, after the last one and after
        /// the enumerator has been disposed, it has no key and no value, and its members throw.
        /// </summary>
        public readonly TreeEntry Current
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => _cursor != null && _walk.IsIn(_cursor)
                ? TreeEntry.At(_tree, _generation, _cursor)
                : TreeEntry.None(_tree, _generation);
        }

        internal readonly TreeCursor? Position => _cursor;

        /// <summary>Moves to the next entry; false at the end.</summary>
        /// <exception cref="CorruptionException">A page is damaged. The next call tries again.</exception>
        /// <exception cref="ObjectDisposedException">The enumerator was disposed, or the transaction has ended.</exception>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool MoveNext() => (_cursor != null && _tree.IsSettled && _walk.TryStep(_cursor)) || MoveNextSlowly();

        /// <summary>Ends the enumeration.</summary>
        public void Dispose()
        {
            _cursor = null;
            _handle.Dispose();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private bool MoveNextSlowly()
        {
            if (_hasEnded)
                return false;

            bool found;
            using (_handle.Read())
            {
                found = _hasBegun ? _walk.Continue(_cursor!) : _walk.Begin(_cursor!, _slice);
                _hasBegun = true;
            }

            _hasEnded = !found;
            if (_hasEnded)
                Dispose();
            return found;
        }
    }
}
