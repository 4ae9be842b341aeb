using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Trees of id sets.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>Opens a tree of id sets, or creates it when there is none of that name.</summary>
    /// <remarks>
    /// The first tree of id sets in an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">There is a tree of that name, but of another kind.</exception>
    public WriteIdTree CreateIdTree(string name)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return new WriteIdTree(Body.CreateTree(Catalog.Encode(name, buffer), TreeKind.IdSets));
    }

    /// <summary>Opens a tree of id sets.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public WriteIdTree OpenIdTree(string name) => TryOpenIdTree(name, out var tree) ? tree : throw TreeNames.Missing(Body, name);

    /// <summary>Opens a tree of id sets; false when there is no tree of that name.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="tree">The tree; a default value when there is none.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public bool TryOpenIdTree(string name, out WriteIdTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(Catalog.Encode(name, buffer), TreeKind.IdSets);
        tree = open == null ? default : new WriteIdTree(open);
        return open != null;
    }
}
