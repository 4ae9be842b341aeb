namespace Voron;

/// <summary>
/// What <see cref="StorageEnvironment.Verify"/> found, or a verification in the background, whose figures are of several snapshots.
/// </summary>
/// <param name="TransactionId">The snapshot that was verified, or the last one.</param>
/// <param name="Trees">Named trees walked.</param>
/// <param name="Entries">Entries in them.</param>
/// <param name="UsedPages">Pages that belong to trees, values, or the section maps.</param>
/// <param name="FreePages">Pages that belong to nobody.</param>
/// <param name="Problems">A sentence for each thing that is not as it should be; empty when all is well.</param>
public sealed record VerificationReport(
    long TransactionId, int Trees, long Entries, long UsedPages, long FreePages, IReadOnlyList<string> Problems)
{
    /// <summary>True when nothing is wrong.</summary>
    public bool IsSound => Problems.Count == 0;

    /// <inheritdoc/>
    public override string ToString() =>
        $"transaction {TransactionId}: {Trees} trees, {Entries} entries, {UsedPages} pages used, {FreePages} free, {Problems.Count} problems"
        + (IsSound ? "" : ": " + string.Join("; ", Problems.Take(10)));
}
