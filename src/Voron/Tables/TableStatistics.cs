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
