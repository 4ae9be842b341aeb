namespace Voron.Tables;

/// <summary>A table of an environment and its size, available without reading the table: <see cref="TableListing"/>.</summary>
/// <param name="Name">The name.</param>
/// <param name="Version">The version of the definition that last evolved the table.</param>
/// <param name="KeyKind">The name of the key codec; null if rows are keyed by their ids.</param>
/// <param name="Rows">The number of rows.</param>
/// <param name="RowPages">The number of pages of rows.</param>
/// <param name="Indexes">The indexes, the primary key first; it is absent if rows are keyed by their ids.</param>
public sealed record TableStatistics(
    string Name, int Version, string? KeyKind, long Rows, long RowPages, IReadOnlyList<IndexStatistics> Indexes)
{
    /// <summary>The number of pages of rows and indexes.</summary>
    public long Pages => RowPages + Indexes.Sum(index => index.Pages);

    /// <inheritdoc/>
    public override string ToString() => $"table '{Name}' version {Version}: {Rows} rows, {Indexes.Count} indexes, {Pages} pages";
}

/// <summary>An index of a table, and its size: <see cref="TableStatistics"/>.</summary>
/// <param name="Name">The name; empty for the primary key.</param>
/// <param name="Version">The version of its function; 0 for the primary key.</param>
/// <param name="IsUnique">True if no two rows may have the same key.</param>
/// <param name="State">Whether it can answer queries.</param>
/// <param name="Keys">The number of different keys.</param>
/// <param name="RowIds">The number of row ids under all keys: one for each key of a unique index.</param>
/// <param name="Pages">The number of its pages.</param>
public sealed record IndexStatistics(string Name, int Version, bool IsUnique, IndexState State, long Keys, long RowIds, long Pages)
{
    /// <summary>While it is being built: the first row id that has yet to be read; otherwise null.</summary>
    public long? Cursor { get; init; }

    /// <summary>
    /// While it is being built: the row id at which the build ends, because the index already contains the keys of newer rows; otherwise null.
    /// </summary>
    public long? Limit { get; init; }

    /// <summary>True for a shared index, whose keys, row ids and pages are counted for all of its tables.</summary>
    public bool IsShared { get; init; }

    /// <inheritdoc/>
    public override string ToString()
    {
        var kind = IsUnique ? "unique index" : IsShared ? "shared index" : "index";
        var name = Name.Length == 0 ? "primary key" : $"{kind} '{Name}' version {Version}";
        var place = Cursor == null ? "" : $" (at row {Cursor} of {Limit})";
        return $"{name}: {State}{place}, {Keys} keys, {RowIds} row ids, {Pages} pages";
    }
}
