namespace Voron.Tables;

/// <summary>The findings of <see cref="TableVerification"/>.</summary>
/// <param name="TransactionId">The snapshot that was verified.</param>
/// <param name="Rows">The number of rows.</param>
/// <param name="IndexKeys">The number of keys of these rows in the indexes that were compared.</param>
/// <param name="Unchecked">The names of the indexes that were not compared, because they are not ready or not in the definition.</param>
/// <param name="Problems">One sentence per problem, at most 100; empty if there are none.</param>
public sealed record TableVerificationReport(
    long TransactionId, long Rows, long IndexKeys, IReadOnlyList<string> Unchecked, IReadOnlyList<string> Problems)
{
    /// <summary>True if there are no problems.</summary>
    public bool IsSound => Problems.Count == 0;

    /// <inheritdoc/>
    public override string ToString() =>
        $"transaction {TransactionId}: {Rows} rows, {IndexKeys} index keys, {Unchecked.Count} indexes unchecked, {Problems.Count} problems"
        + (IsSound ? "" : ": " + string.Join("; ", Problems.Take(10)));
}
