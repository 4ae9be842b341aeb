using System.Buffers.Binary;
using Voron.Recording;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Changes the sources of feeds, in the feeds tree.</summary>
/// <param name="pages">The pages of the write transaction.</param>
/// <param name="feeds">The feeds tree.</param>
internal readonly struct SourceEditor(CopyOnWritePages pages, TreeState feeds)
{
    /// <summary>Gives a tree a separate source, whose changes are recorded from here on.</summary>
    /// <param name="treeId">The tree.</param>
    /// <param name="record">How its changes are recorded. The source number is assigned here.</param>
    /// <param name="name">The name of the tree or table in UTF-8.</param>
    /// <exception cref="StorageFullException">There is not enough space, or the feed has used all source numbers.</exception>
    public void Add(uint treeId, TreeRecording record, ReadOnlySpan<byte> name)
    {
        record.Source = TakeNumber(record.Feed);
        var source = new SourceRecord { IsTable = record.IsTable, Parts = record.Parts, TreeId = treeId };
        Save(record.Feed, record.Source, source.ToBytes(name));
        TreeWriter.Put(pages, feeds, FeedKeys.Tree(treeId, stackalloc byte[FeedKeys.TreeBytes]), record.ToBytes());
    }

    /// <summary>Notes that no more changes of a source are recorded. It remains as long as the feed contains its changes.</summary>
    public void End(ushort feed, uint source, long transactionId)
    {
        var key = FeedKeys.Source(feed, source, stackalloc byte[FeedKeys.SourceBytes]);
        if (!TreeReader.TryGet(feeds, pages, key, out var bytes) || !SourceRecord.TryRead(bytes, out var record, out var name))
            throw new CorruptionException($"Source {source} of feed {feed} in '{pages.FilePath}' is missing or damaged. Run Verify, or restore a backup.");
        record.EndedId = transactionId;
        Save(feed, source, record.ToBytes(name.ToArray()));
    }

    /// <summary>Forgets that the changes of a tree were recorded.</summary>
    public void Forget(uint treeId) => TreeWriter.Delete(pages, feeds, FeedKeys.Tree(treeId, stackalloc byte[FeedKeys.TreeBytes]));

    private void Save(ushort feed, uint source, byte[] bytes) =>
        TreeWriter.Put(pages, feeds, FeedKeys.Source(feed, source, stackalloc byte[FeedKeys.SourceBytes]), bytes);

    private uint TakeNumber(ushort feed)
    {
        var key = FeedKeys.NextSource(feed, stackalloc byte[FeedKeys.NextSourceBytes]);
        var number = TreeReader.TryGet(feeds, pages, key, out var bytes) && bytes.Length == sizeof(uint)
            ? BinaryPrimitives.ReadUInt32LittleEndian(bytes)
            : 1;
        if (number == uint.MaxValue)
            throw new StorageFullException($"Feed {feed} of '{pages.FilePath}' has used all {number} source numbers. Create another feed.");
        Span<byte> next = stackalloc byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(next, number + 1);
        TreeWriter.Put(pages, feeds, key, next);
        return number;
    }
}
