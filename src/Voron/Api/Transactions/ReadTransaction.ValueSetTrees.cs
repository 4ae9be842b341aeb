using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Trees of value sets.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>Opens a tree of value sets.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="KeyNotFoundException">There is no tree of that name in this snapshot.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public ValueSetTree OpenValueSetTree(string name) => TryOpenValueSetTree(name, out var tree) ? tree : throw TreeNames.Missing(_body, name);

    /// <summary>Opens a tree of value sets; false when there is no tree of that name in this snapshot.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="tree">The tree; a default value when there is none.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public bool TryOpenValueSetTree(string name, out ValueSetTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(_generation, Catalog.Encode(name, buffer), TreeKind.ValueSets, out var treeGeneration);
        tree = open == null ? default : new ValueSetTree(open, treeGeneration);
        return open != null;
    }
}
