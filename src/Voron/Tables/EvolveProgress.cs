namespace Voron.Tables;

/// <summary>The progress of <see cref="TableEvolution.EvolveAsync"/>.</summary>
/// <param name="Indexes">The names of the indexes that are being built.</param>
/// <param name="RowsRead">The number of rows that the call has read so far.</param>
/// <param name="RowIdsPassed">The number of row ids passed so far, of <paramref name="RowIdsTotal"/>, including those of deleted rows.</param>
/// <param name="RowIdsTotal">The first row id whose keys the writers add.</param>
public readonly record struct EvolveProgress(IReadOnlyList<string> Indexes, long RowsRead, long RowIdsPassed, long RowIdsTotal);
