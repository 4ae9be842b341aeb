using Voron.Format;

namespace Voron.Transactions;

/// <summary>The tree into which entries are loaded, as it was when the load began.</summary>
/// <param name="Header">Its header; that of an empty tree if it does not exist.</param>
/// <param name="IsNew">True if the tree does not exist.</param>
internal readonly record struct LoadTarget(TreeHeader Header, bool IsNew)
{
    /// <summary>True if a load can build the tree beside its present content: there is none, and no entry has to be recorded or compressed.</summary>
    public bool CanAdopt => Header is { RootPage: 0, Flags: 0 };
}
