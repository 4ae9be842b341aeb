namespace Voron.Tables;

/// <summary>The functions of a definition that depend on the row type: the row codec and the index functions.</summary>
internal abstract class RowFunctions<TRow> : TableFunctions
{
    private readonly IRowCodec<TRow> _codec;
    private readonly IndexFunction<TRow>?[] _functions;

    /// <param name="name">The name of the table.</param>
    /// <param name="version">The version of the definition.</param>
    /// <param name="codec">The row codec.</param>
    /// <param name="keyCodec">The name of the key codec; null if rows are keyed by their ids.</param>
    /// <param name="slots">The indexes.</param>
    /// <param name="functions">Their functions; null for the primary key.</param>
    protected RowFunctions(
        string name, int version, IRowCodec<TRow> codec, string? keyCodec, IReadOnlyList<IndexDefinition> slots, IndexFunction<TRow>?[] functions)
        : base(name, version, keyCodec, slots)
    {
        _codec = codec;
        _functions = functions;
    }

    protected IRowCodec<TRow> Codec => _codec;

    /// <summary>Reads a row.</summary>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or the codec cannot read it.</exception>
    public TRow Read(ReadOnlySpan<byte> row, long rowId)
    {
        var reader = Open(row, rowId);
        try
        {
            return _codec.Read(ref reader);
        }
        catch (Exception cause) when (cause is not (TableException or OutOfMemoryException))
        {
            throw RowFormatException.OnRead(Name, rowId, $"the codec failed. {cause.Message}", cause);
        }
    }

    /// <summary>Begins to read a row.</summary>
    /// <exception cref="RowFormatException">The row was written with a newer version of the definition, or is damaged.</exception>
    public RowReader Open(ReadOnlySpan<byte> row, long rowId)
    {
        var reader = new RowReader(row, Name, rowId);
        if (reader.Version > Version)
        {
            throw RowFormatException.OnRead(
                Name, rowId, $"it was written with version {reader.Version} of the definition, and this program has version {Version}: use the newer program");
        }

        return reader;
    }

    /// <summary>Writes the fields of a row into a buffer.</summary>
    /// <exception cref="RowFormatException">The codec cannot write the row.</exception>
    public void Write(in TRow row, RowBuffer buffer)
    {
        try
        {
            buffer.Begin(Version);
            var writer = new RowWriter(buffer);
            _codec.Write(row, ref writer);
        }
        catch (Exception cause) when (cause is not (TableException or OutOfMemoryException))
        {
            throw RowFormatException.OnWrite(Name, cause);
        }
    }

    /// <inheritdoc/>
    public override long ReadKeys(ReadOnlySpan<byte> row, long rowId, RowIndexKeys keys) =>
        ComputeKeys(Read(row, rowId), rowId, keys, RowLayout.TryGetExpiry(row, out var expiry) ? expiry : null);

    /// <inheritdoc/>
    public override long? ReadExpiry(ReadOnlySpan<byte> row, long rowId) => ComputeExpiry(Read(row, rowId), rowId);

    /// <summary>Computes the time from which a row is expired, in milliseconds since 1970; null for never.</summary>
    /// <param name="row">The row.</param>
    /// <param name="rowId">Its id, for messages; null for an insert.</param>
    /// <exception cref="IndexKeyException">The function failed.</exception>
    public long? ComputeExpiry(in TRow row, long? rowId)
    {
        try
        {
            return TimeOf(row) is { } time ? RowExpiry.Of(time) : null;
        }
        catch (Exception cause) when (cause is not OutOfMemoryException)
        {
            throw new IndexKeyException(Name, RowExpiry.IndexName, rowId, cause);
        }
    }

    /// <summary>Computes the keys of a row in the wanted indexes.</summary>
    /// <param name="row">The row.</param>
    /// <param name="rowId">Its id, for messages; null for an insert.</param>
    /// <param name="keys">Receives the keys.</param>
    /// <param name="expiry">The expiry time in the row header, whose second is the key in the expiry index.</param>
    /// <returns>The key of the row if that is its id; otherwise -1.</returns>
    /// <exception cref="IndexKeyException">The function of an index failed.</exception>
    /// <exception cref="KeyTooLongException">A key is too long.</exception>
    public long ComputeKeys(in TRow row, long? rowId, RowIndexKeys keys, long? expiry)
    {
        for (var slot = 0; slot < _functions.Length; slot++)
        {
            var list = keys[slot];
            list.Clear();
            if (!keys.IsWanted(slot))
                continue;
            if (slot == ExpirySlot)
            {
                AddExpiry(list, expiry);
                continue;
            }

            var collected = new IndexKeys(list);
            try
            {
                if (_functions[slot] is { } function)
                    function(row, ref collected);
                else
                    ComputePrimaryKey(row, ref collected);
                collected.Finish();
                if (list.HasEmptyKey || (_functions[slot] == null && list.Count == 0))
                    throw new InvalidOperationException("A key is empty: it was begun, and nothing was added to it.");
            }
            catch (InvalidOperationException) when (collected.IsKeyTooLong)
            {
                throw new KeyTooLongException(Name, Slots[slot].Name, list.MaxKeyLength, rowId);
            }
            catch (Exception cause) when (cause is not OutOfMemoryException)
            {
                throw new IndexKeyException(Name, Slots[slot].Name, rowId, cause);
            }

            list.SortDistinct();
        }

        return KeyCodecName == null ? CheckedRowId(row, rowId) : -1;
    }

    /// <summary>Returns the time from which a row is expired; null for never.</summary>
    protected abstract DateTimeOffset? TimeOf(in TRow row);

    /// <summary>Returns the key of a row, which is its id.</summary>
    protected abstract long RowIdOf(in TRow row);

    /// <summary>Adds the key of a row.</summary>
    protected abstract void ComputePrimaryKey(in TRow row, ref IndexKeys keys);

    private static void AddExpiry(IndexKeyList list, long? expiry)
    {
        if (expiry is { } time)
            list.End(RowExpiry.WriteKey(time, list.Begin()).Length, hasNull: false);
    }

    private long CheckedRowId(in TRow row, long? rowId)
    {
        try
        {
            var key = RowIdOf(row);
            ArgumentOutOfRangeException.ThrowIfNegative(key);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(key, RowIdBytes.Max);
            return key;
        }
        catch (Exception cause) when (cause is not OutOfMemoryException)
        {
            throw new IndexKeyException(Name, "", rowId, cause);
        }
    }
}
