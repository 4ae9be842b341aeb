using Voron.Feeds;
using Voron.Tables;
using Voron.Transactions;

namespace Voron;

/// <summary>The background deletions of an environment for the layers above it: old changes of feeds, and expired rows of tables.</summary>
internal sealed class BackgroundDeletions : ILayersAbove
{
    private readonly FeedRetention _retention;
    private readonly KnownTables _tables;
    private readonly LongCalls _calls;
    private readonly string _path;

    /// <param name="feeds">Runs the deletion of old changes.</param>
    /// <param name="tables">Runs the deletion of expired rows.</param>
    /// <param name="calls">Runs the deletions that callers request.</param>
    public BackgroundDeletions(BackgroundRun feeds, BackgroundRun tables, LongCalls calls)
    {
        _calls = calls;
        _path = feeds.Path;
        _retention = new FeedRetention(feeds);
        _tables = new KnownTables(tables);
        feeds.Work = _retention.TrimInBackgroundAsync;
        tables.Work = new ExpiryRuns(tables, _tables).SweepAllAsync;
    }

    /// <summary>The number of tables with expiring rows whose definitions are kept.</summary>
    public int ExpiringTables => _tables.Expiring.Count;

    object ILayersAbove.LayerObject => _tables;

    void ILayersAbove.OnRecorded(long bytes) => _retention.OnRecorded(bytes);

    /// <inheritdoc cref="FeedTransactions.TrimFeedsAsync"/>
    public ValueTask<long> TrimFeedsAsync(CancellationToken cancellationToken)
    {
        var call = new LongCall(
            LongWork.Other,
            nameof(FeedTransactions.TrimFeedsAsync),
            $"The deletion of old changes from the feeds of '{_path}' was cancelled. Deleted changes stay deleted.",
            " It was closed while old changes were deleted from its feeds. The next run continues with them.",
            $"There is not enough memory to delete old changes from the feeds of '{_path}': ");
        return _calls.RunAsync(call, _retention.TrimAsync, cancellationToken);
    }
}
