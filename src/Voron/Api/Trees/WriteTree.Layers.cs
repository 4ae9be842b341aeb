using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>What tables and feeds need of an open tree besides its entries.</content>
public readonly partial struct WriteTree
{
    /// <param name="tree">The tree, whose transaction can write, as the caller knows.</param>
    internal WriteTree(in Tree tree) => _tree = tree;

    /// <inheritdoc cref="Tree.TreeId"/>
    internal uint TreeId => _tree.TreeId;

    /// <summary>True if a feed records the changes of the tree.</summary>
    internal bool IsRecorded => Opened.StateAsIs.IsRecorded;

    /// <summary>The tree in a message.</summary>
    internal string Description => Catalog.Describe(Opened.Name);

    internal OpenTree Opened => _tree.Opened;
}
