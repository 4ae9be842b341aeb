using Voron.Feeds;
using Voron.Transactions;

namespace Voron;

/// <content>What the layer of change feeds needs of the environment.</content>
public sealed partial class StorageEnvironment
{
    private FeedRetention? _retention;

    /// <summary>Prepares for waiting until transactions are durable.</summary>
    internal CommitWait WaitForCommits(CancellationToken cancellationToken) => new(_engine, cancellationToken);

    /// <inheritdoc cref="FeedTransactions.TrimFeedsAsync"/>
    internal async ValueTask<long> TrimFeedsNowAsync(CancellationToken cancellationToken)
    {
        ThrowIfNotWritable(nameof(FeedTransactions.TrimFeedsAsync));
        var call = new LongCall(
            LongWork.Trim,
            nameof(FeedTransactions.TrimFeedsAsync),
            $"The deletion of old changes from the feeds of '{Path}' was cancelled. What was deleted stays deleted.",
            " It was closed while old changes were deleted from its feeds. The next run continues with them.",
            $"There is not enough memory to delete old changes from the feeds of '{Path}': ");
        var report = await RunLongAsync(
            call, async (_, stop) => new TrimReport(await _retention!.TrimAsync(stop).ConfigureAwait(false)), isOnOneThread: false,
            (_, _) => { }, (_, _, _) => { }, cancellationToken).ConfigureAwait(false);
        return report.Deleted;
    }

    // Called by the constructor, for an environment that can be written.
    private void BeginRetention()
    {
        _retention = new FeedRetention(_engine, BeginRead, BeginWriteAsync);
        _engine.OnRecorded = _retention.OnRecorded;
    }

    private sealed record TrimReport(long Deleted);
}
