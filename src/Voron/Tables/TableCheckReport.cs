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
