using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>
/// Rows of several tables in the order of a shared index, to be enumerated once: with <c>foreach</c>, which disposes the query, or with
/// <see cref="MoveNext"/>.
/// </summary>
/// <remarks>
/// Valid until its transaction ends, for one thread at a time. In a write transaction, the tables may change during the query, as with
/// <see cref="RowQuery{TRow}"/>; rows of a table that gets the index meanwhile are left out. Set direction, start and limit before the first row
/// is found.
/// </remarks>
/// <example>
/// <code>
/// foreach (var row in query)
///     if (query.TryGetRow(packages, out var package)) { ... }
///     else if (query.TryGetRow(notes, out var note)) { ... }
/// </code>
/// </example>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class SharedIndexQuery : IDisposable
{
    private readonly SharedRoster _roster;
    private readonly SharedIndex _index;
    private readonly IdSource _source;
    private readonly bool _canWrite;
    private readonly ChangesAheadOfQuery? _walk;
    private SharedRoster.Member _member;
    private PageToken _after;
    private long _left = long.MaxValue;
    private bool _isBackward;
    private byte[] _unpacked = [];
    private KeyCopy _key;
    private long _id = -1;
    private State _state;

    internal SharedIndexQuery(SharedRoster roster, SharedIndex index, KeyRange keys, bool canWrite)
    {
        _roster = roster;
        _index = index;
        _source = new IdSource(roster.Ids, keys);
        _canWrite = canWrite;
        _walk = canWrite ? _source.BeginWalk() : null;
    }

    private enum State
    {
        New,
        OnRow,
        Failed,
        AtEnd,
        Disposed,
    }

    /// <summary>The row: its table and its id.</summary>
    /// <exception cref="InvalidOperationException">The query is not on a row.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public SharedRow Current
    {
        get
        {
            RequireRow();
            return new SharedRow(_member.Schema.Name, SharedPlace.RowIdOf(_id));
        }
    }

    /// <summary>The key that led to the row, as the index stores it. Valid until the next move.</summary>
    /// <inheritdoc cref="Current"/>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            RequireRow();
            return _key.Value;
        }
    }

    /// <summary>The position of the last row found, after which the next page begins; if no row was found, the given position.</summary>
    /// <remarks>It remains available after the query is disposed.</remarks>
    public PageToken Token => _id >= 0 ? new PageToken(Order.MarkOf(_isBackward), _key.Value, _id) : _after;

    private PageOrder Order => new(PageOrderKind.SharedIndex, "", _index.Name);

    /// <summary>Finds rows in descending order.</summary>
    /// <returns>This query.</returns>
    /// <exception cref="InvalidOperationException">A row has already been found.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public SharedIndexQuery Backward()
    {
        RequireNew();
        _isBackward = true;
        return this;
    }

    /// <summary>Begins after a row that another query of the same index, range and direction has found.</summary>
    /// <param name="token">The position; the default value stands for the start.</param>
    /// <inheritdoc cref="Backward"/>
    public SharedIndexQuery After(PageToken token)
    {
        RequireNew();
        _after = token;
        return this;
    }

    /// <summary>Ends after a number of rows.</summary>
    /// <param name="count">The number of rows.</param>
    /// <returns>This query.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The number is negative.</exception>
    /// <inheritdoc cref="Backward"/>
    public SharedIndexQuery Take(long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        RequireNew();
        _left = count;
        return this;
    }

    /// <summary>
    /// Counts all rows in the range without reading them, regardless of <see cref="After"/> and <see cref="Take"/>. A row with several keys in the
    /// range counts once for each, and expired rows count until they are deleted.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public long Count()
    {
        CheckOpen();
        using var all = _source.Again();
        var count = 0L;
        while (all.MoveNext(isBackward: false, default))
            count += _roster.TryFind(all.RowId, out _) ? 1 : 0;
        return count;
    }

    /// <summary>Moves to the next row; false at the end.</summary>
    /// <exception cref="CorruptionException">
    /// A page is damaged, or, in a table whose rows expire, the index names a row that does not exist.
    /// </exception>
    /// <exception cref="PageTokenException">The given token belongs to another index or direction.</exception>
    /// <exception cref="InvalidOperationException">The query has failed before.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public bool MoveNext()
    {
        CheckOpen();
        if (_state == State.New)
            Order.Check(_after, _isBackward);
        if (_state == State.AtEnd)
            return false;
        if (_state == State.Failed)
            ThrowFailed();

        if (_walk != null)
            _walk.IsBackward = _isBackward;

        // If a page is damaged, the source is past a row that was not returned.
        _state = State.Failed;
        if (_left == 0 || !Advance())
        {
            _state = State.AtEnd;
            return false;
        }

        _left--;
        _key.Take(_source.Key);
        _id = _source.RowId;
        _state = State.OnRow;
        return true;
    }

    /// <summary>Reads the row if it belongs to the given table; false if it belongs to another one.</summary>
    /// <param name="table">The table, open in the transaction of the query.</param>
    /// <param name="row">The row.</param>
    /// <exception cref="ArgumentException">The table is open in another transaction.</exception>
    /// <exception cref="InvalidOperationException">The query is not on a row, or the row has been deleted since.</exception>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or the codec cannot read it.</exception>
    /// <exception cref="IndexMismatchException">The index names a row that does not exist, because its function has changed.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public bool TryGetRow<TKey, TRow>(in Table<TKey, TRow> table, [MaybeNullWhen(false)] out TRow row)
    {
        RequireRow();
        row = default;
        var bound = table.Bound;
        if (!_roster.Ids.IsBeside(bound.Rows))
            throw new ArgumentException($"The table '{table.Name}' is open in another transaction than the query.", nameof(table));
        if (bound.Schema.Id != _member.Schema.Id)
            return false;
        var rowId = SharedPlace.RowIdOf(_id);
        if (table.TryGetByRowId(rowId, out row))
            return true;
        if (_canWrite)
            throw new InvalidOperationException($"Row {rowId} of table '{table.Name}' was deleted after the query had found it.");
        throw IndexMismatchException.OfMissing(bound, _index.Name, rowId, _key.Value);
    }

    /// <summary>Returns the query itself, which <c>foreach</c> enumerates, and disposes at the end.</summary>
    public SharedIndexQuery GetEnumerator() => this;

    /// <summary>Closes the query. Further calls of this method do nothing.</summary>
    public void Dispose()
    {
        if (_state == State.Disposed)
            return;
        _state = State.Disposed;
        if (_walk != null)
            _source.EndWalk(_walk);
        _source.Dispose();
    }

    /// <summary>Describes the query by its state.</summary>
    public override string ToString() => _state switch
    {
        State.New => $"query of the {_index}, not begun",
        State.OnRow => $"query of the {_index} on row {SharedPlace.RowIdOf(_id)} of table '{_member.Schema.Name}'",
        State.Failed => $"query of the {_index} that has failed",
        State.AtEnd => $"query of the {_index} at its end",
        _ => $"query of the {_index} (disposed)",
    };

    // Ids of tables that have left the index remain until they are removed.
    private bool Advance()
    {
        while (_source.MoveNext(_isBackward, _after))
        {
            _walk?.Move(_source.Key, _source.RowId);
            if (_walk?.IsNew(_source.Key, _source.RowId) == true)
                continue;
            if (_roster.TryFind(_source.RowId, out var member) && !(member.HidesExpired && IsExpired(member)))
            {
                _member = member;
                return true;
            }
        }

        return false;
    }

    private bool IsExpired(in SharedRoster.Member member)
    {
        var rowId = SharedPlace.RowIdOf(_source.RowId);
        if (member.Rows.TryGetBriefly(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), ref _unpacked, out var row))
            return RowLayout.IsDue(row, _roster.Now) && !PlantedFault.ReturnExpiredRows;
        throw new CorruptionException(
            $"The {_index} names row {rowId} of table '{member.Schema.Name}', which does not exist. Run {nameof(TableVerification.VerifyTable)}. " +
            $"To rebuild the index, raise its version and call {nameof(TableEvolution.EvolveAsync)}.");
    }

    private void CheckOpen()
    {
        if (_state == State.Disposed)
            TableErrors.ThrowQuery();

        // Throws if the transaction has ended, or was rolled back to a savepoint that is older than the index.
        _roster.Ids.RequireOpen();
    }

    private void RequireRow()
    {
        CheckOpen();
        if (_state == State.Failed)
            ThrowFailed();
        if (_state != State.OnRow)
            throw new InvalidOperationException(_state == State.New ? "The query has not begun: call MoveNext first." : "The query is at its end.");
    }

    private void RequireNew()
    {
        CheckOpen();
        if (_state != State.New)
            throw new InvalidOperationException("The query has begun already: set direction, start and limit before the first row is found.");
    }

    [DoesNotReturn]
    private void ThrowFailed() =>
        throw new InvalidOperationException($"The query of the {_index} has failed on a damaged page. Begin a new one after its token.");
}

/// <summary>A row that a query of a shared index has found.</summary>
/// <param name="Table">The name of the table.</param>
/// <param name="RowId">The id of the row in that table.</param>
public readonly record struct SharedRow(string Table, long RowId);
