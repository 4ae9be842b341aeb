using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Opens trees of a write transaction by the bytes of their names.</summary>
internal interface ITreeFinder
{
    /// <summary>Opens a tree, in which nothing waits; null when there is none.</summary>
    TreeState? FindTree(ReadOnlySpan<byte> name);
}
