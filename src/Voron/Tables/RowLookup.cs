namespace Voron.Tables;

/// <summary>Finds rows by their keys.</summary>
internal static class RowLookup
{
    /// <summary>Finds the id of the row with a primary key, which may be expired.</summary>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    public static bool TryFindId<TKey, TRow>(BoundTable bound, KeyedRowFunctions<TKey, TRow> functions, TKey key, out long rowId)
    {
        if (functions.KeyCodecName == null)
        {
            rowId = RowIdBytes.Of(key);
            return rowId is >= 0 and <= RowIdBytes.Max && Contains(bound, rowId);
        }

        return TryFindId(bound, bound.IndexOf(0).Entries, WriteKey(bound, functions, key), out rowId);
    }

    /// <summary>Finds the id of the row that has a key in a unique index.</summary>
    public static bool TryFindId(BoundTable bound, Tree index, ReadOnlySpan<byte> key, out long rowId)
    {
        rowId = -1;
        if (!index.TryGet(key, out var value))
            return false;
        if (!RowIdBytes.TryRead(value, out rowId))
            throw NoRowId(bound.Schema.Name, value);
        return true;
    }

    /// <summary>
    /// Finds the row with a primary key, unless it is expired. Its bytes are in its page or, if it is compressed, in the buffer of the bound
    /// table, where they remain until the next call.
    /// </summary>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <exception cref="CorruptionException">The key index contains the key, but the row does not exist.</exception>
    public static bool TryFind<TKey, TRow>(
        BoundTable bound, KeyedRowFunctions<TKey, TRow> functions, TKey key, out long rowId, out ReadOnlySpan<byte> row)
    {
        if (functions.KeyCodecName == null)
        {
            rowId = RowIdBytes.Of(key);
            return TryGetUnexpired(bound, rowId, out row);
        }

        row = default;
        if (!TryFindId(bound, functions, key, out rowId))
            return false;
        row = Get(bound, rowId);
        return !bound.IsExpired(row);
    }

    /// <summary>Returns a primary key as the table stores it: as its codec writes it, or as a row id.</summary>
    /// <param name="bound">The table.</param>
    /// <param name="functions">The functions of the definition.</param>
    /// <param name="key">The key.</param>
    /// <param name="buffer">Space for a row id.</param>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    public static ReadOnlySpan<byte> WriteKey<TKey, TRow>(
        BoundTable bound, KeyedRowFunctions<TKey, TRow> functions, TKey key, Span<byte> buffer) =>
        functions.KeyCodecName == null ? RowIdBytes.Write(RowIdBytes.Of(key), buffer) : WriteKey(bound, functions, key);

    private static ReadOnlySpan<byte> WriteKey<TKey, TRow>(BoundTable bound, KeyedRowFunctions<TKey, TRow> functions, TKey key)
    {
        bound.BeginCallback();
        try
        {
            return functions.WriteKey(key, bound.KeyBuffer);
        }
        finally
        {
            bound.EndCallback();
        }
    }

    public static bool Contains(BoundTable bound, long rowId) => bound.Rows.Contains(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]));

    /// <summary>Finds the row with a primary key, whose bytes remain valid until the transaction ends or writes.</summary>
    /// <inheritdoc cref="TryFind"/>
    public static bool TryFindToKeep<TKey, TRow>(
        BoundTable bound, KeyedRowFunctions<TKey, TRow> functions, TKey key, out long rowId, out ReadOnlySpan<byte> row)
    {
        row = default;
        if (functions.KeyCodecName == null)
            rowId = RowIdBytes.Of(key);
        else if (!TryFindId(bound, functions, key, out rowId))
            return false;
        var found = rowId is >= 0 and <= RowIdBytes.Max && bound.Rows.TryGet(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), out row);
        if (!found && functions.KeyCodecName != null)
            throw Missing(bound, rowId);
        return found && !bound.IsExpired(row);
    }

    /// <summary>Returns true if a row is expired; false if it is not, or does not exist.</summary>
    public static bool IsExpired(BoundTable bound, long rowId) =>
        bound.Now != RowExpiry.Never && TryGet(bound, rowId, out var row) && bound.IsExpired(row);

    /// <summary>Gets a row by its id unless it is expired, as <see cref="TryGet"/> does.</summary>
    public static bool TryGetUnexpired(BoundTable bound, long rowId, out ReadOnlySpan<byte> row) =>
        TryGet(bound, rowId, out row) && !bound.IsExpired(row);

    /// <summary>
    /// Gets a row by its id, even if it is expired. Its bytes are in its page or, if it is compressed, in the buffer of the bound table until the
    /// next call.
    /// </summary>
    public static bool TryGet(BoundTable bound, long rowId, out ReadOnlySpan<byte> row)
    {
        row = default;
        return rowId is >= 0 and <= RowIdBytes.Max
            && bound.Rows.TryGetBriefly(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), ref bound.Unpacked, out row);
    }

    /// <summary>Gets the row that an index names.</summary>
    /// <exception cref="CorruptionException">The row does not exist.</exception>
    public static ReadOnlySpan<byte> Get(BoundTable bound, long rowId)
    {
        if (!TryGet(bound, rowId, out var row))
            throw Missing(bound, rowId);
        return row;
    }

    /// <summary>Reports that a key or a value is not a row id.</summary>
    public static CorruptionException NoRowId(string table, ReadOnlySpan<byte> bytes) =>
        new($"An entry of table '{table}' has {bytes.Length} bytes where a row id is expected. Run Verify, or restore a backup.");

    /// <summary>Reports that an index names a row that does not exist.</summary>
    public static CorruptionException Missing(BoundTable bound, long rowId) => new(
        $"An index of table '{bound.Schema.Name}' in '{bound.Trees.DataFilePath}' names row {rowId}, which does not exist. Run " +
        $"{nameof(TableVerification.VerifyTable)}. To rebuild an index, raise its version and call {nameof(TableEvolution.EvolveAsync)}; for the " +
        $"primary key, call {nameof(TableEvolution.RebuildKeysAsync)}.");
}
