namespace Voron.Documents;

/// <summary>The documents of a query, and how they were found.</summary>
public sealed record QueryResult
{
    /// <summary>The documents in the order of the query.</summary>
    public required IReadOnlyList<Document> Documents { get; init; }

    /// <summary>Where the next page begins; null if there is none, or if the documents were sorted in memory, which has no pages.</summary>
    public required string? Next { get; init; }

    /// <summary>How the documents were found, for people.</summary>
    public required string Plan { get; init; }

    /// <summary>The number of documents that were looked at.</summary>
    public required long Examined { get; init; }
}
