using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Entries of a fixed-size tree in key order, for <c>foreach</c>.</summary>
/// <remarks>
/// <para>
/// A range only describes its entries: nothing is read before they are enumerated. An enumeration allocates nothing and can be repeated. In a write
/// transaction, the tree may change meanwhile: the enumeration continues after the last entry that it returned.
/// </para>
/// <code>
/// foreach (var entry in tree.Range(first: 100, last: 199))
///     total += BinaryPrimitives.ReadInt64LittleEndian(entry.Value);
/// </code>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct FixedRange
{
    private readonly OpenTree? _tree;
    private readonly long _generation;
    private readonly long _first;
    private readonly long _last;
    private readonly bool _isReversed;

    internal FixedRange(OpenTree tree, long generation, long first, long last, bool isReversed = false)
    {
        _tree = tree;
        _generation = generation;
        _first = first;
        _last = last;
        _isReversed = isReversed;
    }

    /// <summary>Returns the same entries in the opposite order.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public FixedRange Reverse() => new(Opened, _generation, _first, _last, !_isReversed);

    /// <summary>Begins an enumeration. Used by <c>foreach</c>; other callers must dispose the enumerator.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Enumerator GetEnumerator()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new Enumerator(new FixedCursor(lease, leaseGeneration), _first, _last, _isReversed);
    }

    /// <summary>Describes the range by its tree and its bounds.</summary>
    public override string ToString()
    {
        if (_tree == null)
            return "range (none)";
        var tree = _tree.Generation == _generation ? $"fixed-size tree {KeyText.Of(_tree.Name)}" : "a tree that has ended";
        return $"range of {tree}: {_first} to {_last}{(_isReversed ? ", reversed" : "")}";
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

    /// <summary>Enumerates the entries of a range.</summary>
    public ref struct Enumerator
    {
        private readonly FixedCursor _cursor;
        private readonly long _first;
        private readonly long _last;
        private readonly bool _isReversed;
        private bool _hasBegun;
        private bool _hasEnded;

        internal Enumerator(FixedCursor cursor, long first, long last, bool isReversed)
        {
            _cursor = cursor;
            _first = first;
            _last = last;
            _isReversed = isReversed;
        }

        /// <summary>
        /// The cursor that the enumeration moves, on the current entry. It can delete the entry. Its members throw before the first move and
        /// after the last one.
        /// </summary>
        public readonly FixedCursor Current => _cursor;

        /// <summary>Moves to the next entry; false at the end.</summary>
        /// <exception cref="CorruptionException">A page is damaged. The enumeration cannot continue.</exception>
        /// <exception cref="ObjectDisposedException">The enumerator was disposed, or the transaction has ended.</exception>
        public bool MoveNext()
        {
            if (_hasEnded)
                return false;
            var isFound = _hasBegun
                ? _isReversed ? _cursor.MovePrevious() : _cursor.MoveNext()
                : _isReversed ? _cursor.SeekForPrevious(_last) : _cursor.Seek(_first);
            _hasBegun = true;
            if (isFound && (_isReversed ? _cursor.Key >= _first : _cursor.Key <= _last))
                return true;
            _hasEnded = true;
            Dispose();
            return false;
        }

        /// <summary>Ends the enumeration.</summary>
        public readonly void Dispose() => _cursor.Dispose();

        /// <summary>Describes the enumeration by the place of its cursor.</summary>
        public override readonly string ToString() => $"enumeration, {_cursor}";
    }
}

/// <summary>Entries of a fixed-size tree in key order, with copies of their values as a type, for <c>foreach</c>.</summary>
/// <typeparam name="T">The type of the values.</typeparam>
/// <remarks>
/// Works like <see cref="FixedRange"/>:
/// <code>
/// foreach (var (minute, price) in prices.Range(open, close).Reverse())
///     Console.WriteLine($"{minute}: {price}");
/// </code>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct FixedRange<T>
    where T : unmanaged
{
    private readonly FixedRange _range;

    internal FixedRange(FixedRange range) => _range = range;

    /// <inheritdoc cref="FixedRange.Reverse"/>
    public FixedRange<T> Reverse() => new(_range.Reverse());

    /// <inheritdoc cref="FixedRange.GetEnumerator"/>
    public Enumerator GetEnumerator() => new(_range.GetEnumerator());

    /// <inheritdoc cref="FixedRange.ToString"/>
    public override string ToString() => _range.ToString();

    /// <summary>Enumerates the entries of a range.</summary>
    public ref struct Enumerator
    {
        private FixedRange.Enumerator _entries;

        internal Enumerator(FixedRange.Enumerator entries) => _entries = entries;

        /// <summary>A copy of the current entry.</summary>
        /// <exception cref="InvalidOperationException">The enumeration is not on an entry.</exception>
        public readonly KeyValuePair<long, T> Current
        {
            get
            {
                var cursor = _entries.Current;
                return new KeyValuePair<long, T>(cursor.Key, cursor.ValueAs<T>());
            }
        }

        /// <inheritdoc cref="FixedRange.Enumerator.MoveNext"/>
        public bool MoveNext() => _entries.MoveNext();

        /// <inheritdoc cref="FixedRange.Enumerator.Dispose"/>
        public readonly void Dispose() => _entries.Dispose();

        /// <inheritdoc cref="FixedRange.Enumerator.ToString"/>
        public override readonly string ToString() => _entries.ToString();
    }
}
