namespace Voron.Tables;

/// <summary>Creates table definitions.</summary>
/// <example>
/// <code>
/// static readonly TableDefinition&lt;string, Package&gt; Packages = TableDefinition
///     .Create("packages", version: 1, RowCodec.Json(PackageContext.Default.Package), KeyCodec.Utf8, static package => package.Name)
///     .Index("section", 1, static package => package.Section);
/// </code>
/// </example>
public static class TableDefinition
{
    /// <summary>Creates a definition of a table whose rows have keys of any type.</summary>
    /// <param name="name">The name of the table: 1 to 200 bytes in UTF-8. A tree may have the same name.</param>
    /// <param name="version">The version of the definition: 1 to 65,535.</param>
    /// <param name="rows">Converts rows to bytes and back.</param>
    /// <param name="keys">Converts keys to bytes. The kind of keys of a table cannot change.</param>
    /// <param name="key">Returns the key of a row. It must depend on the row alone.</param>
    /// <exception cref="ArgumentException">The name is empty or too long.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The version is not 1 to 65,535.</exception>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static TableDefinition<TKey, TRow> Create<TKey, TRow>(
        string name, int version, IRowCodec<TRow> rows, IKeyCodec<TKey> keys, Func<TRow, TKey> key)
    {
        Check(version, rows);
        ArgumentNullException.ThrowIfNull(keys);
        ArgumentNullException.ThrowIfNull(key);
        SchemaKeys.CheckName(keys.Name, "a codec of keys");
        return new TableDefinition<TKey, TRow>(
            new KeyedRowFunctions<TKey, TRow>(name, version, rows, (keys, key), [new IndexDefinition("", 0, IsUnique: true)], [null]));
    }

    /// <summary>
    /// Creates a definition of a table whose rows are keyed by a number, the row id. It needs no key index, so it is smaller and faster.
    /// </summary>
    /// <param name="name">The name of the table: 1 to 200 bytes in UTF-8. A tree may have the same name.</param>
    /// <param name="version">The version of the definition: 1 to 65,535.</param>
    /// <param name="rows">Converts rows to bytes and back.</param>
    /// <param name="key">Returns the number of a row: 0 to 2^48 - 1. New rows are inserted fastest if their numbers rise.</param>
    /// <inheritdoc cref="Create"/>
    public static TableDefinition<long, TRow> CreateWithRowIds<TRow>(string name, int version, IRowCodec<TRow> rows, Func<TRow, long> key)
    {
        Check(version, rows);
        ArgumentNullException.ThrowIfNull(key);
        return new TableDefinition<long, TRow>(new KeyedRowFunctions<long, TRow>(name, version, rows, (null, key), [], []));
    }

    private static void Check<TRow>(int version, IRowCodec<TRow> rows)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(version, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(version, ushort.MaxValue);
        ArgumentNullException.ThrowIfNull(rows);
    }
}
