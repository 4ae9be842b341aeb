namespace Voron.Tables;

/// <summary>How far <see cref="TableEvolution.EvolveAsync"/> has come.</summary>
/// <param name="Indexes">The names of the indexes that are being built.</param>
/// <param name="RowsRead">The rows that the call has read so far.</param>
/// <param name="RowIdsPassed">The row ids that the step has reached, of <paramref name="RowIdsTotal"/>. Ids of deleted rows count.</param>
/// <param name="RowIdsTotal">The first row id that is left to the writers.</param>
public readonly record struct EvolveProgress(IReadOnlyList<string> Indexes, long RowsRead, long RowIdsPassed, long RowIdsTotal);
