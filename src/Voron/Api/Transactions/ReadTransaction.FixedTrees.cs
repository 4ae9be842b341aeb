using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Fixed-size trees.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>Opens a fixed-size tree.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="KeyNotFoundException">There is no tree of that name in this snapshot.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public FixedTree OpenFixedTree(string name) => TryOpenFixedTree(name, out var tree) ? tree : throw TreeNames.Missing(_body, name);

    /// <summary>Opens a fixed-size tree with values of a type.</summary>
    /// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
    /// <exception cref="InvalidOperationException">The tree is of another kind, or its value size differs from that of the type.</exception>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, but the bytes of values are little-endian.</exception>
    /// <inheritdoc cref="OpenFixedTree(string)"/>
    public FixedTree<T> OpenFixedTree<T>(string name)
        where T : unmanaged
        => new(OpenFixedTree(name));

    /// <summary>Opens a fixed-size tree; false when there is no tree of that name in this snapshot.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="tree">The tree; a default value when there is none.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or another thread is opening a tree in the same transaction.
    /// </exception>
    public bool TryOpenFixedTree(string name, out FixedTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(_generation, Catalog.Encode(name, buffer), TreeKind.FixedSize, out var treeGeneration);
        tree = open == null ? default : new FixedTree(open, treeGeneration);
        return open != null;
    }
}
