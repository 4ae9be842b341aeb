namespace Voron.Tables;

/// <summary>The result of <see cref="TableEvolution.EvolveAsync"/>.</summary>
/// <param name="IsCreated">True if the table did not exist.</param>
/// <param name="Built">The names of the indexes that became ready.</param>
/// <param name="Dropped">The names of the dropped indexes, which the definition lacks or contains in another version.</param>
/// <param name="RowsRead">The number of rows read to build indexes.</param>
public sealed record EvolveReport(bool IsCreated, IReadOnlyList<string> Built, IReadOnlyList<string> Dropped, long RowsRead)
{
    /// <inheritdoc/>
    public override string ToString() =>
        $"{(IsCreated ? "table created" : "table existed")}, {Built.Count} indexes built from {RowsRead} rows, {Dropped.Count} dropped";
}
