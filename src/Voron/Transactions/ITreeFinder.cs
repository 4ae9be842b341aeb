using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Opens trees of a write transaction by the bytes of their names.</summary>
internal interface ITreeFinder
{
    /// <summary>Opens a tree, and applies its waiting puts; null if it does not exist.</summary>
    TreeState? FindTree(ReadOnlySpan<byte> name);
}
