using System.Collections.Immutable;
using Voron.Feeds;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>A feed of the model.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Number">Tells it from others of its name, before and after it.</param>
/// <param name="CreatedId">The transaction that has created it.</param>
/// <param name="Options">Its options.</param>
internal sealed record ModelFeed(string Name, int Number, long CreatedId, FeedOptions Options);

/// <summary>How a feed records a tree or a table.</summary>
internal sealed record Recording(string Feed, RecordedContent Content)
{
    public bool HasNew => (Content & RecordedContent.NewValues) != 0;

    public bool HasOld => (Content & RecordedContent.OldValues) != 0;
}

/// <summary>The begin of a recording, with what the tree or the table has at that point.</summary>
/// <param name="Feed">The feed.</param>
/// <param name="TransactionId">The transaction.</param>
/// <param name="Source">The tree or table.</param>
/// <param name="Entries">What the tree has; null for a table.</param>
/// <param name="Rows">What the table has; null for a tree.</param>
/// <param name="Recording">How it is recorded.</param>
internal sealed record BegunRecording(
    int Feed, long TransactionId, FeedSource Source, ImmutableSortedSet<Model.ModelEntry>? Entries, TableContent? Rows, Recording Recording);

/// <summary>The model after a transaction, and the time of the transaction.</summary>
internal sealed record FeedVersion(ModelState State, long Ticks);
