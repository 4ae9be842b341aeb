using Voron.Recording;
using Voron.Tables;

namespace Voron.Feeds;

/// <summary>Change feeds: ordered lists of the changes of trees and tables, for consumers that follow them.</summary>
/// <remarks>
/// <para>
/// A change is recorded in the transaction that makes it, so a feed contains exactly the committed changes, in their order. The sources of a feed
/// and the positions of named consumers are stored in the environment as well: a rollback undoes them, and a backup includes them.
/// </para>
/// <para>
/// The calls that set up a feed can be repeated at each program start: they change nothing if the feed is already set up. A compacted copy and a
/// salvaged environment contain no feeds; a recreated feed refuses the positions of the old one.
/// </para>
/// </remarks>
public static class FeedTransactions
{
    /// <summary>Creates a feed, or changes the options of an existing one.</summary>
    /// <remarks>
    /// The first feed of an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.
    /// </remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed: at most 200 bytes in UTF-8.</param>
    /// <param name="options">
    /// All options; null for those of a new <see cref="FeedOptions"/>, or to keep those of an existing feed. To change one of them, use <c>with</c>
    /// on <see cref="FeedInfo.Options"/>.
    /// </param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text, or an option is out of its range.</exception>
    /// <exception cref="StorageFullException">There is no space left, or all 65,534 feed numbers have been used.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    /// <exception cref="InvalidOperationException">An earlier operation has failed partway; the transaction can only be rolled back.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static void CreateFeed(this WriteTransaction transaction, string feed, FeedOptions? options = null)
    {
        var key = FeedRegistry.FeedKey(feed);
        options?.Check(nameof(options));
        new FeedEditor(transaction).Create(feed, key, options);
    }

    /// <summary>Deletes a feed with all of its changes; false if it does not exist. Its sources are no longer recorded.</summary>
    /// <remarks>Takes one millisecond for a few thousand pages, while the transaction holds the writer.</remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <inheritdoc cref="CreateFeed"/>
    public static bool DeleteFeed(this WriteTransaction transaction, string feed)
    {
        _ = FeedRegistry.FeedKey(feed);
        return new FeedEditor(transaction).Delete(feed);
    }

    /// <summary>Records the changes of a tree from here on. The existing entries of the tree are not in the feed.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="tree">The name of the tree.</param>
    /// <param name="content">
    /// The content recorded in addition to the keys. If the feed records the tree with other content, the source is removed and added again; no
    /// change is lost in between.
    /// </param>
    /// <exception cref="KeyNotFoundException">There is no feed, or no tree, of that name.</exception>
    /// <exception cref="InvalidOperationException">Another feed records the tree, or the tree is of another kind.</exception>
    /// <exception cref="ArgumentException">
    /// The name is empty or too long, or <see cref="RecordedContent.OldValues"/> are requested, which only tables have.
    /// </exception>
    /// <inheritdoc cref="CreateFeed"/>
    public static void RecordTree(
        this WriteTransaction transaction, string feed, string tree, RecordedContent content = RecordedContent.NewValues)
    {
        var record = new FeedRegistry(transaction).Get(feed);
        if ((content & ~RecordedContent.NewValues) != 0)
        {
            throw new ArgumentException(
                $"A feed records {nameof(RecordedContent.NewValues)} of a tree, or {nameof(RecordedContent.KeysOnly)}, but not {content}.", nameof(content));
        }

        var open = FindTree(transaction, tree) ?? throw new KeyNotFoundException(
            $"There is no tree '{tree}' in '{transaction.DataFilePath}' whose changes the feed '{feed}' could record. " +
            (transaction.GetTableNames().Contains(tree) ? $"There is a table of that name: use {nameof(RecordTable)}." : "Create it first."));
        new FeedEditor(transaction).Record(feed, record, open, new FeedSource(tree, IsTable: false), content);
    }

