using Voron.Format;

namespace Voron.Trees;

/// <summary>The kinds of trees, for messages, and the feature of the format that each needs.</summary>
internal static class TreeKinds
{
    /// <summary>The feature that an environment with a tree of this kind has in its header.</summary>
    public static FormatFeatures Feature(TreeKind kind) => kind switch
    {
        TreeKind.IdSets => FormatFeatures.IdSets,
        TreeKind.ValueSets => FormatFeatures.ValueSets,
        TreeKind.Array => FormatFeatures.Arrays,
        _ => FormatFeatures.None,
    };

    /// <summary>The feature that an environment with a tree of this header has in its own header.</summary>
    public static FormatFeatures Feature(in TreeHeader header) =>
        Feature(header.Kind)
        | ((header.Flags & TreeHeader.RecordedFlag) != 0 ? FormatFeatures.ChangeFeeds : FormatFeatures.None)
        | ((header.Flags & TreeHeader.CompressedFlag) != 0 ? FormatFeatures.CompressedValues : FormatFeatures.None);

    public static string Describe(TreeKind kind) => kind switch
    {
        TreeKind.IdSets => "a tree of id sets",
        TreeKind.ValueSets => "a tree of value sets",
        TreeKind.Array => "a fixed-size tree",
        _ => "a tree of keys and values",
    };

    /// <summary>Reports that a tree is opened as one of another kind.</summary>
    public static InvalidOperationException Mismatch(ReadOnlySpan<byte> name, TreeKind kind, TreeKind wanted, string path) => new(
        $"The {Catalog.Describe(name)} in '{path}' is {Describe(kind)}, and was opened as {Describe(wanted)}. A tree keeps the kind with which it " +
        "was created: use the calls for that kind, or another name.");
}
