namespace Voron;

/// <summary>The pages that a dropped tree still occupies: see <see cref="StorageEnvironment.DropTreeAsync"/>.</summary>
/// <param name="TreeId">The id of the tree, which no other tree of the environment has or had.</param>
/// <param name="Pages">The number of its pages that are not yet freed, including pages of values outside of leaves.</param>
public readonly record struct DroppedTreeStatistics(long TreeId, long Pages);