    /// <summary>Records the changes of a table from here on. The existing rows of the table are not in the feed.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="table">The name of the table.</param>
    /// <param name="content">
    /// The content recorded in addition to the primary keys. If the feed records the table with other content, the source is removed and added
    /// again; no change is lost in between.
    /// </param>
    /// <exception cref="KeyNotFoundException">There is no feed, or no table, of that name.</exception>
    /// <exception cref="InvalidOperationException">Another feed records the table.</exception>
    /// <exception cref="ArgumentException">The name is empty or too long, or the content is unknown.</exception>
    /// <inheritdoc cref="CreateFeed"/>
    public static void RecordTable(
        this WriteTransaction transaction, string feed, string table, RecordedContent content = RecordedContent.NewValues)
    {
        var record = new FeedRegistry(transaction).Get(feed);
        if ((content & ~(RecordedContent.NewValues | RecordedContent.OldValues)) != 0)
            throw new ArgumentException($"A feed cannot record {content}.", nameof(content));
        var rows = FeedEditor.FindRows(transaction, table) ?? throw new KeyNotFoundException(
            $"There is no table '{table}' in '{transaction.DataFilePath}' whose changes the feed '{feed}' could record. " +
            (transaction.GetTreeNames().Contains(table) ? $"There is a tree of that name: use {nameof(RecordTree)}." : "Create it first."));
        new FeedEditor(transaction).Record(feed, record, rows, new FeedSource(table, IsTable: true), content);
    }

    /// <summary>Stops recording the changes of a tree; false if no feed records them, or the tree does not exist.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="tree">The name of the tree.</param>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    /// <inheritdoc cref="CreateFeed"/>
    public static bool StopRecordingTree(this WriteTransaction transaction, string tree) =>
        FindTree(transaction, tree) is { } open && new FeedEditor(transaction).Stop(open);

    /// <summary>Stops recording the changes of a table; false if no feed records them, or the table does not exist.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="table">The name of the table.</param>
    /// <inheritdoc cref="CreateFeed"/>
    public static bool StopRecordingTable(this WriteTransaction transaction, string table) =>
        FeedEditor.FindRows(transaction, table) is { } rows && new FeedEditor(transaction).Stop(rows);

    /// <summary>
    /// Stores the position of a consumer. Call it in the transaction that applies the changes, so that both are stored, or neither. From then on the
    /// consumer holds back the deletion of the changes after its position.
    /// </summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="consumer">
    /// The name of the consumer: at most 200 bytes in UTF-8. Use it for one consumer at a time: two of the same name overwrite each other's position.
    /// </param>
    /// <param name="position">The position after the last change that the consumer has processed. It may be before the stored one.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="ChangesLostException">Changes after the position have been deleted, or it belongs to another feed.</exception>
    /// <inheritdoc cref="CreateFeed"/>
    public static void SetPosition(this WriteTransaction transaction, string feed, string consumer, ChangePosition position)
    {
        var registry = new FeedRegistry(transaction);
        var record = registry.Get(feed);
        var key = FeedKeys.Consumer(record.Number, SchemaKeys.Encode(consumer, "a consumer"));
        var resolved = registry.Resolve(feed, record, position, transaction.TransactionId);
        FeedEditor.OpenFeeds(transaction).Put(key, FeedRegistry.ToBytes(resolved));
    }

    /// <summary>Removes a consumer, which then no longer holds back changes; false if the feed has none of that name.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="consumer">The name of the consumer.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <inheritdoc cref="CreateFeed"/>
    public static bool RemoveConsumer(this WriteTransaction transaction, string feed, string consumer)
    {
        var record = new FeedRegistry(transaction).Get(feed);
        return FeedEditor.OpenFeeds(transaction).Delete(FeedKeys.Consumer(record.Number, SchemaKeys.Encode(consumer, "a consumer")));
    }

    /// <summary>Returns the position that a consumer has set; false if the feed has none of that name.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="consumer">The name of the consumer.</param>
    /// <param name="position">The position; <see cref="ChangePosition.Start"/> if there is none.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="ArgumentException">A name is empty, too long, or not valid text.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static bool TryGetPosition(this ReadTransaction transaction, string feed, string consumer, out ChangePosition position) =>
        TryGetPosition(new FeedRegistry(transaction), feed, consumer, out position);

