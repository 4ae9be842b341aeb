using System.Diagnostics;

namespace Voron.Tables;

/// <summary>Adds the missing primary keys of rows, and removes keys that belong to no row, in short transactions while others write.</summary>
/// <param name="environment">The environment.</param>
/// <param name="functions">The definition.</param>
/// <param name="stop">Ends the work between two steps.</param>
internal sealed class KeyRebuild(StorageEnvironment environment, TableFunctions functions, CancellationToken stop)
{
    private readonly StepPace _pace = new(new EvolveOptions().MaxHold);
    private readonly TableCheckProblems _problems = new();
    private long _rows;
    private long _added;
    private long _next;
    private long _removed;
    private byte[]? _nextKey = [];

    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    public async ValueTask<RebuildKeysReport> RunAsync()
    {
        // Refuses a table that is missing or does not fit.
        await StepAsync(static _ => { }).ConfigureAwait(false);
        if (functions.KeyCodecName != null)
        {
            // Removes wrong keys first, because they may conflict with added ones.
            while (_nextKey != null)
                await StepAsync(RemoveKeys).ConfigureAwait(false);
            while (_next <= RowIdBytes.Max)
                await StepAsync(AddKeys).ConfigureAwait(false);
        }

        return new RebuildKeysReport(_rows, _added, _removed, _problems.Count, _problems.Kept);
    }

    private async ValueTask StepAsync(Action<BoundTable> step)
    {
        using var writing = await environment.BeginWriteAsync(stop).ConfigureAwait(false);
        _pace.Begin();
        var before = _added + _removed;
        var bound = BoundTable.Open(new SystemTreeAccess(writing), functions)
            ?? throw new KeyNotFoundException($"Keys cannot be rebuilt: table '{functions.Name}' does not exist in '{writing.DataFilePath}'.");
        bound.EnterToWrite(functions);
        for (var slot = 0; slot < functions.Slots.Count; slot++)
            bound.OldKeys.Want(slot, slot == 0);
        step(bound);
        _pace.EndReading();
        if (_added + _removed == before)
            return;
        var commit = writing.CommitAsync(CancellationToken.None);
        _pace.End();
        await commit.ConfigureAwait(false);
    }

    // A salvage of an unproven state may contain keys of older rows.
    private void RemoveKeys(BoundTable bound)
    {
        var began = Stopwatch.GetTimestamp();
        var (first, wrong) = (_nextKey!, new List<byte[]>());
        var entries = bound.IndexOf(0).Entries;
        using (var cursor = entries.OpenCursor())
        {
            var found = first.Length == 0 ? cursor.SeekFirst() : cursor.Seek(first);
            for (_nextKey = null; found; found = cursor.MoveNext())
            {
                if (!cursor.Key.SequenceEqual(first) && Stopwatch.GetElapsedTime(began) >= _pace.ReadingTime)
                {
                    _nextKey = cursor.Key.ToArray();
                    break;
                }

                if (!IsKeyOfRow(bound, cursor.Key, cursor.Value))
                    wrong.Add(cursor.Key.ToArray());
            }
        }

        foreach (var key in wrong)
        {
            new WriteTree(entries).Delete(key);
            _removed++;
        }
    }

    // An unreadable row keeps its key.
    private static bool IsKeyOfRow(BoundTable bound, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!RowIdBytes.TryRead(value, out var rowId) || !RowLookup.TryGet(bound, rowId, out var row))
            return false;
        try
        {
            bound.ReadKeys(rowId, bound.Copy(row));
            bound.RequireUnchanged();
        }
        catch (TableException)
        {
            return true;
        }

        return bound.OldKeys[0][0].SequenceEqual(key);
    }

    private void AddKeys(BoundTable bound)
    {
        var began = Stopwatch.GetTimestamp();
        var first = _next;
        using var cursor = bound.Rows.OpenCursor();
        for (var found = cursor.Seek(RowIdBytes.Write(_next, stackalloc byte[RowIdBytes.Bytes])); found; found = cursor.MoveNext())
        {
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
                throw RowLookup.NoRowId(functions.Name, cursor.Key);
            _next = rowId;
            if (rowId > first && Stopwatch.GetElapsedTime(began) >= _pace.ReadingTime)
                return;
            _rows++;
            Add(bound, rowId, cursor.Value);
        }

        _next = RowIdBytes.Max + 1;
    }

    private void Add(BoundTable bound, long rowId, ReadOnlySpan<byte> row)
    {
        try
        {
            bound.ReadKeys(rowId, bound.Copy(row));
            bound.RequireUnchanged();
        }
        catch (TableException e)
        {
            _problems.Add(rowId, e);
            return;
        }

        var (index, keys) = (bound.IndexOf(0), bound.OldKeys[0]);
        if (!RowLookup.TryFindId(bound, index.Entries, keys[0], out var other))
        {
            IndexEditor.Add(bound, index, keys, 0, rowId);
            _added++;
        }
        else if (other != rowId)
        {
            var failure = new DuplicateKeyException(functions.Name, "", keys[0], rowId, other);
            _problems.Add(rowId, "", other, failure.Message);
        }
    }
}
