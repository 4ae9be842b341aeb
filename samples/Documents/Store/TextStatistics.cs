namespace Voron.Documents;

/// <summary>The size of a text index.</summary>
/// <param name="Fields">The paths of its fields.</param>
/// <param name="Words">The number of words that differ.</param>
/// <param name="Places">The number of pairs of a word and a document.</param>
/// <param name="Pages">The number of pages.</param>
public sealed record TextStatistics(IReadOnlyList<string> Fields, long Words, long Places, long Pages);
