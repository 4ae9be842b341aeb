using Voron.Format;

namespace Voron.Transactions;

/// <summary>The tree into which entries are loaded, as it was when the load began.</summary>
/// <param name="Header">Its header; that of an empty tree if it does not exist.</param>
/// <param name="IsNew">True if the tree does not exist.</param>
/// <param name="Compression">How its values are compressed; null if they are not.</param>
internal sealed record LoadTarget(TreeHeader Header, bool IsNew, TreeCompression? Compression)
{
    /// <summary>True if a load can build the tree beside its present content: there is none, and no entry has to be recorded.</summary>
    public bool CanAdopt => Header is { RootPage: 0, Flags: 0 or TreeHeader.CompressedFlag };
}

/// <summary>How the values of a tree are compressed.</summary>
/// <param name="Settings">The settings.</param>
/// <param name="Newest">The dictionary with the last number; null if the tree does not have it.</param>
internal sealed record TreeCompression(CompressionSettings Settings, TrainedDictionary? Newest);
