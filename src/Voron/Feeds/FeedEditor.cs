using System.Buffers.Binary;
using System.Text;
using Voron.Recording;
using Voron.Tables;
using Voron.Trees;

namespace Voron.Feeds;

/// <summary>Creates and deletes feeds, and their sources.</summary>
/// <param name="transaction">The transaction.</param>
internal readonly struct FeedEditor(WriteTransaction transaction)
{
    private const ushort FirstFeed = 1;

    /// <summary>Opens or creates the feed tree.</summary>
    public static WriteTree OpenFeeds(WriteTransaction transaction) => transaction.CreateSystemTree(SystemTree.Feeds);

    /// <summary>Opens the rows of a table; null if it does not exist.</summary>
    public static WriteTree? FindRows(WriteTransaction transaction, string table)
    {
        if (new SystemTreeAccess(transaction).FindSchema(table, SchemaKeys.Table(table)) is not { } schema)
            return null;
        return transaction.FindSystemTree(SystemTree.RowsName(schema.Id)) ?? throw new CorruptionException(
            $"The rows of table '{table}' are missing in '{transaction.DataFilePath}'. Run Verify, or restore a backup.");
    }

    /// <summary>Creates a feed, or changes its options.</summary>
    public void Create(string name, byte[] key, FeedOptions? options)
    {
        var feeds = OpenFeeds(transaction);
        if (new FeedRegistry(transaction).TryGet(feeds, name, out var feed))
        {
            if (options == null || options == FeedRegistry.ToOptions(feed))
                return;
            var isSameLimit = feed.MaxValueBytes == options.MaxValueBytes;
            feeds.Put(key, With(feed, options).ToBytes());
            if (!isSameLimit)
                ChangeLimit(feeds, feed.Number, options.MaxValueBytes);
            return;
        }

        feed = new FeedRecord
        {
            Form = FeedRecord.CurrentForm,
            Number = TakeNumber(feeds),
            Stamp = NewStamp(),
            CreatedId = transaction.TransactionId,
        };
        transaction.CreateSystemTree(SystemTree.ChangesName(feed.Number, stackalloc byte[SystemTree.ChangesNameBytes]));
        feeds.Put(key, With(feed, options ?? new FeedOptions()).ToBytes());
    }

    /// <summary>Deletes a feed.</summary>
    public bool Delete(string name)
    {
        var registry = new FeedRegistry(transaction);
        if (!registry.TryGet(name, out var feed))
            return false;
        var feeds = OpenFeeds(transaction);
        var treeIds = TreesOf(feeds, feed.Number).Select(tree => tree.Id).ToHashSet();
        foreach (var (_, source, sourceName) in registry.Sources(feed))
        {
            // Another feed may now record the tree of a source that has ended.
            if (source.EndedId != 0 || Find(source, sourceName) is not { } tree)
                continue;
            transaction.UnmarkRecorded(tree);
            feeds.Delete(FeedKeys.Tree(source.TreeId));
            treeIds.Remove(source.TreeId);
        }

        // Trees whose source records are damaged are still marked.
        foreach (var treeId in treeIds)
        {
            if (transaction.FindTree(treeId) is { } tree)
                transaction.UnmarkRecorded(tree);
            feeds.Delete(FeedKeys.Tree(treeId));
        }

        feeds.DeleteRange(KeyRange.Prefix(FeedKeys.Sources(feed.Number)));
        feeds.DeleteRange(KeyRange.Prefix(FeedKeys.Consumers(feed.Number)));
        feeds.Delete(FeedKeys.NextSource(feed.Number, stackalloc byte[FeedKeys.NextSourceBytes]));
        feeds.Delete(FeedRegistry.FeedKey(name));
        transaction.DeleteSystemTree(SystemTree.ChangesName(feed.Number, stackalloc byte[SystemTree.ChangesNameBytes]));
        return true;
    }

    /// <summary>Records the changes of a tree from here on.</summary>
    /// <exception cref="InvalidOperationException">Another feed records them.</exception>
    public void Record(string name, FeedRecord feed, WriteTree tree, FeedSource source, RecordedContent content)
    {
        var wanted = TreeRecording.Of(feed.Number, source.IsTable, (byte)content, feed.MaxValueBytes);
        if (tree.IsRecorded)
        {
            if (!TryGetCurrent(tree, out var current))
                throw Unknown(tree);
            if (current.Feed != feed.Number)
            {
                throw new InvalidOperationException(
                    $"The feed '{name}' cannot record the {source} in '{transaction.DataFilePath}', because the feed '{NameOf(current.Feed)}' does. Stop " +
                    $"that first, with {(source.IsTable ? nameof(FeedTransactions.StopRecordingTable) : nameof(FeedTransactions.StopRecordingTree))}.");
            }

            if (current.Parts == wanted.Parts)
                return;
            Stop(tree);
        }

        transaction.StartRecording(tree, wanted, Encoding.UTF8.GetBytes(source.Name));
    }

    /// <summary>Stops recording the changes of a tree; false if none were recorded.</summary>
    public bool Stop(WriteTree tree)
    {
        if (!tree.IsRecorded)
            return false;
        if (!TryGetCurrent(tree, out var current))
        {
            // The entry is damaged or missing: without the mark, the tree can be used again.
            transaction.UnmarkRecorded(tree);
            return true;
        }

        transaction.StopRecording(tree, current.Feed, current.Source);
        return true;
    }

    private static FeedRecord With(FeedRecord feed, FeedOptions options)
    {
        feed.MaxAgeTicks = options.MaxAge == Timeout.InfiniteTimeSpan ? long.MaxValue : options.MaxAge.Ticks;
        feed.MaxBytes = options.MaxBytes;
        feed.HoldLimitBytes = options.HoldLimitBytes;
        feed.MaxValueBytes = options.MaxValueBytes;
        return feed;
    }

    private static long NewStamp() => BinaryPrimitives.ReadInt64LittleEndian(Guid.NewGuid().ToByteArray()) | 1;

    private static ushort TakeNumber(WriteTree feeds)
    {
        var number = feeds.TryGet(FeedKeys.NextFeed, out var bytes) && bytes.Length == sizeof(ushort)
            ? BinaryPrimitives.ReadUInt16LittleEndian(bytes)
            : FirstFeed;
        if (number == ushort.MaxValue)
        {
            throw new StorageFullException(
                $"No feed can be created: the environment has used all {ushort.MaxValue - 1} feed numbers, and reuses none.");
        }

        Span<byte> next = stackalloc byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16LittleEndian(next, (ushort)(number + 1));
        feeds.Put(FeedKeys.NextFeed, next);
        return number;
    }

    private static List<(uint Id, TreeRecording Recording)> TreesOf(WriteTree feeds, ushort feed)
    {
        var trees = new List<(uint, TreeRecording)>();
        foreach (var entry in feeds.Prefix(FeedKeys.Trees))
        {
            if (TreeRecording.TryRead(entry.Value, out var recording) && recording.Feed == feed)
                trees.Add((FeedKeys.TreeId(entry.Key), recording));
        }

        return trees;
    }

    private string NameOf(ushort feed)
    {
        var registry = new FeedRegistry(transaction);
        return registry.Names().Find(name => registry.Get(name).Number == feed) ?? $"{feed}";
    }

    private bool TryGetCurrent(WriteTree tree, out TreeRecording current)
    {
        current = default;
        return OpenFeeds(transaction).TryGet(FeedKeys.Tree(tree.TreeId), out var bytes) && TreeRecording.TryRead(bytes, out current);
    }

    private CorruptionException Unknown(WriteTree tree) => new(
        $"The {tree.Description} in '{transaction.DataFilePath}' is marked as recorded, but no feed has it. Stop recording it, and record it again.");

    // The recording of a tree contains the limit of its feed.
    private void ChangeLimit(WriteTree feeds, ushort feed, int maxValueBytes)
    {
        foreach (var (treeId, recording) in TreesOf(feeds, feed))
            feeds.Put(FeedKeys.Tree(treeId), (recording with { MaxValueBytes = maxValueBytes }).ToBytes());
        transaction.NoteRecordingsChanged();
    }

    // A source that has not ended has the same name as its tree.
    private WriteTree? Find(SourceRecord source, string name)
    {
        var tree = source.IsTable ? FindRows(transaction, name) : transaction.TryOpenTree(name, out var found) ? found : null;
        return tree?.TreeId == source.TreeId ? tree : null;
    }
}

/// <summary>The content that a feed records for a change in addition to the key.</summary>
[Flags]
public enum RecordedContent
{
    /// <summary>The key alone.</summary>
    KeysOnly = 0,

    /// <summary>The value or the row after the change.</summary>
    NewValues = 1,

    /// <summary>The row before the change. Only changes of tables contain it.</summary>
    OldValues = 2,
}
