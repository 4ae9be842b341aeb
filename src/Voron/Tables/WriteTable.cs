using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Tables;

/// <summary>A writable table: rows with a primary key, and indexes that each write keeps up to date.</summary>
/// <remarks>
/// A handle, valid until its transaction ends, for one thread at a time. A refused call (a duplicate key, a stale version, a function that throws)
/// writes no part of its row, and the transaction continues. Writes are refused, while reads are not, if the table has another version or an index
/// that the definition does not have: see <see cref="TableEvolution.EvolveAsync"/>.
/// </remarks>
/// <typeparam name="TKey">The type of the primary key.</typeparam>
/// <typeparam name="TRow">The type of a row.</typeparam>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct WriteTable<TKey, TRow>
{
    private readonly Table<TKey, TRow> _table;

    internal WriteTable(Table<TKey, TRow> table) => _table = table;

    /// <inheritdoc cref="Table{TKey, TRow}.Name"/>
    public string Name => _table.Name;

    /// <inheritdoc cref="Table{TKey, TRow}.Count"/>
    public long Count => _table.Count;

    /// <summary>Returns the same table, for code that only reads.</summary>
    public Table<TKey, TRow> AsReadOnly() => _table;

    /// <summary>Converts to the same table, for code that only reads.</summary>
    public static implicit operator Table<TKey, TRow>(WriteTable<TKey, TRow> table) => table._table;

    /// <inheritdoc cref="AsReadOnly"/>
    public Table<TKey, TRow> ToTable() => _table;

    /// <inheritdoc cref="Table{TKey, TRow}.TryGet(TKey, out TRow)"/>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TRow row) => _table.TryGet(key, out row);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGet(TKey, out TRow, out RowVersion)"/>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TRow row, out RowVersion version) => _table.TryGet(key, out row, out version);

    /// <inheritdoc cref="Table{TKey, TRow}.Contains"/>
    public bool Contains(TKey key) => _table.Contains(key);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGetVersion"/>
    public bool TryGetVersion(TKey key, out RowVersion version) => _table.TryGetVersion(key, out version);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGetReader"/>
    [UnscopedRef]
    public bool TryGetReader(TKey key, out RowReader row) => _table.TryGetReader(key, out row);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGetByRowId"/>
    public bool TryGetByRowId(long rowId, [MaybeNullWhen(false)] out TRow row) => _table.TryGetByRowId(rowId, out row);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGetBy"/>
    public bool TryGetBy<TIndexKey>(string index, TIndexKey key, [MaybeNullWhen(false)] out TRow row) => _table.TryGetBy(index, key, out row);

    /// <inheritdoc cref="Table{TKey, TRow}.TryGetByRaw"/>
    public bool TryGetByRaw(string index, ReadOnlySpan<byte> key, [MaybeNullWhen(false)] out TRow row) => _table.TryGetByRaw(index, key, out row);

    /// <inheritdoc cref="Table{TKey, TRow}.Scan()"/>
    public RowQuery<TRow> Scan() => _table.Scan();

    /// <inheritdoc cref="Table{TKey, TRow}.Scan(long, long)"/>
    public RowQuery<TRow> Scan(long firstRowId, long lastRowId = long.MaxValue) => _table.Scan(firstRowId, lastRowId);

    /// <inheritdoc cref="Table{TKey, TRow}.ByKey()"/>
    public RowQuery<TRow> ByKey() => _table.ByKey();

    /// <inheritdoc cref="Table{TKey, TRow}.ByKey(IndexRange{TKey})"/>
    public RowQuery<TRow> ByKey(IndexRange<TKey> keys) => _table.ByKey(keys);

    /// <inheritdoc cref="Table{TKey, TRow}.ByKeyRaw"/>
    public RowQuery<TRow> ByKeyRaw(KeyRange keys) => _table.ByKeyRaw(keys);

    /// <inheritdoc cref="Table{TKey, TRow}.From(string)"/>
    public RowQuery<TRow> From(string index) => _table.From(index);

    /// <inheritdoc cref="Table{TKey, TRow}.From{TIndexKey}(string, TIndexKey)"/>
    public RowQuery<TRow> From<TIndexKey>(string index, TIndexKey key) => _table.From(index, key);

    /// <inheritdoc cref="Table{TKey, TRow}.From{TIndexKey}(string, IndexRange{TIndexKey})"/>
    public RowQuery<TRow> From<TIndexKey>(string index, IndexRange<TIndexKey> keys) => _table.From(index, keys);

    /// <inheritdoc cref="Table{TKey, TRow}.FromRaw"/>
    public RowQuery<TRow> FromRaw(string index, KeyRange keys) => _table.FromRaw(index, keys);

    /// <inheritdoc cref="Table{TKey, TRow}.Ids"/>
    public IdQuery Ids<TIndexKey>(string index, TIndexKey key) => _table.Ids(index, key);

    /// <inheritdoc cref="Table{TKey, TRow}.IdsRaw"/>
    public IdQuery IdsRaw(string index, ReadOnlySpan<byte> key) => _table.IdsRaw(index, key);

    /// <inheritdoc cref="Table{TKey, TRow}.Rows"/>
    public RowQuery<TRow> Rows(IdQuery ids) => _table.Rows(ids);

    /// <inheritdoc cref="Table{TKey, TRow}.GetIndexState"/>
    public IndexState GetIndexState(string index) => _table.GetIndexState(index);

    /// <summary>Inserts a row.</summary>
    /// <param name="row">The row.</param>
    /// <returns>The version of the row.</returns>
    /// <exception cref="DuplicateKeyException">Another row has the primary key, or a key of a unique index.</exception>
    /// <exception cref="IndexKeyException">The function of an index threw, or returned an empty key.</exception>
    /// <exception cref="KeyTooLongException">A key is too long.</exception>
    /// <exception cref="RowFormatException">The codec cannot write the row.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowVersion Insert(in TRow row)
    {
        var bound = Prepare(row);
        var rowId = bound.GivenRowId;
        if (rowId >= 0 && RowLookup.Contains(bound, rowId))
            throw new DuplicateKeyException(Name, "", RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]), null, rowId);
        return RowEditor.Insert(bound, rowId);
    }

    /// <summary>Inserts a row; false, with nothing written, if a row has its primary key.</summary>
    internal bool TryInsert(in TRow row)
    {
        var bound = Prepare(row);
        if (TryFind(bound, out _, out _))
            return false;
        RowEditor.Insert(bound, bound.GivenRowId);
        return true;
    }

    /// <summary>
    /// Inserts rows. If one of them is refused, none is inserted, and the transaction is unchanged; the exception names the key of the row.
    /// </summary>
    /// <param name="rows">The rows.</param>
    /// <inheritdoc cref="Insert"/>
    public void InsertMany(ReadOnlySpan<TRow> rows)
    {
        var undo = _table.BoundToWrite.Trees.Writing.CreateSavepoint();
        try
        {
            foreach (ref readonly var row in rows)
                Insert(row);
        }
        catch when (!PlantedFault.KeepRowOfViolation)
        {
            undo.Rollback();
            undo.Release();
            throw;
        }

        undo.Release();
    }

    /// <summary>Inserts a row, or replaces the row with the same primary key.</summary>
    /// <param name="row">The row.</param>
    /// <returns>The version of the row, which stays the same if nothing changes.</returns>
    /// <inheritdoc cref="Insert"/>
    public RowVersion Upsert(in TRow row)
    {
        var bound = Prepare(row);
        return TryFind(bound, out var rowId, out var old) ? RowEditor.Update(bound, rowId, old) : RowEditor.Insert(bound, bound.GivenRowId);
    }

    /// <summary>Inserts or replaces a row if the row with the same primary key still has the version that the caller has read.</summary>
    /// <param name="row">The row.</param>
    /// <param name="expected">The version that the caller has read; <see cref="RowVersion.None"/> if there must be no row.</param>
    /// <returns>The version of the row, which stays the same if nothing changes.</returns>
    /// <exception cref="ConcurrencyException">The row has another version, does not exist, or exists although none was expected.</exception>
    /// <inheritdoc cref="Insert"/>
    public RowVersion Upsert(in TRow row, RowVersion expected)
    {
        var bound = Prepare(row);
        var found = TryFind(bound, out var rowId, out var old);
        var actual = found ? RowLayout.Version(old) : RowVersion.None;
        if (actual != expected)
        {
            var key = _table.Functions.KeyCodecName == null
                ? RowIdBytes.Write(bound.GivenRowId, stackalloc byte[RowIdBytes.Bytes])
                : bound.NewKeys[0][0];
            throw new ConcurrencyException(Name, key, found ? rowId : null, expected, actual);
        }

        return found ? RowEditor.Update(bound, rowId, old) : RowEditor.Insert(bound, bound.GivenRowId);
    }

    /// <summary>Replaces the row with the same primary key; false, with nothing written, if it does not exist.</summary>
    /// <param name="row">The row.</param>
    /// <param name="version">The version of the row; <see cref="RowVersion.None"/> if it does not exist.</param>
    /// <inheritdoc cref="Insert"/>
    public bool TryUpdate(in TRow row, out RowVersion version)
    {
        var bound = Prepare(row);
        var found = TryFind(bound, out var rowId, out var old);
        version = found ? RowEditor.Update(bound, rowId, old) : RowVersion.None;
        return found;
    }

    /// <summary>
    /// Changes the row with a key; false, with nothing written, if it does not exist. Reads the row once, so this is the fastest way.
    /// </summary>
    /// <param name="key">The primary key.</param>
    /// <param name="state">Passed to the function, so that it need not capture anything.</param>
    /// <param name="change">
    /// Returns the changed row, with the same primary key. It may modify the row that it receives. It must not call the table.
    /// </param>
    /// <param name="version">
    /// The version of the row, which stays the same if nothing changes; <see cref="RowVersion.None"/> if it does not exist.
    /// </param>
    /// <exception cref="ArgumentException">The function returned a row with another primary key.</exception>
    /// <inheritdoc cref="Insert"/>
    public bool TryUpdate<TState>(TKey key, TState state, Func<TRow, TState, TRow> change, out RowVersion version)
    {
        ArgumentNullException.ThrowIfNull(change);
        var bound = _table.BoundToWrite;
        version = RowVersion.None;
        if (!RowLookup.TryFind(bound, _table.Functions, key, out var rowId, out var bytes))
            return false;
        version = Update(bound, rowId, bytes, state, change);
        return true;
    }

    /// <summary>Deletes the row with a key; false if it does not exist.</summary>
    /// <param name="key">The primary key.</param>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <exception cref="IndexKeyException">The function of an index threw for the row, so its keys could not be removed.</exception>
    /// <exception cref="RowFormatException">The codec cannot read the row.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool Delete(TKey key)
    {
        var bound = _table.BoundToWrite;
        if (!RowLookup.TryFind(bound, _table.Functions, key, out var rowId, out var row))
            return false;
        RowEditor.Delete(bound, rowId, bound.Copy(row));
        return true;
    }

    /// <summary>Deletes the row with a key if it still has the version that the caller has read.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="expected">The version that the caller has read; <see cref="RowVersion.None"/> if there must be no row.</param>
    /// <exception cref="ConcurrencyException">The row has another version, does not exist, or exists although none was expected.</exception>
    /// <inheritdoc cref="Delete(TKey)"/>
    public bool Delete(TKey key, RowVersion expected)
    {
        var bound = _table.BoundToWrite;
        var found = RowLookup.TryFind(bound, _table.Functions, key, out var rowId, out var row);
        var actual = found ? _table.Functions.Open(row, rowId).RowVersion : RowVersion.None;
        if (actual != expected)
        {
            var bytes = RowLookup.WriteKey(bound, _table.Functions, key, stackalloc byte[RowIdBytes.Bytes]);
            throw new ConcurrencyException(Name, bytes, found ? rowId : null, expected, actual);
        }

        if (found)
            RowEditor.Delete(bound, rowId, bound.Copy(row));
        return found;
    }

    /// <inheritdoc cref="Table{TKey, TRow}.ToString"/>
    public override string ToString() => _table.ToString();

    private BoundTable Prepare(in TRow row)
    {
        var bound = _table.BoundToWrite;
        var functions = _table.Functions;
        bound.BeginCallback();
        try
        {
            functions.Write(row, bound.Buffer);
            bound.Buffer.Expiry = bound.WritesExpiry ? functions.ComputeExpiry(row, null) : null;
            bound.WantNewKeys();
            bound.GivenRowId = functions.ComputeKeys(row, null, bound.NewKeys, bound.Buffer.Expiry);
        }
        finally
        {
            bound.EndCallback();
        }

        // The functions may have ended the transaction, or rolled it back to a savepoint.
        bound = _table.BoundToWrite;
        RowEditor.DeleteExpired(bound, bound.NewKeys, bound.GivenRowId);
        return bound;
    }

    private RowVersion Update<TState>(BoundTable bound, long rowId, ReadOnlySpan<byte> row, TState state, Func<TRow, TState, TRow> change)
    {
        var old = bound.Copy(row);
        if (!Change(bound, rowId, old, state, change))
        {
            throw new ArgumentException(
                $"The function returned a row with another primary key. Row {rowId} of table '{Name}' was not changed.", nameof(change));
        }

        bound.RequireUnchanged();
        var deletesOthers = RowEditor.DeleteExpired(bound, bound.NewKeys, givenId: -1);
        if (deletesOthers)
            old = bound.Copy(RowLookup.Get(bound, rowId));
        return RowEditor.Update(bound, rowId, old, hasOldKeys: !deletesOthers);
    }

    // Returns false if the function has changed the primary key.
    private bool Change<TState>(BoundTable bound, long rowId, ReadOnlySpan<byte> old, TState state, Func<TRow, TState, TRow> change)
    {
        var functions = _table.Functions;
        bound.BeginCallback();
        try
        {
            // Computes the old keys first, because the function may modify the row.
            var row = functions.Read(old, rowId);
            bound.WantOldKeys(rowId);
            bound.WantNewKeys();
            functions.ComputeKeys(row, rowId, bound.OldKeys, RowLayout.TryGetExpiry(old, out var expiry) ? expiry : null);
            var changed = change(row, state);
            functions.Write(changed, bound.Buffer);
            bound.Buffer.Expiry = bound.WritesExpiry ? functions.ComputeExpiry(changed, rowId) : null;
            var key = functions.ComputeKeys(changed, rowId, bound.NewKeys, bound.Buffer.Expiry);
            return functions.KeyCodecName == null ? key == rowId : bound.NewKeys[0][0].SequenceEqual(bound.OldKeys[0][0]);
        }
        finally
        {
            bound.EndCallback();
        }
    }

    private bool TryFind(BoundTable bound, out long rowId, out ReadOnlySpan<byte> old)
    {
        old = default;
        ReadOnlySpan<byte> bytes;
        if (_table.Functions.KeyCodecName == null)
        {
            rowId = bound.GivenRowId;
            if (!RowLookup.TryGet(bound, rowId, out bytes))
                return false;
        }
        else
        {
            if (!RowLookup.TryFindId(bound, bound.IndexOf(0).Entries, bound.NewKeys[0][0], out rowId))
                return false;
            bytes = RowLookup.Get(bound, rowId);
        }

        _ = _table.Functions.Open(bytes, rowId);
        old = bound.Copy(bytes);
        return true;
    }
}
