using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Fixed-size trees.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>Opens a fixed-size tree, or creates it when there is none of that name.</summary>
    /// <remarks>
    /// The first fixed-size tree in an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="valueSize">The size of each value in bytes: 0 to an eighth of the page size.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="ArgumentOutOfRangeException">Values cannot have that size.</exception>
    /// <exception cref="InvalidOperationException">
    /// There is a tree of that name, but it is of another kind, or its values have another size.
    /// </exception>
    public WriteFixedTree CreateFixedTree(string name, int valueSize)
    {
        var body = Body;
        var most = ArrayLayout.MaxValueSize(body.WritePages.PageSize);
        if ((uint)valueSize > (uint)most)
        {
            throw new ArgumentOutOfRangeException(
                nameof(valueSize), valueSize, $"The values of the tree '{name}' can have 0 to {most} bytes each at a page size of {body.WritePages.PageSize}.");
        }

        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        return new WriteFixedTree(body.CreateTree(Catalog.Encode(name, buffer), TreeKind.FixedSize, valueSize));
    }

    /// <summary>Opens a fixed-size tree with values of a type, or creates it when there is none of that name.</summary>
    /// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, but the bytes of values are little-endian.</exception>
    /// <inheritdoc cref="CreateFixedTree(string, int)"/>
    public WriteFixedTree<T> CreateFixedTree<T>(string name)
        where T : unmanaged
        => new(CreateFixedTree(name, FixedTreeAccess.SizeOf<T>()));

    /// <summary>Opens a fixed-size tree.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public WriteFixedTree OpenFixedTree(string name) => TryOpenFixedTree(name, out var tree) ? tree : throw TreeNames.Missing(Body, name);

    /// <summary>Opens a fixed-size tree with values of a type.</summary>
    /// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
    /// <exception cref="InvalidOperationException">The tree is of another kind, or its value size differs from that of the type.</exception>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, but the bytes of values are little-endian.</exception>
    /// <inheritdoc cref="OpenFixedTree(string)"/>
    public WriteFixedTree<T> OpenFixedTree<T>(string name)
        where T : unmanaged
        => new(OpenFixedTree(name));

    /// <summary>Opens a fixed-size tree; false when there is no tree of that name.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="tree">The tree; a default value when there is none.</param>
    /// <exception cref="ArgumentException">The name is empty, has more than 255 bytes in UTF-8, or is not valid text.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public bool TryOpenFixedTree(string name, out WriteFixedTree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(Catalog.Encode(name, buffer), TreeKind.FixedSize);
        tree = open == null ? default : new WriteFixedTree(open);
        return open != null;
    }
}
