using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Reads trees of a write transaction without opening them, while another tree is being changed.</summary>
internal interface ITreePeeker
{
    /// <summary>Loads the state of a tree without waiting puts; false if none has this name.</summary>
    /// <param name="name">The bytes of the name.</param>
    /// <param name="closed">Receives the state if the transaction has not opened the tree.</param>
    /// <param name="state">The state.</param>
    bool TryPeek(ReadOnlySpan<byte> name, TreeState closed, out TreeState state);
}
