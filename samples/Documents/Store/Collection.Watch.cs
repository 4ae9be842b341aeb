using System.Runtime.CompilerServices;
using Voron.Feeds;
using Voron.Tables;

namespace Voron.Documents;

// Changes are recorded in a feed of the collection from its first watch on, with the document as it was and as it is: a deletion shows the id, and a
// condition is checked on both. A collection that is never watched records nothing, and pays nothing.
public sealed partial class Collection
{
    /// <summary>The length in bytes up to which changes have their documents.</summary>
    public const int MaxWatchedBytes = FeedOptions.LargestValueBytes;

    private static readonly FeedOptions Retention = new()
    {
        MaxAge = TimeSpan.FromDays(1),
        MaxBytes = 256L << 20,
        HoldLimitBytes = 1L << 30,
        MaxValueBytes = MaxWatchedBytes,
    };

    // Names of feeds and of tables are apart.
    private string Feed => Settings.Name;

    /// <summary>Follows the changes of documents from this call on, or from a position: existing ones, and then each one as it is committed.</summary>
    /// <remarks>
    /// <para>The first watch of a collection makes it record its changes from then on, for a day or up to 256 MiB. Earlier changes are not in it.</para>
    /// <para>
    /// Between two changes nothing is held: a caller that is slow keeps no writer waiting. The position of a named consumer is stored when the caller asks
    /// for the change behind the last one of a batch, so that a crash repeats changes and skips none; it holds back up to 1 GiB of changes until
    /// <see cref="ForgetConsumer"/>. A name is for one watch at a time.
    /// </para>
    /// <para>The watch ends when the collection is deleted.</para>
    /// </remarks>
    /// <param name="options">Where to begin, and which changes; null for all from now on.</param>
    /// <param name="cancellationToken">Ends the watch with an <see cref="OperationCanceledException"/>.</param>
    /// <exception cref="ChangesLostException">The changes behind the position are not kept any more.</exception>
    /// <exception cref="KeyNotFoundException">The collection was deleted before.</exception>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public IAsyncEnumerable<DocumentChange> WatchAsync(WatchOptions? options = null, CancellationToken cancellationToken = default)
    {
        options ??= new WatchOptions();
        return FollowAsync(options, BeginWatch(options), cancellationToken);
    }

    /// <summary>Forgets the position of a consumer, which held back changes; false when there is none of that name.</summary>
    public bool ForgetConsumer(string consumer)
    {
        using var reading = _environment.BeginRead();
        return reading.GetFeeds().Any(feed => feed.Name == Feed) && _environment.Write(writing => writing.RemoveConsumer(Feed, consumer));
    }

    private async IAsyncEnumerable<DocumentChange> FollowAsync(
        WatchOptions options, ChangePosition after, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var rows = TableDefinition.CreateWithRowIds(Settings.Name, ushort.MaxValue, new DocumentCodec(), static (Document document) => document.Number);
        var changes = new List<DocumentChange>();
        await using var batches = _environment.ReadChangesAsync(Feed, after, cancellationToken: cancellationToken).GetAsyncEnumerator(cancellationToken);
        while (await MoveNextAsync(batches).ConfigureAwait(false))
        {
            var isDeleted = Collect(batches.Current, rows, options.Query?.Filter, changes);
            var position = batches.Current.Position;
            foreach (var change in changes)
                yield return change;
            if (isDeleted)
                yield break;
            if (options.Consumer != null)
                _environment.Write(writing => writing.SetPosition(Feed, options.Consumer, position));
        }
    }

    // The feed is deleted behind the collection: that is the end of the watch, too.
    private static async ValueTask<bool> MoveNextAsync(IAsyncEnumerator<ChangeBatch> batches)
    {
        try
        {
            return await batches.MoveNextAsync().ConfigureAwait(false);
        }
        catch (KeyNotFoundException)
        {
            return false;
        }
    }

    private bool Collect(ChangeBatch batch, TableDefinition<long, Document> rows, Filter? filter, List<DocumentChange> changes)
    {
        changes.Clear();
        foreach (var change in batch)
        {
            if (change.Operation is ChangeOperation.SourceDeleted)
                return true;
            if (change.Operation is ChangeOperation.Insert or ChangeOperation.Update or ChangeOperation.Delete && ToChange(change, rows, filter) is { } found)
                changes.Add(found);
        }

        return false;
    }

    // A document that is too long for the feed may meet any condition.
    private DocumentChange? ToChange(Change change, TableDefinition<long, Document> rows, Filter? filter)
    {
        Document? now = change.HasNewValue ? change.GetRow(rows) with { Version = change.GetVersion() } : null;
        Document? before = change.HasOldValue ? change.GetOldRow(rows) : null;
        var isMatch = change.IsNewValueLeftOut || (now is { } document && filter?.Matches(document.Json.Span) != false);
        var wasMatch = change.IsOldValueLeftOut || (before is { } old && filter?.Matches(old.Json.Span) != false);
        if (!isMatch && !wasMatch)
            return null;
        var kind = change.Operation == ChangeOperation.Delete ? DocumentChangeKind.Delete : DocumentChangeKind.Put;
        return new DocumentChange(kind, (now ?? before ?? FindNow(change))?.Id, change.Position)
        {
            Version = now?.Version ?? RowVersion.None,
            Document = now,
            IsMatch = isMatch,
        };
    }

    // For the id of a document that is too long for the feed.
    private Document? FindNow(Change change)
    {
        using var reading = _environment.BeginRead();
        return reading.OpenTable(Definition).TryGetByRowId(change.GetRowId(), out var document) ? document : null;
    }

    private ChangePosition BeginWatch(WatchOptions options) => _environment.Write(writing =>
    {
        // Changes nothing of a collection that is watched already.
        writing.CreateFeed(Feed, Retention);
        writing.RecordTable(Feed, Settings.Name, RecordedContent.NewValues | RecordedContent.OldValues);
        ChangePosition stored = default;
        var isKnown = options.Consumer != null && writing.TryGetPosition(Feed, options.Consumer, out stored);
        var after = options.After ?? (isKnown ? stored : options.FromStart ? ChangePosition.Start : writing.GetNewestPosition(Feed));
        if (options.Consumer != null && !isKnown)
            writing.SetPosition(Feed, options.Consumer, after);
        return after;
    });
}
