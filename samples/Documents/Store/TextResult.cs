namespace Voron.Documents;

/// <summary>The documents that fit a search for words best.</summary>
public sealed record TextResult
{
    /// <summary>The documents, the best one first.</summary>
    public required IReadOnlyList<TextHit> Hits { get; init; }

    /// <summary>The number of all documents that have the words.</summary>
    public required long Matches { get; init; }

    /// <summary>How the documents were found, for people.</summary>
    public required string Plan { get; init; }
}

/// <summary>A document that was found by its words.</summary>
/// <param name="Document">The document.</param>
/// <param name="Score">How well it fits: BM25.</param>
public readonly record struct TextHit(Document Document, double Score);
