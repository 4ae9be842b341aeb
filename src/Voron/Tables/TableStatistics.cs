namespace Voron.Tables;

/// <summary>A table of an environment and its size, which is known without reading the table: <see cref="TableListing"/>.</summary>
/// <param name="Name">The name.</param>
/// <param name="Version">The version of the definition that has evolved the table last.</param>
/// <param name="KeyKind">The name of the codec of keys; null if the key of a row is its id.</param>
/// <param name="Rows">The number of rows.</param>
/// <param name="RowPages">The number of pages of rows.</param>
/// <param name="Indexes">The indexes, the primary key first; there is none if the key of a row is its id.</param>
public sealed record TableStatistics(
    string Name, int Version, string? KeyKind, long Rows, long RowPages, IReadOnlyList<IndexStatistics> Indexes)
{
    /// <summary>The number of pages of rows and indexes.</summary>
    public long Pages => RowPages + Indexes.Sum(index => index.Pages);

    /// <inheritdoc/>
    public override string ToString() => $"table '{Name}' version {Version}: {Rows} rows, {Indexes.Count} indexes, {Pages} pages";
}
