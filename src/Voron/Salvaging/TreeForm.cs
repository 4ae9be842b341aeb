using Voron.Format;

namespace Voron.Salvaging;

/// <summary>The form of the leaves of a tree.</summary>
/// <param name="Kind">The kind of the tree.</param>
/// <param name="ValueSize">The size of the values of a fixed-size tree; 0 for others.</param>
internal readonly record struct TreeForm(TreeKind Kind, int ValueSize = 0)
{
    /// <summary>Returns the form of the leaves of a tree. Those of a value set tree contain ordinary values.</summary>
    public static TreeForm Of(in TreeHeader header) => header.Kind switch
    {
        TreeKind.FixedSize => new TreeForm(TreeKind.FixedSize, (int)header.NestedValues),
        TreeKind.ValueSets => default,
        TreeKind.Plain or TreeKind.IdSets => new TreeForm(header.Kind),
    };
}
