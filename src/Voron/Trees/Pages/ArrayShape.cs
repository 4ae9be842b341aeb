using Voron.Format;

namespace Voron.Trees.Pages;

/// <summary>The layouts of the leaves and of the branches of a tree of array pages.</summary>
/// <param name="pageSize">Bytes of a page.</param>
/// <param name="valueSize">Bytes of a value.</param>
internal readonly struct ArrayShape(int pageSize, int valueSize)
{
    public readonly ArrayLayout Leaf = new(pageSize, valueSize);
    public readonly ArrayLayout Branch = ArrayLayout.OfBranches(pageSize);
}
