namespace Voron.Benchmarks.Workloads;

/// <summary>A row of the tables that are compared, much like the record of a package in a software archive.</summary>
internal sealed record Package
{
    /// <summary>The primary key.</summary>
    public required string Id { get; init; }

    /// <summary>One of a few texts: an index.</summary>
    public required string Section { get; init; }

    public required int Size { get; init; }

    public required int Priority { get; init; }

    /// <summary>None to six different ones: an index with as many keys.</summary>
    public required string[] Tags { get; init; }

    /// <summary>Together with <see cref="Version"/>, a unique index.</summary>
    public required string Source { get; init; }

    public required string Version { get; init; }

    public required string Description { get; init; }
}
