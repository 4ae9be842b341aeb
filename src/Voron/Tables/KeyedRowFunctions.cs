namespace Voron.Tables;

/// <summary>The functions of a table definition, its key function included.</summary>
internal sealed class KeyedRowFunctions<TKey, TRow> : RowFunctions<TRow>
{
    private readonly Func<TRow, TKey> _keyOf;
    private readonly IKeyCodec<TKey>? _keyCodec;

    /// <param name="name">The name of the table.</param>
    /// <param name="version">The version of the definition.</param>
    /// <param name="codec">The row codec.</param>
    /// <param name="keys">The key codec, null if rows are keyed by their ids; and the function that returns the key of a row.</param>
    /// <param name="slots">The indexes.</param>
    /// <param name="functions">Their functions; null for the primary key.</param>
    public KeyedRowFunctions(
        string name, int version, IRowCodec<TRow> codec, (IKeyCodec<TKey>? Codec, Func<TRow, TKey> Of) keys, IReadOnlyList<IndexDefinition> slots,
        IndexFunction<TRow>?[] functions)
        : base(name, version, codec, keys.Codec?.Name, slots, functions)
    {
        _keyCodec = keys.Codec;
        _keyOf = keys.Of;
        Functions = functions;
    }

    private IndexFunction<TRow>?[] Functions { get; }

    private Func<TRow, DateTimeOffset?>? Time { get; init; }

    /// <summary>Returns the same functions with another index.</summary>
    public KeyedRowFunctions<TKey, TRow> With(IndexDefinition index, IndexFunction<TRow> function) =>
        new(Name, Version, Codec, (_keyCodec, _keyOf), [.. Slots, index], [.. Functions, function]) { Compression = Compression, Time = Time };

    /// <summary>Returns the same functions with compressed rows.</summary>
    public KeyedRowFunctions<TKey, TRow> With(ValueCompression compression) =>
        new(Name, Version, Codec, (_keyCodec, _keyOf), Slots, Functions) { Compression = compression, Time = Time };

    /// <summary>Returns the same functions with an expiry function.</summary>
    public KeyedRowFunctions<TKey, TRow> With(int version, Func<TRow, DateTimeOffset?> time)
    {
        var index = new IndexDefinition(RowExpiry.IndexName, version, IsUnique: false) { IsExpiry = true };
        return new(Name, Version, Codec, (_keyCodec, _keyOf), [.. Slots, index], [.. Functions, null]) { Compression = Compression, Time = time };
    }

    /// <summary>Writes a key as the key index stores it.</summary>
    /// <exception cref="KeyTooLongException">The key is longer than the buffer.</exception>
    public ReadOnlySpan<byte> WriteKey(TKey key, Span<byte> buffer)
    {
        var writer = new KeyWriter(buffer, isFixed: true);
        try
        {
            _keyCodec!.Write(key, ref writer);
        }
        catch (InvalidOperationException) when (writer.IsFull)
        {
            throw new KeyTooLongException(Name, "", buffer.Length);
        }

        return writer.Written;
    }

    /// <inheritdoc/>
    protected override DateTimeOffset? TimeOf(in TRow row) => Time!(row);

    /// <inheritdoc/>
    protected override long RowIdOf(in TRow row) => RowIdBytes.Of(_keyOf(row));

    /// <inheritdoc/>
    protected override void ComputePrimaryKey(in TRow row, ref IndexKeys keys) => _keyCodec!.Write(_keyOf(row), ref keys.Begin());
}
