using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>A readable table: rows with a primary key and indexes.</summary>
/// <remarks>
/// A handle, valid until its transaction ends, for one thread at a time. In a write transaction, it sees the writes of the transaction. The functions
/// and the codec of the definition must not call the table.
/// </remarks>
/// <typeparam name="TKey">The type of the primary key.</typeparam>
/// <typeparam name="TRow">The type of a row.</typeparam>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct Table<TKey, TRow>
{
    private const int StackBytes = 256;

    private readonly KeyedRowFunctions<TKey, TRow>? _functions;
    private readonly Tree _rows;

    internal Table(KeyedRowFunctions<TKey, TRow> functions, Tree rows)
    {
        _functions = functions;
        _rows = rows;
    }

    /// <summary>The name of the table.</summary>
    public string Name => Functions.Name;

    /// <summary>The number of rows, available without reading the table. It includes expired rows that have not been deleted.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long Count => Bound.Rows.Count;

    internal KeyedRowFunctions<TKey, TRow> Functions
    {
        get
        {
            if (_functions == null)
                TableErrors.ThrowDefault();
            return _functions;
        }
    }

    internal BoundTable Bound
    {
        get
        {
            var bound = BoundAsIs;
            bound.Enter(_functions!);
            return bound;
        }
    }

    internal BoundTable BoundToWrite
    {
        get
        {
            var bound = BoundAsIs;
            bound.EnterToWrite(_functions!);
            return bound;
        }
    }

    private BoundTable BoundAsIs
    {
        get
        {
            if (_functions == null)
                TableErrors.ThrowDefault();
            return (BoundTable)_rows.LayerObject!;
        }
    }

    /// <summary>Gets the row with a key; false if it does not exist.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="row">The row.</param>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or the codec cannot read it.</exception>
    /// <exception cref="CorruptionException">A page is damaged, or the key index names a row that does not exist.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TRow row) => TryGet(key, out row, out _);

    /// <summary>Gets the row with a key, and its version; false if it does not exist.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="row">The row.</param>
    /// <param name="version">The version of the row; <see cref="RowVersion.None"/> if it does not exist.</param>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TRow row, out RowVersion version)
    {
        var bound = Bound;
        var found = RowLookup.TryFind(bound, _functions!, key, out var rowId, out var bytes);
        row = found ? Read(bound, bytes, rowId, out version) : Missing(out version);
        return found;
    }

    /// <summary>Returns true if a row with the key exists.</summary>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool Contains(TKey key)
    {
        var bound = Bound;
        return RowLookup.TryFindId(bound, _functions!, key, out var rowId) && !RowLookup.IsExpired(bound, rowId);
    }

    /// <summary>Gets the version of the row with a key, without reading its fields; false if it does not exist.</summary>
    /// <param name="key">The primary key.</param>
    /// <param name="version">The version of the row; <see cref="RowVersion.None"/> if it does not exist.</param>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool TryGetVersion(TKey key, out RowVersion version)
    {
        var bound = Bound;
        var found = RowLookup.TryFind(bound, _functions!, key, out var rowId, out var bytes);
        version = found ? _functions!.Open(bytes, rowId).RowVersion : RowVersion.None;
        return found;
    }

    /// <summary>
    /// Gets a reader for the fields of the row with a key, in the memory of its page; false if it does not exist. Its spans are valid until the
    /// transaction ends, or in a write transaction until its next write.
    /// </summary>
    /// <param name="key">The primary key.</param>
    /// <param name="row">Reads the fields, in the order in which the codec has written them.</param>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    [UnscopedRef]
    public bool TryGetReader(TKey key, out RowReader row)
    {
        var bound = Bound;
        var found = RowLookup.TryFindToKeep(bound, _functions!, key, out var rowId, out var bytes);
        row = found ? _functions!.Open(bytes, rowId) : default;
        return found;
    }

    /// <summary>Gets the row with an id that a query or an index has returned; false if it does not exist.</summary>
    /// <param name="rowId">The id.</param>
    /// <param name="row">The row.</param>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool TryGetByRowId(long rowId, [MaybeNullWhen(false)] out TRow row)
    {
        var bound = Bound;
        var found = RowLookup.TryGetUnexpired(bound, rowId, out var bytes);
        row = found ? Read(bound, bytes, rowId, out _) : default;
        return found;
    }

    /// <summary>Gets the row that has a key in a unique index; false if it does not exist.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The key: a text, a number, a time, a GUID, bytes, or a tuple of such values for several fields.</param>
    /// <param name="row">The row.</param>
    /// <exception cref="ArgumentException">The definition has no unique index of that name, or its keys have another type.</exception>
    /// <exception cref="ArgumentNullException">The key, or a field of it, is null.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <exception cref="IndexMismatchException">The index names a row that does not exist, because its function has changed.</exception>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool TryGetBy<TIndexKey>(string index, TIndexKey key, [MaybeNullWhen(false)] out TRow row)
    {
        CheckType<TIndexKey>(index, isWhole: true);
        var writer = new KeyWriter(stackalloc byte[StackBytes]);
        IndexField.Write(ref writer, key);
        return TryGetByRaw(index, CheckLength(writer.Written, index), out row);
    }

    /// <summary>Gets the row that has a key in a unique index, by the bytes of the key; false if it does not exist.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The bytes of the key, as <see cref="KeyWriter"/> writes its fields. The UTF-8 bytes of a text are not a key.</param>
    /// <param name="row">The row.</param>
    /// <exception cref="ArgumentException">The definition has no unique index of that name.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <exception cref="IndexMismatchException">The index names a row that does not exist, because its function has changed.</exception>
    /// <inheritdoc cref="TryGet(TKey, out TRow)"/>
    public bool TryGetByRaw(string index, ReadOnlySpan<byte> key, [MaybeNullWhen(false)] out TRow row)
    {
        var bound = Bound;
        var open = ReadyIndex(bound, index);
        if (!open.Schema!.IsUnique)
            throw new ArgumentException($"The index '{index}' of table '{Name}' is not unique: use {nameof(From)}.", nameof(index));
        row = default;
        if (!RowLookup.TryFindId(bound, open.Entries, key, out var rowId))
            return false;
        if (!RowLookup.TryGet(bound, rowId, out var bytes))
            throw IndexMismatchException.OfMissing(bound, index, rowId, key);
        if (bound.IsExpired(bytes))
            return false;
        row = Read(bound, bytes, rowId, out _);
        return true;
    }

    /// <summary>Returns a query for all rows in id order, which is insertion order unless rows are keyed by their ids.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowQuery<TRow> Scan()
    {
        var bound = Bound;
        return new RowQuery<TRow>(bound, _functions!, new EntrySource(bound.Rows, KeyRange.All, isOfRows: true), PageOrderKind.RowIds);
    }

    /// <summary>Returns a query for the rows whose ids are in a range, in id order.</summary>
    /// <param name="firstRowId">The lowest id.</param>
    /// <param name="lastRowId">The highest id.</param>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowQuery<TRow> Scan(long firstRowId, long lastRowId = long.MaxValue)
    {
        var bound = Bound;
        var range = KeyRange.From(RowIdBytes.Write(Math.Clamp(firstRowId, 0, RowIdBytes.Max), stackalloc byte[RowIdBytes.Bytes]))
            .Through(RowIdBytes.Write(Math.Clamp(lastRowId, 0, RowIdBytes.Max), stackalloc byte[RowIdBytes.Bytes]));
        var rows = new EntrySource(bound.Rows, firstRowId > RowIdBytes.Max || lastRowId < 0 ? default : range, isOfRows: true);
        return new RowQuery<TRow>(bound, _functions!, rows, PageOrderKind.RowIds);
    }

    /// <summary>Returns a query for all rows in primary key order.</summary>
    /// <inheritdoc cref="ByKeyRaw"/>
    public RowQuery<TRow> ByKey() => ByKeyRaw(KeyRange.All);

    /// <summary>Returns a query for the rows whose primary keys are in a range, in key order.</summary>
    /// <param name="keys">The keys. <see cref="IndexRange.Prefix"/> is for texts, and for keys of several fields with a text at the end.</param>
    /// <exception cref="KeyTooLongException">A bound is too long.</exception>
    /// <inheritdoc cref="ByKeyRaw"/>
    public RowQuery<TRow> ByKey(IndexRange<TKey> keys)
    {
        var bound = Bound;
        var functions = _functions!;
        return functions.KeyCodecName == null
            ? ByKeyRaw(default)
            : ByKeyRaw(keys.Encode((key, _) => RowLookup.WriteKey(bound, functions, key, default).ToArray(), isWhole: true));
    }

    /// <summary>Returns a query for the rows whose primary keys are in a range of bytes, in key order.</summary>
    /// <param name="keys">The keys, as the key codec writes them. They are copied.</param>
    /// <exception cref="InvalidOperationException">Rows are keyed by their ids: use <see cref="Scan(long, long)"/>.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowQuery<TRow> ByKeyRaw(KeyRange keys)
    {
        var bound = Bound;
        if (_functions!.KeyCodecName == null)
            throw new InvalidOperationException($"Table '{Name}' is keyed by row ids: use {nameof(Scan)} with the first and the last id.");
        return new RowQuery<TRow>(bound, _functions, new EntrySource(bound.IndexOf(0).Entries, keys, isOfRows: false), PageOrderKind.PrimaryKey);
    }

    /// <summary>Returns a query for all rows in an index, in key order.</summary>
    /// <inheritdoc cref="FromRaw"/>
    public RowQuery<TRow> From(string index) => FromRaw(index, KeyRange.All);

    /// <summary>
    /// Returns a query for the rows with a key in an index, in id order; if the index has more fields than the key, in the order of these fields.
    /// </summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The key, or its first fields: a text, a number, a time, a GUID, bytes, or a tuple of such values.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name, or its keys have another type.</exception>
    /// <exception cref="ArgumentNullException">The key, or a field of it, is null.</exception>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <inheritdoc cref="FromRaw"/>
    public RowQuery<TRow> From<TIndexKey>(string index, TIndexKey key) => From(index, IndexRange<TIndexKey>.All.From(key).Through(key));

    /// <summary>
    /// Returns a query for the rows whose keys in an index are in a range of values, in key order; rows with equal keys in id order. A row with
    /// several keys in the range is returned once for each.
    /// </summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The keys: <see cref="IndexRange"/> makes a range.</param>
    /// <inheritdoc cref="From{TIndexKey}(string, TIndexKey)"/>
    public RowQuery<TRow> From<TIndexKey>(string index, IndexRange<TIndexKey> keys) => FromRaw(index, Encode(index, keys));

    /// <summary>
    /// Returns a query for the rows whose keys in an index are in a range of bytes, in key order; rows with equal keys in id order. A row with
    /// several keys in the range is returned once for each.
    /// </summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="keys">The bytes of the keys, as <see cref="KeyWriter"/> writes their fields. They are copied.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowQuery<TRow> FromRaw(string index, KeyRange keys)
    {
        var bound = Bound;
        var open = ReadyIndex(bound, index);
        return new RowQuery<TRow>(bound, _functions!, IndexSpotCheck.OpenEntries(open, keys), PageOrderKind.Index, index);
    }

    /// <summary>
    /// Returns the ids of the rows with a key in a non-unique index, including expired rows. <see cref="IdQuery"/> combines such sets, and
    /// <see cref="Rows"/> reads the rows.
    /// </summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The whole key: a text, a number, a time, a GUID, bytes, or a tuple of such values.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name, it is unique, or its keys have another type.</exception>
    /// <exception cref="ArgumentNullException">The key, or a field of it, is null.</exception>
    /// <exception cref="KeyTooLongException">The key is too long.</exception>
    /// <inheritdoc cref="IdsRaw"/>
    public IdQuery Ids<TIndexKey>(string index, TIndexKey key)
    {
        CheckType<TIndexKey>(index, isWhole: true);
        return IdsRaw(index, CheckLength(IndexField.Encode(key, isPrefix: false), index));
    }

    /// <summary>Returns the ids of the rows with a key in a non-unique index, by the bytes of the key.</summary>
    /// <param name="index">The name of the index.</param>
    /// <param name="key">The bytes of the key, as <see cref="KeyWriter"/> writes its fields.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name, or it is unique.</exception>
    /// <exception cref="IndexNotReadyException">The index does not contain the keys of all rows.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IdQuery IdsRaw(string index, ReadOnlySpan<byte> key)
    {
        var open = ReadyIndex(Bound, index);
        if (open.Schema!.IsUnique)
            throw new ArgumentException($"The index '{index}' of table '{Name}' is unique: use {nameof(TryGetBy)}.", nameof(index));
        return open.Schema.Shared is { } place
            ? open.Ids.QueryPart(key, place.FirstId, place.LastId, SystemTree.IndexName(Bound.Schema.Id, open.Schema.Id, isUnique: false))
            : open.Ids.Query(key);
    }

    /// <summary>Returns a query for the rows of a combination of <see cref="Ids"/>, in id order.</summary>
    /// <param name="ids">The ids, of this table and transaction. The query takes ownership of them, and disposes them.</param>
    /// <exception cref="ArgumentNullException"><paramref name="ids"/> is null.</exception>
    /// <exception cref="ArgumentException">The ids belong to another table, or to another transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public RowQuery<TRow> Rows(IdQuery ids)
    {
        ArgumentNullException.ThrowIfNull(ids);
        var bound = Bound;
        if (!ids.IsOver(bound.Rows, SystemTree.IndexName(bound.Schema.Id, 0, isUnique: false).AsSpan(0, SystemTree.RowsNameBytes)))
            throw new ArgumentException($"The ids are not those of table '{Name}' in this transaction: {nameof(Ids)} returns them.", nameof(ids));
        return new RowQuery<TRow>(bound, _functions!, new CombinedSource(ids), PageOrderKind.RowIds);
    }

    /// <summary>Returns the state of an index of the definition in this snapshot.</summary>
    /// <param name="index">The name of the index.</param>
    /// <exception cref="ArgumentException">The definition has no index of that name.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IndexState GetIndexState(string index) => Bound.IndexOf(Functions.FindSlot(index)).State;

    /// <summary>Returns the name of the table.</summary>
    public override string ToString() => _functions == null ? "table (never opened)" : $"table '{_functions.Name}'";

    /// <summary>Returns a range of values as a range of bytes.</summary>
    /// <inheritdoc cref="From{TIndexKey}(string, TIndexKey)"/>
    internal KeyRange Encode<TIndexKey>(string index, IndexRange<TIndexKey> keys)
    {
        CheckType<TIndexKey>(index, isWhole: false);
        var table = this;
        return keys.Encode((value, isPrefix) => table.CheckLength(IndexField.Encode(value, isPrefix), index).ToArray(), isWhole: false);
    }

    private void CheckType<TIndexKey>(string index, bool isWhole)
    {
        var known = Functions.Slots[Functions.FindSlot(index)].KeyType;
        if (!IndexField.Fits(known, typeof(TIndexKey)) || (isWhole && !IndexField.Fits(typeof(TIndexKey), known ?? typeof(TIndexKey))))
        {
            throw new ArgumentException(
                $"The index '{index}' of table '{Name}' has keys of the type ({IndexField.Describe(known!)}), but the call uses " +
                $"({IndexField.Describe(typeof(TIndexKey))}).",
                nameof(index));
        }
    }

    private ReadOnlySpan<byte> CheckLength(ReadOnlySpan<byte> key, string index)
    {
        var longest = Bound.Trees.MaxKeyLength;
        return key.Length <= longest ? key : throw new KeyTooLongException(Name, index, longest);
    }

    private OpenIndex ReadyIndex(BoundTable bound, string index)
    {
        var open = bound.IndexOf(_functions!.FindSlot(index));
        if (open.State != IndexState.Ready)
            throw new IndexNotReadyException(Name, index, open.State);
        return open;
    }

    private TRow Read(BoundTable bound, ReadOnlySpan<byte> bytes, long rowId, out RowVersion version)
    {
        bound.BeginCallback();
        try
        {
            var row = _functions!.Read(bytes, rowId);
            version = RowLayout.Version(bytes);
            return row;
        }
        finally
        {
            bound.EndCallback();
        }
    }

    private static TRow? Missing(out RowVersion version)
    {
        version = RowVersion.None;
        return default;
    }
}
