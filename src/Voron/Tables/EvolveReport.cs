namespace Voron.Tables;

/// <summary>What <see cref="TableEvolution.EvolveAsync"/> has done.</summary>
/// <param name="IsCreated">True if the table did not exist.</param>
/// <param name="Built">The names of the indexes that have become ready.</param>
/// <param name="Dropped">
/// The names of the indexes that were dropped, because the definition does not have them, or has another version of them.
/// </param>
/// <param name="RowsRead">The rows that were read to build indexes.</param>
public sealed record EvolveReport(bool IsCreated, IReadOnlyList<string> Built, IReadOnlyList<string> Dropped, long RowsRead)
{
    /// <inheritdoc/>
    public override string ToString() =>
        $"{(IsCreated ? "table created" : "table existed")}, {Built.Count} indexes built from {RowsRead} rows, {Dropped.Count} dropped";
}
