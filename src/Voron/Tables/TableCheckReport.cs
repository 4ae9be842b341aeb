namespace Voron.Tables;

/// <summary>The findings of <see cref="TableEvolution.CheckAsync"/>.</summary>
/// <param name="RowsRead">The number of rows that were read.</param>
/// <param name="ProblemCount">The number of problems.</param>
/// <param name="Problems">The first thousand problems.</param>
public sealed record TableCheckReport(long RowsRead, long ProblemCount, IReadOnlyList<TableCheckProblem> Problems)
{
    /// <summary>True if the definition accepts all rows.</summary>
    public bool IsFit => ProblemCount == 0;

    /// <inheritdoc/>
    public override string ToString() => $"{RowsRead} rows, {ProblemCount} problems"
        + (IsFit ? "" : ": " + string.Join("; ", Problems.Take(10).Select(problem => problem.Message)));
}

/// <summary>A row that a definition would not accept.</summary>
/// <param name="RowId">The id of the row.</param>
/// <param name="IndexName">
/// The index whose function refuses the row, or whose keys are not those of the function; empty for the primary key; null if the codec refuses it.
/// </param>
/// <param name="OtherRowId">The id of the row with the same key in a unique index; null for other problems.</param>
/// <param name="Message">The problem, as a sentence.</param>
public sealed record TableCheckProblem(long RowId, string? IndexName, long? OtherRowId, string Message);

/// <summary>The result of <see cref="TableEvolution.RebuildKeysAsync"/>.</summary>
/// <param name="RowsRead">The number of rows that were read.</param>
/// <param name="KeysAdded">The number of rows whose primary keys were restored.</param>
/// <param name="KeysRemoved">The number of removed keys, which belonged to no row, or to a row other than the one they named.</param>
/// <param name="ProblemCount">
/// The number of rows whose keys were not restored: the codec or the key function refuses the row, or another row already has the key.
/// </param>
/// <param name="Problems">The first thousand of these problems.</param>
public sealed record RebuildKeysReport(long RowsRead, long KeysAdded, long KeysRemoved, long ProblemCount, IReadOnlyList<TableCheckProblem> Problems)
{
    /// <inheritdoc/>
    public override string ToString() => $"{RowsRead} rows, {KeysAdded} keys added, {KeysRemoved} removed, {ProblemCount} problems"
        + (ProblemCount == 0 ? "" : ": " + string.Join("; ", Problems.Take(10).Select(problem => problem.Message)));
}
