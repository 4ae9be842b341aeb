namespace Voron;

/// <summary>What a dropped tree still has: see <see cref="StorageEnvironment.DropTreeAsync"/>.</summary>
/// <param name="TreeId">The id of the tree, which no other tree of the environment has or had.</param>
/// <param name="Pages">The number of its pages that are not free yet, with those of values outside of leaves.</param>
public readonly record struct DroppedTreeStatistics(long TreeId, long Pages);
