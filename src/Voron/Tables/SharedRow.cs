namespace Voron.Tables;

/// <summary>A row that a query of a shared index has found.</summary>
/// <param name="Table">The name of the table.</param>
/// <param name="RowId">The id of the row in that table.</param>
public readonly record struct SharedRow(string Table, long RowId);
