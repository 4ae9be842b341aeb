using System.Diagnostics;

namespace Voron.Tables;

/// <summary>
/// The definition of a table: its name and version, its row codec, the key of a row, and its indexes. <see cref="TableDefinition"/> creates one.
/// </summary>
/// <remarks>
/// Immutable: each call that adds an index returns another definition. Keep one in a static field, and use it for all environments and threads.
/// </remarks>
/// <typeparam name="TKey">The type of the primary key.</typeparam>
/// <typeparam name="TRow">The type of a row.</typeparam>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class TableDefinition<TKey, TRow>
{
    internal TableDefinition(KeyedRowFunctions<TKey, TRow> functions) => Functions = functions;

    /// <summary>The name of the table.</summary>
    public string Name => Functions.Name;

    /// <summary>The version of the definition: 1 to 65,535. A program that changes fields or indexes raises it.</summary>
    public int Version => Functions.Version;

    /// <summary>The names of the indexes, without the primary key.</summary>
    public IReadOnlyList<string> IndexNames => [.. Functions.Slots.Select(slot => slot.Name).Where(name => name.Length > 0)];

    internal KeyedRowFunctions<TKey, TRow> Functions { get; }

    /// <summary>Returns the definition with another index, in which several rows may have the same key.</summary>
    /// <param name="name">The name of the index.</param>
    /// <param name="version">
    /// The version of the function. Raise it when the function returns other keys than before: the index is then rebuilt.
    /// </param>
    /// <param name="keys">
    /// Adds the keys of a row: none to leave the row out of the index, several to enter it several times. It must depend on the row alone, and return
    /// the same keys each time; a key that is added twice counts once. It must not use the table.
    /// </param>
    /// <exception cref="ArgumentException">The name is empty, too long, or taken.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The version is negative.</exception>
    /// <exception cref="ArgumentNullException">The function is null.</exception>
    public TableDefinition<TKey, TRow> Index(string name, int version, IndexFunction<TRow> keys) => With(name, version, isUnique: false, keys);

    /// <summary>Returns the definition with another index, in which several rows may have the same key.</summary>
    /// <param name="name">The name of the index.</param>
    /// <param name="version">The version of the function. Raise it when the function returns other keys than before.</param>
    /// <param name="key">
    /// Returns the key of a row: a text, a number, a time, a GUID, bytes, or a tuple of such values; null for a row that is not in the index. It must
    /// depend on the row alone, and return the same key each time. It must not use the table.
    /// </param>
    /// <typeparam name="TIndexKey">The type of the keys, by which queries ask for them.</typeparam>
    /// <inheritdoc cref="Index(string, int, IndexFunction{TRow})"/>
    public TableDefinition<TKey, TRow> Index<TIndexKey>(string name, int version, Func<TRow, TIndexKey> key) =>
        With(name, version, isUnique: false, Single(key), typeof(TIndexKey));

    /// <summary>Returns the definition with another index, in which a row can have several keys.</summary>
    /// <param name="name">The name of the index.</param>
    /// <param name="version">The version of the function. Raise it when the function returns other keys than before.</param>
    /// <param name="keys">
    /// Returns the keys of a row: see <see cref="Index{TIndexKey}(string, int, Func{TRow, TIndexKey})"/>; null for none. A key that is returned twice
    /// counts once.
    /// </param>
    /// <typeparam name="TIndexKey">The type of the keys, by which queries ask for them.</typeparam>
    /// <inheritdoc cref="Index(string, int, IndexFunction{TRow})"/>
    public TableDefinition<TKey, TRow> IndexEach<TIndexKey>(string name, int version, Func<TRow, IEnumerable<TIndexKey>?> keys) =>
        With(name, version, isUnique: false, Each(keys), typeof(TIndexKey));

    /// <summary>
    /// Returns the definition with another index, in which no two rows may have the same key. A row whose key is null is not in the index.
    /// </summary>
    /// <inheritdoc cref="Index{TIndexKey}(string, int, Func{TRow, TIndexKey})"/>
    public TableDefinition<TKey, TRow> UniqueIndex<TIndexKey>(string name, int version, Func<TRow, TIndexKey> key) =>
        With(name, version, isUnique: true, Single(key), typeof(TIndexKey));

    /// <summary>
    /// Returns the definition with another index, in which no two rows may have the same key. A key that contains a null is not in the index, and
    /// constrains no row.
    /// </summary>
    /// <inheritdoc cref="Index(string, int, IndexFunction{TRow})"/>
    public TableDefinition<TKey, TRow> UniqueIndex(string name, int version, IndexFunction<TRow> keys) =>
        With(name, version, isUnique: true, keys);

    /// <summary>Returns the definition with an index that it shares with other tables.</summary>
    /// <remarks>
    /// The index has the name and the version of the shared one. Its keys follow the rules of <see cref="Index(string, int, IndexFunction{TRow})"/>,
    /// and <see cref="Table{TKey, TRow}.From"/> finds only the rows of this table.
    /// </remarks>
    /// <param name="index">The index.</param>
    /// <param name="keys">Adds the keys of a row: see <see cref="Index(string, int, IndexFunction{TRow})"/>.</param>
    /// <exception cref="ArgumentException">The definition already has an index of that name, or the maximum number of indexes.</exception>
    /// <exception cref="ArgumentNullException">The index or the function is null.</exception>
    public TableDefinition<TKey, TRow> Index(SharedIndex index, IndexFunction<TRow> keys)
    {
        ArgumentNullException.ThrowIfNull(index);
        ArgumentNullException.ThrowIfNull(keys);
        return With(new IndexDefinition(index.Name, index.Version, IsUnique: false) { IsShared = true }, keys, nameof(index));
    }

    /// <summary>Returns the definition with an index that it shares with other tables.</summary>
    /// <param name="index">The index.</param>
    /// <param name="key">Returns the key of a row: see <see cref="Index{TIndexKey}(string, int, Func{TRow, TIndexKey})"/>.</param>
    /// <inheritdoc cref="Index(SharedIndex, IndexFunction{TRow})"/>
    public TableDefinition<TKey, TRow> Index<TIndexKey>(SharedIndex index, Func<TRow, TIndexKey> key) => Index(index, Single(key));

    /// <summary>Returns the definition with an index that it shares with other tables, in which a row can have several keys.</summary>
    /// <param name="index">The index.</param>
    /// <param name="keys">Returns the keys of a row: see <see cref="IndexEach{TIndexKey}(string, int, Func{TRow, IEnumerable{TIndexKey}})"/>.</param>
    /// <inheritdoc cref="Index(SharedIndex, IndexFunction{TRow})"/>
    public TableDefinition<TKey, TRow> IndexEach<TIndexKey>(SharedIndex index, Func<TRow, IEnumerable<TIndexKey>?> keys) => Index(index, Each(keys));

    /// <summary>
    /// Returns the definition with compressed rows. An existing table keeps its setting until <see cref="TableEvolution.EvolveAsync{TKey, TRow}"/>
    /// is called; a definition without this call leaves the setting unchanged.
    /// </summary>
    /// <remarks>
    /// See <see cref="WriteTransaction.CompressValues"/>, and <see cref="TableEvolution.RecompressTableAsync"/> for existing rows.
    /// </remarks>
    /// <param name="compression">The compression.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such compression.</exception>
    public TableDefinition<TKey, TRow> CompressRows(ValueCompression compression)
    {
        WriteTransaction.CheckCompression(compression, nameof(compression));
        return new TableDefinition<TKey, TRow>(Functions.With(compression));
    }

    /// <summary>
    /// Returns the definition with rows that expire: from its expiry time on, a row counts as deleted for reads, and its keys are free.
    /// </summary>
    /// <remarks>
    /// <para>
    /// The time is computed when a row is written, and stored in it. A transaction compares it with the time of
    /// <see cref="StorageOptions.TimeProvider"/>, which it reads once, when it first opens a table whose rows expire. Counts and id sets still
    /// include the rows, and their bytes remain stored, until they are deleted: in the background, or by
    /// <see cref="TableExpiry.DeleteExpiredAsync"/>.
    /// </para>
    /// <para>
    /// The times have a separate index, <c>(expiry)</c>, which <see cref="TableEvolution.EvolveAsync{TKey, TRow}"/> builds, drops and rebuilds like
    /// any other. Rows expire while it is ready. Its keys are seconds since 1970, as <see cref="KeyWriter.Add(long)"/> writes them.
    /// </para>
    /// </remarks>
    /// <param name="time">
    /// Returns the time from which a row is expired, rounded up to a millisecond; null for never. It must depend on the row alone. It must not use
    /// the table.
    /// </param>
    /// <param name="version">
    /// The version of the function. Raise it when the function returns other times than before: the times of all rows are then computed again.
    /// </param>
    /// <exception cref="ArgumentException">The definition already has an expiry function, or the maximum number of indexes.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The version is negative.</exception>
    /// <exception cref="ArgumentNullException">The function is null.</exception>
    public TableDefinition<TKey, TRow> Expire(Func<TRow, DateTimeOffset?> time, int version = 1)
    {
        ArgumentNullException.ThrowIfNull(time);
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        if (Functions.ExpirySlot >= 0)
            throw new ArgumentException($"Table '{Name}' already has an expiry function.", nameof(time));
        CheckRoom(nameof(time));
        return new TableDefinition<TKey, TRow>(Functions.With(version, time));
    }

    /// <summary>Returns the name, the version and the indexes.</summary>
    public override string ToString() =>
        $"table '{Name}' version {Version}" + (IndexNames.Count == 0 ? "" : $", indexes {string.Join(", ", IndexNames)}");

    private static IndexFunction<TRow> Single<TIndexKey>(Func<TRow, TIndexKey> key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return (in TRow row, ref IndexKeys keys) =>
        {
            if (key(row) is { } value)
                IndexField.Write(ref keys.Begin(), value);
        };
    }

    private static IndexFunction<TRow> Each<TIndexKey>(Func<TRow, IEnumerable<TIndexKey>?> keys)
    {
        ArgumentNullException.ThrowIfNull(keys);
        return (in TRow row, ref IndexKeys collected) =>
        {
            foreach (var value in keys(row) ?? [])
                IndexField.Write(ref collected.Begin(), value);
        };
    }

    private TableDefinition<TKey, TRow> With(string name, int version, bool isUnique, IndexFunction<TRow> keys, Type? keyType = null)
    {
        ArgumentNullException.ThrowIfNull(keys);
        SchemaKeys.CheckName(name, "an index");
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        RowExpiry.ThrowIfReserved(name);
        return With(new IndexDefinition(name, version, isUnique) { KeyType = keyType }, keys, nameof(name));
    }

    private TableDefinition<TKey, TRow> With(IndexDefinition shape, IndexFunction<TRow> keys, string parameter)
    {
        if (Functions.Slots.Any(slot => slot.Name == shape.Name))
            throw new ArgumentException($"The definition of table '{Name}' has an index '{shape.Name}' already.", parameter);
        CheckRoom(parameter);
        return new TableDefinition<TKey, TRow>(Functions.With(shape, keys));
    }

    private void CheckRoom(string parameter)
    {
        if (Functions.Slots.Count == TableSchema.MaxIndexes)
            throw new ArgumentException($"A table has at most {TableSchema.MaxIndexes} indexes.", parameter);
    }
}
