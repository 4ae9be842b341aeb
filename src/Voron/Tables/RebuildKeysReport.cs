namespace Voron.Tables;

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
