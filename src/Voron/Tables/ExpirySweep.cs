using System.Runtime.ExceptionServices;

namespace Voron.Tables;

/// <summary>Deletes the expired rows of a table.</summary>
/// <remarks>
/// <code>
///   a snapshot: the next 256 rows of the index that are due ──▶ an operation of a group commit: those that are still due are deleted ──▶ again
/// </code>
/// The index is in the order of the times, and the sweep goes through it once, so a row that cannot be deleted holds none back.
/// </remarks>
/// <param name="now">The time. Rows that come past theirs meanwhile are left to the next sweep: otherwise this one might never end.</param>
/// <param name="beginRead">Begins a read transaction.</param>
/// <param name="write">Runs an operation of a group commit.</param>
/// <param name="functions">The definition of the table, which has the times.</param>
internal sealed class ExpirySweep(
    DateTimeOffset now, Func<ReadTransaction> beginRead, Func<Func<WriteTransaction, long>, CancellationToken, ValueTask<long>> write,
    TableFunctions functions)
{
    private const int RowsOfStep = 256;

    private readonly long _until = now.ToUnixTimeMilliseconds();
    private readonly List<long> _rowIds = [];
    private PageToken _after;
    private Exception? _failure;

    /// <summary>Deletes the rows. Returns their number.</summary>
    /// <inheritdoc cref="TableExpiry.DeleteExpiredAsync"/>
    public async ValueTask<long> RunAsync(CancellationToken stop)
    {
        var deleted = 0L;
        while (Find(stop))
        {
            // A failure of an operation that is run again does not count.
            Exception? failure = null;
            deleted += await write(transaction => Delete(transaction, out failure), stop).ConfigureAwait(false);
            _failure ??= failure;
        }

        if (_failure != null)
            ExceptionDispatchInfo.Throw(_failure);
        return deleted;
    }

    // Looks for the next rows that are due; false if there are none.
    private bool Find(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        _rowIds.Clear();
        using var reading = beginRead();
        var session = TableSession.Open(new TableTrees(reading), functions)
            ?? throw new KeyNotFoundException($"There is no table '{functions.Name}' in '{reading.DataFilePath}' whose rows could expire.");
        var index = session.IndexOf(functions.ExpirySlot);
        if (index.State != IndexState.Ready)
            throw new IndexNotReadyException(functions.Name, RowExpiry.IndexName, index.State);
        var until = Math.Min(_until, session.Now);
        using var source = new IdSource(index.Ids, KeyRange.Through(RowExpiry.WriteKey(until, stackalloc byte[RowExpiry.KeyBytes])));
        while (_rowIds.Count < RowsOfStep && source.MoveNext(isBackward: false, _after))
        {
            stop.ThrowIfCancellationRequested();
            if (IsDue(session, source, until))
                _rowIds.Add(source.RowId);
            if (_rowIds.Count == RowsOfStep)
                _after = new PageToken(0, source.Key, source.RowId);
        }

        if (_rowIds.Count < RowsOfStep)
            _after = new PageToken(0, RowExpiry.WriteKey(RowExpiry.Max, stackalloc byte[RowExpiry.KeyBytes]), RowKey.Max);
        return _rowIds.Count > 0;
    }

    // The rows of the last second may be due or not.
    private bool IsDue(TableSession session, IdSource source, long until)
    {
        if (!RowLookup.TryGet(session, source.RowId, out var row))
        {
            _failure ??= RowLookup.Missing(session, source.RowId);
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
                $"The index of the times of table '{functions.Name}' in '{session.Trees.DataFilePath}' names row {source.RowId}, which has another time or none. " +
                $"Run {nameof(TableVerification.VerifyTable)}; {nameof(TableEvolution.EvolveAsync)} builds an index of another version again.");
            return false;
        }

        return expiry <= until;
    }

    // An operation may run more than once.
    private long Delete(WriteTransaction transaction, out Exception? failure)
    {
        failure = null;
        var deleted = 0L;
        var session = TableSession.Open(new TableTrees(transaction), functions);
        session?.EnterToWrite(functions);
        foreach (var rowId in session == null ? [] : _rowIds)
        {
            // The row may have been changed or deleted meanwhile, or the clock may have gone back.
            var isThere = RowLookup.TryGet(session!, rowId, out var row);
            if (!isThere || !session!.IsExpired(row) || !RowLayout.TryGetExpiry(row, out var expiry) || expiry > _until)
                continue;
            try
            {
                RowEditor.Delete(session, rowId, session.Copy(row));
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
