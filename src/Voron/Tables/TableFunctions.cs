namespace Voron.Tables;

/// <summary>
/// The part of a table definition that does not depend on its key and row types: name, version, indexes, and how they match stored schemas.
/// </summary>
internal abstract class TableFunctions
{
    private const int MaxBindings = 8;

    private TableBinding[] _bindings = [];

    protected TableFunctions(string name, int version, string? keyCodec, IReadOnlyList<IndexDefinition> slots)
    {
        Name = name;
        Version = version;
        KeyCodecName = keyCodec;
        Slots = slots;
        SchemaKey = SchemaKeys.Table(name);
        ExpirySlot = -1;
        for (var slot = 0; slot < slots.Count; slot++)
        {
            if (slots[slot].IsExpiry)
                ExpirySlot = slot;
        }
    }

    public string Name { get; }

    public int Version { get; }

    /// <summary>The name of the key codec; null if rows are keyed by their ids.</summary>
    public string? KeyCodecName { get; }

    /// <summary>The indexes. The first one is the primary key, unless rows are keyed by their ids.</summary>
    public IReadOnlyList<IndexDefinition> Slots { get; }

    /// <summary>The place of the expiry index; -1 if the definition has none.</summary>
    public int ExpirySlot { get; }

    /// <summary>How rows are compressed; null if the definition does not specify it.</summary>
    public ValueCompression? Compression { get; init; }

    /// <summary>The key of the schema in the schema tree.</summary>
    public byte[] SchemaKey { get; }

    /// <summary>Reads a row, and computes its keys in the wanted indexes.</summary>
    /// <returns>The key of the row if that is its id; otherwise -1.</returns>
    /// <exception cref="RowFormatException">The codec cannot read the row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed.</exception>
    public abstract long ReadKeys(ReadOnlySpan<byte> row, long rowId, RowIndexKeys keys);

    /// <summary>Reads a row, and computes the time from which it is expired, in milliseconds since 1970; null for never.</summary>
    /// <exception cref="RowFormatException">The codec cannot read the row.</exception>
    /// <exception cref="IndexKeyException">The function failed.</exception>
    public abstract long? ReadExpiry(ReadOnlySpan<byte> row, long rowId);

    /// <summary>Returns the place of an index among those of the definition.</summary>
    /// <exception cref="ArgumentException">The definition has no such index.</exception>
    public int FindSlot(string index)
    {
        ArgumentNullException.ThrowIfNull(index);
        for (var slot = 0; slot < Slots.Count; slot++)
        {
            if (Slots[slot].Name == index && index.Length > 0)
                return slot;
        }

        throw new ArgumentException($"The definition of table '{Name}' has no index '{index}'.", nameof(index));
    }

    /// <summary>Compares the definition with a schema. Caches the results for a few schemas, because most transactions read the same ones.</summary>
    /// <param name="bytes">The bytes of the schema.</param>
    /// <param name="path">The path of the data file, for messages.</param>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="CorruptionException">The bytes are not a schema.</exception>
    public TableBinding Bind(ReadOnlySpan<byte> bytes, string path)
    {
        var known = Volatile.Read(ref _bindings);
        foreach (var binding in known)
        {
            if (binding.IsOf(bytes))
                return binding;
        }

        var schema = TableSchema.Parse(Name, bytes, path);
        if (schema.HasRowIdKeys != (KeyCodecName == null) || (KeyCodecName != null && schema.KeyCodecName != KeyCodecName))
        {
            var stored = schema.HasRowIdKeys ? "row ids" : $"'{schema.KeyCodecName}'";
            throw new SchemaMismatchException(
                Name,
                $"The table '{Name}' in '{path}' has keys of the kind {stored}, and the definition of this program has keys of the kind " +
                $"{(KeyCodecName == null ? "row ids" : $"'{KeyCodecName}'")}. The keys of a table cannot change: copy the rows into another table.");
        }

        var made = new TableBinding(schema, bytes.ToArray(), Slots, Version);

        // If two threads add a binding concurrently, one binding may be lost, and its schema is read again.
        Volatile.Write(ref _bindings, [made, .. known.Take(MaxBindings - 1)]);
        return made;
    }
}
