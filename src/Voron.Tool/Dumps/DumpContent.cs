namespace Voron.Tool.Dumps;

/// <summary>What a dump has that an environment may refuse.</summary>
/// <param name="Trees">The names of its trees; null stands for entries without a tree.</param>
/// <param name="ShortestKey">The length of the shortest key in bytes.</param>
/// <param name="LongestKey">The length of the longest key in bytes.</param>
internal sealed record DumpContent(IReadOnlyCollection<string?> Trees, int ShortestKey, int LongestKey);
