using Voron.Feeds;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>Whether a change stored or deleted a document.</summary>
public enum DocumentChangeKind
{
    /// <summary>The document was stored.</summary>
    Put,

    /// <summary>The document was deleted.</summary>
    Delete,
}

/// <summary>A change of a document.</summary>
/// <param name="Kind">Whether it was stored or deleted.</param>
/// <param name="Id">The id; null if a document was deleted that is too long for the feed (<see cref="Collection.MaxWatchedBytes"/>).</param>
/// <param name="Position">The place of the change among all changes: a watch that begins behind it continues with the next one.</param>
public sealed record DocumentChange(DocumentChangeKind Kind, string? Id, ChangePosition Position)
{
    /// <summary>The version that the change gave to the document; none of a deletion, or of a document that is too long for the feed.</summary>
    public RowVersion Version { get; init; }

    /// <summary>The document as the change has left it; null after a deletion, or if it is too long for the feed.</summary>
    public Document? Document { get; init; }

    /// <summary>Whether the document meets the condition of the watch as the change has left it. A watch also returns the change after which it does so no more.</summary>
    public bool IsMatch { get; init; }
}
