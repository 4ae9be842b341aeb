using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>Rows in index order, to be enumerated once: with <c>foreach</c>, which disposes the query, or with <see cref="MoveNext"/>.</summary>
/// <remarks>
/// Valid until its transaction ends, for one thread at a time. Set direction, start and limit before the first row is read.
/// <para>
/// In a write transaction, the table may change during the query. The query returns the rows that its index contained when the query was created,
/// in their current state, and skips rows that were deleted, or whose key was changed, before it reaches them. So a loop may update the rows
/// that it gets: no updated row is returned again.
/// </para>
/// <para>To read page by page, each in a separate transaction:</para>
/// <code>
/// var rows = table.FromRaw("section", keys).After(token).Take(20);
/// foreach (var row in rows) { ... }
/// token = rows.Token;
/// </code>
/// </remarks>
/// <typeparam name="TRow">The type of a row.</typeparam>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class RowQuery<TRow> : IDisposable
{
    /// <summary>The number of rows to look up one by one before a query looks up many together: most queries return few rows.</summary>
    private const int SingleRows = 4;

    private readonly BoundTable _bound;
    private readonly RowFunctions<TRow> _functions;
    private readonly Tree _rows;
    private byte[] _unpacked = [];
    private readonly RowSource _source;
    private readonly PageOrder _order;
    private readonly long _now;
    private readonly ChangesAheadOfQuery? _walk;

    // For a combination of id sets: rows inserted later have at least this id.
    private readonly long _endId = long.MaxValue;
    private PageToken _after;
    private long _left = long.MaxValue;
    private bool _isBackward;
    private KeyCopy _key;
    private long _rowId;
    private long _returned;

    // In a read transaction, after the first few rows: rows that are looked up together. The source is then ahead of the current row.
    private RowBatch? _batch;
    private int _at;
    private bool _isSourceAtEnd;
    private State _state;

    internal RowQuery(BoundTable bound, RowFunctions<TRow> functions, RowSource source, PageOrderKind kind, string index = "")
    {
        _order = new PageOrder(kind, functions.Name, index);
        _bound = bound;
        _functions = functions;
        _rows = bound.Rows;
        _source = source;
        _now = bound.Now;
        if (!bound.Trees.CanWrite)
            return;
        _walk = source.BeginWalk();
        if (_walk == null && functions.KeyCodecName != null)
            _endId = bound.NextRowId();
    }

    private enum State
    {
        New,
        OnRow,
        Failed,
        AtEnd,
        Disposed,
    }

    /// <summary>The row, which the codec reads on each call.</summary>
    /// <exception cref="InvalidOperationException">The query is not on a row, or the row has been deleted since.</exception>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or the codec cannot read it.</exception>
    /// <exception cref="IndexMismatchException">The index names a row that does not exist, because its function has changed.</exception>
    /// <exception cref="CorruptionException">The index of primary keys names a row that does not exist, or a page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public TRow Current
    {
        get
        {
            var bytes = Bytes();
            _bound.BeginCallback();
            try
            {
                return _functions.Read(bytes, _rowId);
            }
            finally
            {
                _bound.EndCallback();
            }
        }
    }

    /// <summary>
    /// A reader for the fields of the row, in the memory of its page: valid until the transaction ends, or in a write transaction until its next
    /// write.
    /// </summary>
    /// <inheritdoc cref="Current"/>
    public RowReader Reader => _functions.Open(Bytes(), _rowId);

    /// <summary>The id of the row, available without reading the row.</summary>
    /// <exception cref="InvalidOperationException">The query is not on a row.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public long RowId
    {
        get
        {
            RequireRow();
            return _rowId;
        }
    }

    /// <summary>The key that led to the row, as the index stores it; empty for a combination of id sets. Valid until the next move.</summary>
    /// <exception cref="InvalidOperationException">The query is not on a row.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            RequireRow();
            return _key.Value;
        }
    }

    /// <summary>The version of the row.</summary>
    /// <inheritdoc cref="Current"/>
    public RowVersion Version => _functions.Open(Bytes(), _rowId).RowVersion;

    /// <summary>The position of the last returned row, after which the next page begins; if no row was returned, the given position.</summary>
    /// <remarks>It remains available after the query is disposed.</remarks>
    public PageToken Token => _returned > 0 ? new PageToken(_order.MarkOf(_isBackward), _key.Value, _rowId) : _after;

    /// <summary>Returns rows in descending order.</summary>
    /// <returns>This query.</returns>
    /// <exception cref="InvalidOperationException">A row has already been read.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public RowQuery<TRow> Backward()
    {
        RequireNew();
        _isBackward = true;
        return this;
    }

    /// <summary>Begins after the last row of another page of the same query.</summary>
    /// <param name="token">The <see cref="Token"/> of that page. The default value stands for the start.</param>
    /// <returns>This query.</returns>
    /// <inheritdoc cref="Backward"/>
    public RowQuery<TRow> After(PageToken token)
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
    public RowQuery<TRow> Take(long count)
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
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public long Count()
    {
        CheckOpen();
        return _source.Count();
    }

    /// <summary>Moves to the next row; false at the end.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="PageTokenException">The given token belongs to another table, index or direction.</exception>
    /// <exception cref="ObjectDisposedException">The query was disposed, or the transaction has ended.</exception>
    public bool MoveNext()
    {
        CheckOpen();
        if (_state == State.New)
            _order.Check(_after, _isBackward);
        if (_state == State.New && _walk != null)
            _walk.IsBackward = _isBackward;
        if (_state == State.AtEnd)
            return false;
        if (_state == State.Failed)
            ThrowFailed();
        if (_left == 0 || !Advance())
        {
            _state = State.AtEnd;
            EndWalk();
            ReturnBatch();
            return false;
        }

        _left--;
        _returned++;
        _state = State.OnRow;
        return true;
    }

    /// <summary>Returns the query itself, which <c>foreach</c> enumerates, and disposes at the end.</summary>
    public RowQuery<TRow> GetEnumerator() => this;

    /// <summary>Closes the query. Further calls of this method do nothing.</summary>
    public void Dispose()
    {
        if (_state == State.Disposed)
            return;
        _state = State.Disposed;
        EndWalk();
        ReturnBatch();
        _source.Dispose();
    }

    /// <summary>Describes the query by its state.</summary>
    public override string ToString() => _state switch
    {
        State.New => $"query of table '{_functions.Name}', not begun",
        State.OnRow => $"query of table '{_functions.Name}' on row {_rowId}",
        State.Failed => $"query of table '{_functions.Name}' that has failed",
        State.AtEnd => $"query of table '{_functions.Name}' at its end",
        _ => $"query of table '{_functions.Name}' (disposed)",
    };

    private bool Advance()
    {
        // In a write transaction, rows may change between two moves, so each is looked up only when it is needed.
        if (_batch == null && (_returned < SingleRows || _bound.Trees.CanWrite || _source.HasRows))
        {
            do
            {
                if (!_source.MoveNext(_isBackward, _after))
                    return false;
                _walk?.Move(_source.Key, _source.EntryId);
            }
            while (IsSourceOnNew() || (_now != RowExpiry.Never && IsSourceOnExpired()));
            Keep(_source.Key, _source.RowId);
            return true;
        }

        do
        {
            if ((_batch == null || ++_at == _batch.Count) && !Fill(_batch ??= _bound.TakeBatch()))
                return false;
        }
        while (_now != RowExpiry.Never && !PlantedFault.ReturnExpiredRows && _batch.TryGet(_at, out var row) && RowLayout.IsDue(row, _now));
        Keep(_batch.Key(_at), _batch.RowId(_at));
        return true;
    }

    private bool IsSourceOnNew() => _source.RowId >= _endId || _walk?.IsNew(_source.Key, _source.EntryId) == true;

    private bool IsSourceOnExpired()
    {
        // If a page is damaged, the source is past a row that was not returned.
        var before = _state;
        _state = State.Failed;
        var key = RowIdBytes.Write(_source.RowId, stackalloc byte[RowIdBytes.Bytes]);
        var isExpired = (_source.TryGetRow(out var row) || _rows.TryGetBriefly(key, ref _unpacked, out row)) && RowLayout.IsDue(row, _now);
        _state = before;
        return isExpired;
    }

    private bool Fill(RowBatch batch)
    {
        // If a page is damaged, the source is past rows that were not returned.
        _state = State.Failed;
        _at = 0;
        batch.Clear();
        while (!_isSourceAtEnd && batch.Count < Math.Min(RowBatch.MaxRows, _left))
        {
            _isSourceAtEnd = !_source.MoveNext(_isBackward, _after);
            if (!_isSourceAtEnd)
                batch.Add(_source);
        }

        batch.LookUp(_rows);
        return batch.Count > 0;
    }

    private void Keep(ReadOnlySpan<byte> key, long rowId)
    {
        _key.Take(key);
        _rowId = rowId;
    }

    private void EndWalk()
    {
        if (_walk != null)
            _source.EndWalk(_walk);
    }

    // From here on, another query may use the batch.
    private void ReturnBatch()
    {
        if (_batch != null)
            _bound.ReturnBatch(_batch);
        _batch = null;
    }

    private ReadOnlySpan<byte> Bytes()
    {
        RequireRow();
        ReadOnlySpan<byte> row;
        var found = _batch != null
            ? _batch.TryGet(_at, out row)
            : _source.TryGetRow(out row) || _rows.TryGetBriefly(RowIdBytes.Write(_rowId, stackalloc byte[RowIdBytes.Bytes]), ref _unpacked, out row);
        if (!found)
            ThrowMissing();
        return row;
    }

    private void CheckOpen()
    {
        if (_state == State.Disposed)
            TableErrors.ThrowQuery();

        // Throws if the transaction has ended, or was rolled back to a savepoint that is older than the table's handle.
        _rows.RequireOpen();
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
            throw new InvalidOperationException("The query has begun already: set direction, start and limit before the first row is read.");
    }

    [DoesNotReturn]
    private void ThrowFailed() =>
        throw new InvalidOperationException($"The query of table '{_functions.Name}' has failed on a damaged page. Begin a new one after its token.");

    [DoesNotReturn]
    private void ThrowMissing()
    {
        if (_bound.Trees.CanWrite)
            throw new InvalidOperationException($"Row {_rowId} of table '{_functions.Name}' was deleted after the query had returned it.");
        throw _order.Index.Length > 0
            ? IndexMismatchException.OfMissing(_bound, _order.Index, _rowId, _key.Value)
            : RowLookup.Missing(_bound, _rowId);
    }
}
