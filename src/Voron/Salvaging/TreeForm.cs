using Voron.Format;

namespace Voron.Salvaging;

/// <summary>What the leaves of a tree have.</summary>
/// <param name="Kind">The kind of the tree.</param>
/// <param name="ValueSize">The size of the values of a fixed-size tree; 0 for others.</param>
internal readonly record struct TreeForm(TreeKind Kind, int ValueSize = 0)
{
    /// <summary>Returns what the leaves of a tree have. Those of a tree of value sets have ordinary values.</summary>
    public static TreeForm Of(in TreeHeader header) => header.Kind switch
    {
        TreeKind.FixedSize => new TreeForm(TreeKind.FixedSize, (int)header.NestedValues),
        TreeKind.ValueSets => default,
        _ => new TreeForm(header.Kind),
    };
}
