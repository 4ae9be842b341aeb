using System.Diagnostics;
using Voron.Loading;

namespace Voron.Tables;

/// <summary>Checks all rows of a table against the functions of a definition that has not been applied yet. Writes nothing.</summary>
/// <remarks>Reads the rows in a series of short snapshots, so no flush waits for the check.</remarks>
/// <param name="environment">The environment.</param>
/// <param name="functions">The definition.</param>
/// <param name="stop">Ends the check.</param>
internal sealed class DefinitionCheck(StorageEnvironment environment, TableFunctions functions, CancellationToken stop) : IDisposable
{
    private static readonly TimeSpan SnapshotHold = TimeSpan.FromMilliseconds(100);

    private readonly TableCheckProblems _problems = new();
    private DuplicateKeyFinder? _duplicates;
    private IReadOnlyList<(int Slot, long First, long Second)> _found = [];
    private long _rows;
    private bool _isUniqueOnly;

    /// <summary>Finds problems of all kinds.</summary>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    public TableCheckReport Run()
    {
        using (var reading = environment.BeginRead())
        {
            if (Open(reading) == null)
                throw new KeyNotFoundException($"The table '{functions.Name}' cannot be checked: it does not exist in '{reading.DataFilePath}'.");
        }

        ReadRows();
        FindDuplicate(isFirstOnly: false);
        Sample();
        return new TableCheckReport(_rows, _problems.Count, _problems.Kept);
    }

    /// <summary>Finds rows that share a key in a unique index to be built. Skips unreadable rows.</summary>
    /// <exception cref="DuplicateKeyException">Two rows have the same key.</exception>
    public void RunUnique()
    {
        using (var reading = environment.BeginRead())
        {
            if (Open(reading) is not { } bound || bound.Rows.Count == 0)
                return;
            if (!Enumerable.Range(0, functions.Slots.Count).Any(slot => IsToBeUnique(bound, slot)))
                return;
        }

        _isUniqueOnly = true;
        ReadRows();
        FindDuplicate(isFirstOnly: true);
    }

    public void Dispose() => _duplicates?.Dispose();

    private BoundTable? Open(ReadTransaction reading) => BoundTable.Open(new SystemTreeAccess(reading), functions);

    private bool IsToBeUnique(BoundTable bound, int slot) => functions.Slots[slot].IsUnique && bound.IndexOf(slot).State != IndexState.Ready;

    private void ReadRows()
    {
        try
        {
            _duplicates = environment.CreateDuplicateKeyFinder(TableCheckProblems.MaxKept, stop);
            for (long? from = 0; from is { } next;)
                from = ReadRows(next);
            _found = _duplicates.Find();
        }
        catch (OutOfMemoryException e)
        {
            throw new StorageMemoryException($"There was not enough memory to check the rows of the table '{functions.Name}': {e.Message}", e);
        }
    }

    // Returns the row at which the next snapshot continues; null at the end.
    private long? ReadRows(long from)
    {
        using var reading = environment.BeginRead();
        var began = Stopwatch.GetTimestamp();
        if (Open(reading) is not { } bound)
            return null;
        Want(bound);
        using var cursor = bound.Rows.OpenCursor();
        for (var found = cursor.Seek(RowIdBytes.Write(from, stackalloc byte[RowIdBytes.Bytes])); found; found = cursor.MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(functions.Name, cursor.Key);
            if (rowId > from && Stopwatch.GetElapsedTime(began) > SnapshotHold)
                return rowId;
            _rows++;
            if (!bound.IsExpired(cursor.Value))
                Check(bound, rowId, cursor.Value);
        }

        return null;
    }

    private void Want(BoundTable bound)
    {
        for (var slot = 0; slot < functions.Slots.Count; slot++)
            bound.OldKeys.Want(slot, !_isUniqueOnly || IsToBeUnique(bound, slot));
    }

    private void Check(BoundTable bound, long rowId, ReadOnlySpan<byte> row)
    {
        try
        {
            var key = bound.ReadKeys(rowId, bound.Copy(row));
            if (key >= 0 && key != rowId && !_isUniqueOnly)
                _problems.Add(rowId, "", null, $"row {rowId} has the key {key}, but its key must be its id");
        }
        catch (TableException e)
        {
            if (!_isUniqueOnly)
                _problems.Add(rowId, e);
            return;
        }

        for (var slot = 0; slot < functions.Slots.Count; slot++)
        {
            var (index, keys) = (bound.IndexOf(slot), bound.OldKeys[slot]);
            for (var i = 0; bound.OldKeys.IsWanted(slot) && i < keys.Count; i++)
            {
                if (functions.Slots[slot].IsUnique && keys.HasNull(i) && functions.Slots[slot].Name.Length > 0)
                    continue;
                if (IsToBeUnique(bound, slot))
                    _duplicates!.Add(slot, keys[i], rowId);
                else if (index.State == IndexState.Ready && !IndexSpotCheck.Has(index, keys[i], rowId, out _))
                    _problems.Add(rowId, functions.Slots[slot].Name, null, IndexMismatchException.Of(bound, slot, rowId, keys[i], default).Message);
            }
        }
    }

    // The rows may have changed since they were read, so both rows are read again before they are reported.
    private void FindDuplicate(bool isFirstOnly)
    {
        using var reading = environment.BeginRead();
        if (Open(reading) is not { } bound)
            return;
        foreach (var (slot, first, second) in _found)
        {
            stop.ThrowIfCancellationRequested();
            var keys = KeysOf(bound, slot, first);
            if (KeysOf(bound, slot, second).Find(key => keys.Exists(other => key.AsSpan().SequenceEqual(other))) is not { } common)
                continue;
            var failure = new DuplicateKeyException(functions.Name, functions.Slots[slot].Name, common, second, first, functions.Slots[slot].KeyType);
            if (isFirstOnly)
                throw failure;
            _problems.Add(second, functions.Slots[slot].Name, first, failure.Message);
        }
    }

    // An index may contain keys that its function no longer returns. A pass over the rows does not find them.
    private void Sample()
    {
        using var reading = environment.BeginRead();
        try
        {
            if (Open(reading) is { } bound)
                IndexSpotCheck.Check(bound, reading.TransactionId, mustRead: false);
        }
        catch (IndexMismatchException e) when (!_problems.Kept.Any(problem => problem.IndexName == e.IndexName))
        {
            _problems.Add(e.RowId, e.IndexName, null, e.Message);
        }
        catch (IndexMismatchException)
        {
            // The pass over the rows has already reported the index.
        }
    }

    private List<byte[]> KeysOf(BoundTable bound, int slot, long rowId)
    {
        var found = new List<byte[]>();
        for (var other = 0; other < functions.Slots.Count; other++)
            bound.OldKeys.Want(other, other == slot);
        if (!RowLookup.TryGetUnexpired(bound, rowId, out var row))
            return found;
        try
        {
            bound.ReadKeys(rowId, bound.Copy(row));
        }
        catch (TableException)
        {
            return found;
        }

        var keys = bound.OldKeys[slot];
        for (var i = 0; i < keys.Count; i++)
        {
            if (!keys.HasNull(i))
                found.Add(keys[i].ToArray());
        }

        return found;
    }
}
