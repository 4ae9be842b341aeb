namespace Voron.Tool.Dumps;

/// <summary>What a dump has that an environment may refuse.</summary>
/// <param name="Sections">Its trees and tables. One without a name has the entries without a tree.</param>
/// <param name="ShortestKey">The length of the shortest key in bytes.</param>
/// <param name="LongestKey">The length of the longest key in bytes.</param>
/// <param name="LongestSetValue">The length of the longest value of a set in bytes.</param>
internal sealed record DumpContent(IReadOnlyCollection<DumpSection> Sections, int ShortestKey, int LongestKey, int LongestSetValue);
