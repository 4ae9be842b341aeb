using Voron.Format;

namespace Voron.Trees.Pages;

/// <summary>The leaf and branch layouts of a tree of array pages.</summary>
/// <param name="pageSize">The page size in bytes.</param>
/// <param name="valueSize">The value size in bytes.</param>
internal readonly struct ArrayShape(int pageSize, int valueSize)
{
    public readonly ArrayLayout Leaf = new(pageSize, valueSize);
    public readonly ArrayLayout Branch = ArrayLayout.OfBranches(pageSize);
}
