using Voron.Testing;

namespace Voron.Tables;

/// <content>Calls that change or delete all rows in a range.</content>
public readonly partial struct WriteTable<TKey, TRow>
{
    private const int DeletedTogether = 256;

    /// <summary>Deletes the rows with a key in an index, in the order of their ids.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The key, or its first fields: see <see cref="From{TIndexKey}(string, TIndexKey)"/>.</param>
    /// <param name="most">The maximum number of rows to delete, for callers that divide the work among transactions.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name, or its keys have another type.</exception>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <inheritdoc cref="DeleteWhereRaw"/>
    public long DeleteWhere<TIndexKey>(string index, TIndexKey key, long most = long.MaxValue) =>
        DeleteWhere(index, IndexRange<TIndexKey>.All.From(key).Through(key), most);

    /// <summary>Deletes the rows whose keys in an index are in a range of values, in the order of the keys.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The keys: <see cref="IndexRange"/> makes a range.</param>
    /// <param name="most">The maximum number of rows to delete, for callers that divide the work among transactions.</param>
    /// <inheritdoc cref="DeleteWhere{TIndexKey}(string, TIndexKey, long)"/>
    public long DeleteWhere<TIndexKey>(string index, IndexRange<TIndexKey> keys, long most = long.MaxValue) =>
        DeleteWhereRaw(index, _table.Encode(index, keys), most);

    /// <summary>Deletes the rows whose keys in an index are in a range of bytes, in the order of the keys.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The bytes of the keys, as <see cref="KeyWriter"/> writes their fields.</param>
    /// <param name="most">The maximum number of rows to delete, for callers that divide the work among transactions.</param>
    /// <returns>The number of rows deleted.</returns>
    /// <remarks>If a row is refused, the rows before it remain deleted; a savepoint can undo that.</remarks>
    /// <exception cref="CorruptionException">A page is damaged. If rows were deleted before, the transaction can only be rolled back.</exception>
    /// <exception cref="IndexMismatchException">
    /// The index names rows that do not exist, because its function has returned other keys for the same row.
    /// </exception>
    /// <exception cref="ArgumentException">The definition has no index of that name.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="most"/> is negative.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <inheritdoc cref="Delete(TKey)"/>
    public long DeleteWhereRaw(string index, KeyRange keys, long most = long.MaxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(most);
        var bound = _table.BoundToWrite;
        var deleted = 0L;
        try
        {
            DeleteWhere(bound, index, keys, most, ref deleted);
        }
        catch (CorruptionException e) when (deleted > 0 && !PlantedFault.CommitPartOfDeletion && bound.Break(e))
        {
            throw;
        }

        return deleted;
    }

    /// <summary>Changes the rows with a key in an index, each once.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The key, or its first fields: see <see cref="From{TIndexKey}(string, TIndexKey)"/>.</param>
    /// <param name="state">Passed to the function, so that it need not capture anything.</param>
    /// <param name="change">
    /// Returns the changed row, with the same primary key. It may modify the row that it receives. It must not call the table.
    /// </param>
    /// <exception cref="ArgumentException">
    /// The definition has no index of that name, or its keys have another type, or the function has returned a row with another primary key.
    /// </exception>
    /// <inheritdoc cref="UpdateWhereRaw"/>
    public long UpdateWhere<TIndexKey, TState>(string index, TIndexKey key, TState state, Func<TRow, TState, TRow> change) =>
        UpdateWhere(index, IndexRange<TIndexKey>.All.From(key).Through(key), state, change);

    /// <summary>Changes the rows whose keys in an index are in a range of values, each once.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The keys: <see cref="IndexRange"/> makes a range.</param>
    /// <param name="state">Passed to the function, so that it need not capture anything.</param>
    /// <param name="change">Returns the changed row: see <see cref="TryUpdate{TState}"/>.</param>
    /// <inheritdoc cref="UpdateWhere{TIndexKey, TState}(string, TIndexKey, TState, Func{TRow, TState, TRow})"/>
    public long UpdateWhere<TIndexKey, TState>(string index, IndexRange<TIndexKey> keys, TState state, Func<TRow, TState, TRow> change) =>
        UpdateWhereRaw(index, _table.Encode(index, keys), state, change);

    /// <summary>Changes the rows whose keys in an index are in a range of bytes, each once.</summary>
    /// <remarks>
    /// A row that the change moves within the range is not changed again. If a row is refused, the rows before it remain changed; a savepoint can
    /// undo that.
    /// </remarks>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The bytes of the keys, as <see cref="KeyWriter"/> writes their fields.</param>
    /// <param name="state">Passed to the function, so that it need not capture anything.</param>
    /// <param name="change">Returns the changed row: see <see cref="TryUpdate{TState}"/>.</param>
    /// <returns>The number of rows that were passed to the function, including those that it returned unchanged.</returns>
    /// <exception cref="ArgumentNullException">The function is null.</exception>
    /// <exception cref="CorruptionException">A page is damaged. If rows were changed before, the transaction can only be rolled back.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <inheritdoc cref="Insert"/>
    public long UpdateWhereRaw<TState>(string index, KeyRange keys, TState state, Func<TRow, TState, TRow> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        var bound = _table.BoundToWrite;
        var seen = new HashSet<long>();
        var changed = 0L;
        using var query = _table.FromRaw(index, keys);
        try
        {
            while (query.MoveNext())
            {
                // A row with several keys in the range is returned once for each.
                if (!seen.Add(query.RowId))
                    continue;
                Update(bound, query.RowId, RowLookup.Get(bound, query.RowId), state, change);
                changed++;
            }
        }
        catch (CorruptionException e) when (changed > 0 && bound.Break(e))
        {
            throw;
        }

        return changed;
    }

    private void DeleteWhere(BoundTable bound, string index, KeyRange keys, long most, ref long deleted)
    {
        Span<long> rowIds = stackalloc long[DeletedTogether];
        var after = default(PageToken);
        while (deleted < most)
        {
            // Each query continues after the last one, so expired rows and rows of other tables are skipped only once.
            var count = 0;
            using (var query = _table.FromRaw(index, keys).After(PlantedFault.RestartWalk ? default : after))
            {
                while (count < Math.Min(DeletedTogether, most - deleted) && query.MoveNext())
                    rowIds[count++] = query.RowId;
                after = query.Token;
            }

            // A row with several keys in the range was collected once for each, and is deleted once.
            var before = deleted;
            foreach (var rowId in rowIds[..count])
            {
                if (!RowLookup.TryGet(bound, rowId, out var row))
                    continue;
                RowEditor.Delete(bound, rowId, bound.Copy(row));
                deleted++;
            }

            if (count == 0)
                break;
            if (deleted == before)
                throw IndexMismatchException.OfMissing(bound, index, rowIds[0], after.Key);
        }
    }
}
