using Voron.Format;
using Voron.Trees.Kinds;

namespace Voron.Tool.Dumps;

/// <summary>A tree or a table of a dump.</summary>
/// <param name="Name">The name; null if the dump has none.</param>
/// <param name="Kind">The kind of the tree; null for a table.</param>
internal sealed record DumpSection(string? Name, TreeKind? Kind)
{
    public bool IsTable => Kind == null;

    /// <summary>The number of bytes of each value of a fixed-size tree.</summary>
    public int ValueBytes { get; init; }

    /// <summary>The version of the definition of a table.</summary>
    public int Version { get; init; }

    /// <summary>The kind of a table's primary keys; null if the rows have no keys but their ids.</summary>
    public string? Keys { get; init; }

    /// <summary>The id that the next row of a table gets.</summary>
    public long NextRow { get; init; }

    /// <summary>Describes it, with an article.</summary>
    public override string ToString() => Kind is not { } kind
        ? $"a table of version {Version} with {(Keys == null ? "row ids as keys" : $"keys of the kind {Keys}")}"
        : TreeKinds.Of(kind).Description + (kind == TreeKind.FixedSize ? $" with values of {ValueBytes} bytes" : "");
}
