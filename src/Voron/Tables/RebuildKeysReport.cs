namespace Voron.Tables;

/// <summary>What <see cref="TableEvolution.RebuildKeysAsync"/> has done.</summary>
/// <param name="RowsRead">The number of rows that were read.</param>
/// <param name="KeysAdded">The number of rows that have got their primary keys again.</param>
/// <param name="KeysRemoved">The number of keys that were those of no row, or of another one than they named.</param>
/// <param name="ProblemCount">The number of rows that have not: the codec or the function of the key refuses them, or another row has the
/// key.</param>
/// <param name="Problems">The first thousand of those.</param>
public sealed record RebuildKeysReport(long RowsRead, long KeysAdded, long KeysRemoved, long ProblemCount, IReadOnlyList<TableCheckProblem> Problems)
{
    /// <inheritdoc/>
    public override string ToString() => $"{RowsRead} rows, {KeysAdded} keys added, {KeysRemoved} removed, {ProblemCount} problems"
        + (ProblemCount == 0 ? "" : ": " + string.Join("; ", Problems.Take(10).Select(problem => problem.Message)));
}
