namespace Voron;

/// <summary>
/// The findings of <see cref="StorageEnvironment.Verify"/>, or of a background verification, whose figures come from several snapshots.
/// </summary>
/// <param name="TransactionId">The id of the verified snapshot, or of the last one.</param>
/// <param name="Trees">The number of named trees walked.</param>
/// <param name="Entries">The number of entries in these trees.</param>
/// <param name="UsedPages">The number of pages that belong to trees, values, or the section maps.</param>
/// <param name="FreePages">The number of pages without an owner.</param>
/// <param name="Problems">A sentence for each problem; empty when there is none.</param>
public sealed record VerificationReport(
    long TransactionId, int Trees, long Entries, long UsedPages, long FreePages, IReadOnlyList<string> Problems)
{
    /// <summary>True when there are no problems.</summary>
    public bool IsSound => Problems.Count == 0;

    /// <inheritdoc/>
    public override string ToString() =>
        $"transaction {TransactionId}: {Trees} trees, {Entries} entries, {UsedPages} pages used, {FreePages} free, {Problems.Count} problems"
        + (IsSound ? "" : ": " + string.Join("; ", Problems.Take(10)));
}
