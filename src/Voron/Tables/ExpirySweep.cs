using System.Runtime.ExceptionServices;

namespace Voron.Tables;

/// <summary>Deletes the expired rows of a table.</summary>
/// <remarks>
/// <code>
///   a snapshot: the next 256 rows of the index that are due ──▶ an operation of a group commit: those that are still due are deleted ──▶ again
/// </code>
/// The index is sorted by expiry time, and the sweep walks it once, so a row that cannot be deleted does not block the others.
/// </remarks>
/// <param name="now">The current time. Rows that expire during the sweep are left to the next one; otherwise this one might never end.</param>
/// <param name="beginRead">Begins a read transaction.</param>
/// <param name="write">Runs an operation of a group commit.</param>
/// <param name="functions">The definition of the table, which has an expiry function.</param>
internal sealed class ExpirySweep(
    DateTimeOffset now, Func<ReadTransaction> beginRead, Func<Func<WriteTransaction, long>, CancellationToken, ValueTask<long>> write,
    TableFunctions functions)
{
    private const int RowsOfStep = 256;

    private readonly long _until = now.ToUnixTimeMilliseconds();
    private readonly List<long> _rowIds = [];
    private PageToken _after;
    private Exception? _failure;

    /// <summary>Deletes the rows, and returns their number.</summary>
    /// <inheritdoc cref="TableExpiry.DeleteExpiredAsync"/>
    public async ValueTask<long> RunAsync(CancellationToken stop)
    {
        var deleted = 0L;
        while (Find(stop))
        {
            // If the operation runs again, only the failure of its last run counts.
            Exception? failure = null;
            deleted += await write(transaction => Delete(transaction, out failure), stop).ConfigureAwait(false);
            _failure ??= failure;
        }

        if (_failure != null)
            ExceptionDispatchInfo.Throw(_failure);
        return deleted;
    }

    // Finds the next due rows; false if there are none.
    private bool Find(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        _rowIds.Clear();
        using var reading = beginRead();
        var bound = BoundTable.Open(new SystemTreeAccess(reading), functions)
            ?? throw new KeyNotFoundException($"Expired rows cannot be deleted: no table '{functions.Name}' in '{reading.DataFilePath}'.");
        var index = bound.IndexOf(functions.ExpirySlot);
        if (index.State != IndexState.Ready)
            throw new IndexNotReadyException(functions.Name, RowExpiry.IndexName, index.State);
        var until = Math.Min(_until, bound.Now);
        using var source = new IdSource(index.Ids, KeyRange.Through(RowExpiry.WriteKey(until, stackalloc byte[RowExpiry.KeyBytes])));
        while (_rowIds.Count < RowsOfStep && source.MoveNext(isBackward: false, _after))
        {
            stop.ThrowIfCancellationRequested();
            if (IsDue(bound, source, until))
                _rowIds.Add(source.RowId);
            if (_rowIds.Count == RowsOfStep)
                _after = new PageToken(0, source.Key, source.RowId);
        }

        if (_rowIds.Count < RowsOfStep)
            _after = new PageToken(0, RowExpiry.WriteKey(RowExpiry.Max, stackalloc byte[RowExpiry.KeyBytes]), RowIdBytes.Max);
        return _rowIds.Count > 0;
    }

    // The keys are whole seconds, so rows of the last second may not be due yet.
    private bool IsDue(BoundTable bound, IdSource source, long until)
    {
        if (!RowLookup.TryGet(bound, source.RowId, out var row))
        {
            _failure ??= RowLookup.Missing(bound, source.RowId);
            return false;
        }

        if (RowLayout.FindFault(row) is { } fault)
        {
            _failure ??= RowFormatException.OnRead(functions.Name, source.RowId, fault);
            return false;
        }

        Span<byte> key = stackalloc byte[RowExpiry.KeyBytes];
        if (!RowLayout.TryGetExpiry(row, out var expiry) || !source.Key.SequenceEqual(RowExpiry.WriteKey(expiry, key)))
        {
            _failure ??= new CorruptionException(
                $"The expiry index of table '{functions.Name}' in '{bound.Trees.DataFilePath}' names row {source.RowId}, which has " +
                $"another time or none. Run {nameof(TableVerification.VerifyTable)}. To rebuild the index, raise its version and call " +
                $"{nameof(TableEvolution.EvolveAsync)}.");
            return false;
        }

        return expiry <= until;
    }

    // An operation may run more than once.
    private long Delete(WriteTransaction transaction, out Exception? failure)
    {
        failure = null;
        var deleted = 0L;
        var bound = BoundTable.Open(new SystemTreeAccess(transaction), functions);
        bound?.EnterToWrite(functions);
        foreach (var rowId in bound == null ? [] : _rowIds)
        {
            // The row may have been changed or deleted meanwhile, or the clock may have been set back.
            var isThere = RowLookup.TryGet(bound!, rowId, out var row);
            if (!isThere || !bound!.IsExpired(row) || !RowLayout.TryGetExpiry(row, out var expiry) || expiry > _until)
                continue;
            try
            {
                RowEditor.Delete(bound, rowId, bound.Copy(row));
                deleted++;
            }
            catch (TableException e)
            {
                failure ??= e;
            }
        }

        return deleted;
    }
}
