namespace Voron.Tables;

/// <summary>A step of an <see cref="IndexBuilder"/>.</summary>
/// <param name="Indexes">The names of the indexes that were built together.</param>
/// <param name="Ready">The names of those that became ready.</param>
/// <param name="Rows">The rows that were read.</param>
/// <param name="Cursor">The first row id that was not read.</param>
/// <param name="Limit">The first row id whose keys the writers add.</param>
internal sealed record IndexStep(IReadOnlyList<string> Indexes, IReadOnlyList<string> Ready, long Rows, long Cursor, long Limit);
