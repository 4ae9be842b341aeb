using Voron.Feeds;
using Voron.Torture.Crashes;
using Voron.Torture.Model;

namespace Voron.Torture.Feeds;

/// <summary>All changes that a feed has ever had, as they were read first, and the copy that they have made.</summary>
/// <param name="feed">The feed.</param>
/// <param name="copy">The copy.</param>
internal sealed class FeedLog(ModelFeed feed, FeedCopy copy)
{
    public ModelFeed Feed => feed;

    public FeedCopy Copy => copy;

    public List<KnownChange> Changes { get; } = [];

    /// <summary>The position from which the copy continues.</summary>
    public ChangePosition Position { get; set; }

    /// <summary>The transaction up to which the copy has all changes.</summary>
    public long ThroughId { get; set; } = feed.CreatedId - 1;

    /// <summary>The model at that transaction; null before the feed existed.</summary>
    public ModelState? Through { get; set; }

    /// <summary>The position behind which the feed must have all changes.</summary>
    public ChangePosition Oldest { get; set; } = new(feed.CreatedId, 0, 0);

    /// <summary>Returns the index of the first change behind a position.</summary>
    public int After(ChangePosition position)
    {
        var (low, high) = (0, Changes.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (Changes[middle].Position <= position)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>Compares a batch with the changes that are known.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="at">The index of its first change.</param>
    /// <returns>The index of the change behind it.</returns>
    public int Check(ChangeBatch batch, int at)
    {
        var bytes = 0L;
        foreach (var change in batch)
        {
            bytes += change.Key.Length + change.NewValue.Length + change.OldValue.Length;
            if (at == Changes.Count || Changes[at] != KnownChange.Of(batch, change))
                throw new ModelMismatchException($"{change}: the first reading had {(at == Changes.Count ? "nothing" : Changes[at])}");
            at++;
        }

        var first = batch[0].TransactionId;
        var last = batch[batch.Count - 1];
        var goesOn = at < Changes.Count && Changes[at].Position.TransactionId == last.TransactionId;
        if (batch.IsTransactionComplete == goesOn || (goesOn && first != last.TransactionId))
            throw new ModelMismatchException($"a batch ends {(goesOn ? "within" : "with")} a transaction, and says otherwise: {last.Position}");
        if (batch.Position != last.Position || (bytes > batch.MaxBytes && batch.Count > 1))
            throw new ModelMismatchException($"a batch of {bytes} bytes continues behind {batch.Position}, its last change is {last.Position}");
        return at;
    }
}

/// <summary>A change, without its bytes.</summary>
internal readonly record struct KnownChange(ChangePosition Position, ulong Digest)
{
    public static KnownChange Of(ChangeBatch batch, Change change)
    {
        var digest = new Digest();
        digest.Add((ulong)change.Operation);
        digest.Add(System.Text.Encoding.UTF8.GetBytes($"{change.Source} {change.NewName}"));
        digest.Add(change.Key);
        digest.Add(change.NewValue);
        digest.Add(change.OldValue);
        digest.Add((change.HasNewValue ? 1u : 0) + (change.IsNewValueLeftOut ? 2u : 0));
        digest.Add((change.HasOldValue ? 1u : 0) + (change.IsOldValueLeftOut ? 2u : 0));
        if (change.Operation == ChangeOperation.DeleteRange)
        {
            digest.Add(batch.Buffer.Bytes(change.Entry.Key));
            digest.Add(batch.Buffer.Bytes(change.Entry.New));
        }

        return new KnownChange(change.Position, digest.Value);
    }
}
