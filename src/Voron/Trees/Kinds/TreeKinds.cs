using Voron.Format;

namespace Voron.Trees.Kinds;

/// <summary>One kind of tree: its properties for code that serves all kinds.</summary>
internal sealed class TreeKindDescriptor
{
    /// <summary>The name of the kind, as the tool shows it and as dumps have it.</summary>
    public required string Name { get; init; }

    /// <summary>The kind for messages, such as "a fixed-size tree".</summary>
    public required string Description { get; init; }

    /// <summary>The feature recorded in the header of an environment with a tree of this kind.</summary>
    public required FormatFeatures Feature { get; init; }

    /// <summary>The form of branches and leaves.</summary>
    public PageForm Pages { get; init; } = PageForm.Slotted;

    /// <summary>True if each entry has a set of ids instead of a value, and the header counts the ids and the pages of the sets.</summary>
    public bool HasIdSets { get; init; }

    /// <summary>True if a second tree, named after the id of the first, stores the values of its large sets.</summary>
    public bool HasCompanion { get; init; }
}

/// <summary>The kinds of trees.</summary>
internal static class TreeKinds
{
    // Indexed by the kind. A list, because reflection would compile code in the first transaction of a process.
    private static readonly TreeKindDescriptor[] Table =
        [Describe(TreeKind.Plain), Describe(TreeKind.ValueSets), Describe(TreeKind.IdSets), Describe(TreeKind.FixedSize)];

    public static bool IsKnown(TreeKind kind) => (uint)kind < (uint)Table.Length;

    /// <summary>Returns the descriptor of a kind, which has already been validated with the tree's header.</summary>
    public static TreeKindDescriptor Of(TreeKind kind) => Table[(int)kind];

    /// <summary>Returns the features recorded in the header of an environment that contains a tree with this header.</summary>
    public static FormatFeatures Feature(in TreeHeader header) =>
        Of(header.Kind).Feature
        | ((header.Flags & TreeHeader.RecordedFlag) != 0 ? FormatFeatures.ChangeFeeds : FormatFeatures.None)
        | ((header.Flags & TreeHeader.CompressedFlag) != 0 ? FormatFeatures.CompressedValues : FormatFeatures.None);

    /// <summary>Returns the kind of a name; null if there is none.</summary>
    public static TreeKind? Find(string name) =>
        Array.FindIndex(Table, row => row.Name == name) is >= 0 and var at ? (TreeKind)at : null;

    /// <summary>Returns the exception for a tree opened as one of another kind.</summary>
    public static InvalidOperationException Mismatch(ReadOnlySpan<byte> name, TreeKind kind, TreeKind wanted, string path) => new(
        $"The {Catalog.Describe(name)} in '{path}' is {Of(kind).Description}, but was opened as {Of(wanted).Description}. A tree keeps the kind with " +
        "which it was created: use the calls for that kind, or another name.");

    private static TreeKindDescriptor Describe(TreeKind kind) => kind switch
    {
        TreeKind.Plain => new()
        {
            Name = "ordinary",
            Description = "a tree of keys and values",
            Feature = FormatFeatures.None,
        },
        TreeKind.ValueSets => new()
        {
            Name = "value sets",
            Description = "a tree of value sets",
            Feature = FormatFeatures.ValueSets,
            HasCompanion = true,
        },
        TreeKind.IdSets => new()
        {
            Name = "id sets",
            Description = "a tree of id sets",
            Feature = FormatFeatures.IdSets,
            HasIdSets = true,
        },
        TreeKind.FixedSize => new()
        {
            Name = "fixed-size",
            Description = "a fixed-size tree",
            Feature = FormatFeatures.FixedSizeTrees,
            Pages = PageForm.Array,
        },
    };
}