    /// <inheritdoc cref="TryGetPosition(ReadTransaction, string, string, out ChangePosition)"/>
    public static bool TryGetPosition(this WriteTransaction transaction, string feed, string consumer, out ChangePosition position) =>
        TryGetPosition(new FeedRegistry(transaction), feed, consumer, out position);

    /// <summary>
    /// Returns the position after the last change in a snapshot. A consumer that begins with a copy of the snapshot's data continues from there. If
    /// the snapshot contains lazy commits that are not durable yet, they are made durable first.
    /// </summary>
    /// <param name="transaction">The snapshot.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static ChangePosition GetNewestPosition(this ReadTransaction transaction, string feed)
    {
        transaction.MakeDurable();
        return NewestOf(new FeedRegistry(transaction), feed);
    }

    /// <summary>
    /// Returns the position after the last change, including changes recorded by this transaction. The position is valid once the transaction is
    /// durable. If it is rolled back, or was lazy and is lost in a crash, the position must not be used: later changes may be before it.
    /// </summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <inheritdoc cref="GetNewestPosition(ReadTransaction, string)"/>
    public static ChangePosition GetNewestPosition(this WriteTransaction transaction, string feed) => NewestOf(new FeedRegistry(transaction), feed);

    /// <summary>
    /// Returns all feeds, in the order of the UTF-8 bytes of their names. If the snapshot contains lazy commits that are not durable yet, they are
    /// made durable first.
    /// </summary>
    /// <param name="transaction">The snapshot.</param>
    /// <exception cref="CorruptionException">A feed is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static IReadOnlyList<FeedInfo> GetFeeds(this ReadTransaction transaction)
    {
        transaction.MakeDurable();
        return List(new FeedRegistry(transaction));
    }

    /// <summary>Returns all feeds, including the changes of the transaction, in the order of the UTF-8 bytes of their names.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <inheritdoc cref="GetFeeds(ReadTransaction)"/>
    public static IReadOnlyList<FeedInfo> GetFeeds(this WriteTransaction transaction) => List(new FeedRegistry(transaction));

    private static List<FeedInfo> List(in FeedRegistry registry)
    {
        var feeds = new List<FeedInfo>();
        foreach (var name in registry.Names())
            feeds.Add(registry.Describe(name, registry.Get(name)));
        return feeds;
    }

    /// <summary>
    /// Deletes the changes that exceed the age or size limits of their feeds, and waits until they are deleted. The environment does the same in the
    /// background while changes are recorded, unless <see cref="StorageOptions.BackgroundFlush"/> is off.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="cancellationToken">Cancels the call. What was deleted stays deleted.</param>
    /// <returns>The number of changes deleted.</returns>
    /// <exception cref="CorruptionException">A feed is damaged.</exception>
    /// <exception cref="StorageFullException">There is no space for the transaction that deletes them.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<long> TrimFeedsAsync(this StorageEnvironment environment, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        return environment.TrimFeedsNowAsync(cancellationToken);
    }

    private static bool TryGetPosition(FeedRegistry registry, string feed, string consumer, out ChangePosition position)
    {
        var record = registry.Get(feed);
        return registry.TryGetPosition(record, consumer, out position);
    }

    private static ChangePosition NewestOf(FeedRegistry registry, string feed)
    {
        var record = registry.Get(feed);
        return registry.NewestOf(feed, record);
    }

    private static WriteTree? FindTree(WriteTransaction transaction, string name)
    {
        var tree = transaction.FindTreeToRecord(name, out var otherKind);
        if (otherKind != null)
        {
            throw new InvalidOperationException(
                $"A feed records trees of keys and values, and tables, only: the tree '{name}' in '{transaction.DataFilePath}' is " +
                $"{otherKind}. Write what its consumers need to a tree or a table as well, and record that.");
        }

        return tree;
    }
}
