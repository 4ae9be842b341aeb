namespace Voron.Tool.Dumps;

/// <summary>The kinds of content of a dump.</summary>
internal enum DumpKind
{
    Plain,
    Fixed,
    Ids,
    Values,
    Table,
}

/// <summary>A tree or a table of a dump.</summary>
/// <param name="Name">The name; null if the dump has none.</param>
/// <param name="Kind">The kind.</param>
internal sealed record DumpSection(string? Name, DumpKind Kind)
{
    /// <summary>The number of bytes of each value of a fixed-size tree.</summary>
    public int ValueBytes { get; init; }

    /// <summary>The version of the definition of a table.</summary>
    public int Version { get; init; }

    /// <summary>The kind of a table's primary keys; null if the rows have no keys but their ids.</summary>
    public string? Keys { get; init; }

    /// <summary>The id that the next row of a table gets.</summary>
    public long NextRow { get; init; }

    public override string ToString() => Kind switch
    {
        DumpKind.Fixed => $"fixed-size tree with values of {ValueBytes} bytes",
        DumpKind.Ids => "tree of id sets",
        DumpKind.Values => "tree of value sets",
        DumpKind.Table => $"table of version {Version} with {(Keys == null ? "row ids as keys" : $"keys of the kind {Keys}")}",
        DumpKind.Plain => "ordinary tree",
    };
}
