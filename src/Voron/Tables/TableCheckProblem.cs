namespace Voron.Tables;

/// <summary>A row that a definition would not accept.</summary>
/// <param name="RowId">The id of the row.</param>
/// <param name="IndexName">
/// The index whose function refuses the row, or whose keys are not those of the function; empty for the primary key; null if the codec refuses it.
/// </param>
/// <param name="OtherRowId">The id of the row with the same key in a unique index; null for other problems.</param>
/// <param name="Message">The problem, as a sentence.</param>
public sealed record TableCheckProblem(long RowId, string? IndexName, long? OtherRowId, string Message);
