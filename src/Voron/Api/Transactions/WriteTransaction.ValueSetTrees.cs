using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Trees of value sets.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>Opens a tree of value sets, or creates it when there is none of that name.</summary>
    /// <remarks>
    /// The first tree of value sets in an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">There is a tree of that name, but of another kind.</exception>
    public WriteValueSetTree CreateValueSetTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return new WriteValueSetTree(Body.CreateTree(Catalog.Encode(name, buffer), TreeKind.ValueSets));
    }

    /// <summary>Opens a tree of value sets.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public WriteValueSetTree OpenValueSetTree(string name) => TryOpenValueSetTree(name, out var tree) ? tree : throw TreeNames.Missing(Body, name);

    /// <summary>Opens a tree of value sets; false when there is no tree of that name.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="tree">The tree; a default value when there is none.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public bool TryOpenValueSetTree(string name, out WriteValueSetTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(Catalog.Encode(name, buffer), TreeKind.ValueSets);
        tree = open == null ? default : new WriteValueSetTree(open);
        return open != null;
    }
}
