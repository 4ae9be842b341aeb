using Voron.Format;

namespace Voron.Salvaging;

/// <summary>What the leaves of a tree have.</summary>
/// <param name="Kind">The kind of the tree.</param>
/// <param name="ValueSize">The size of the values of a fixed-size tree; 0 for others.</param>
internal readonly record struct TreeForm(TreeKind Kind, int ValueSize = 0)
{
    public static TreeForm Of(in TreeHeader header) => new(header.Kind, header.Kind == TreeKind.Array ? (int)header.NestedValues : 0);
}
