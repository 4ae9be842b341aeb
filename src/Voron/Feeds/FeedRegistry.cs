using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Unicode;
using Voron.Recording;
using Voron.Tables;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Feeds;

/// <summary>The feeds of an environment as a transaction sees them.</summary>
/// <param name="trees">The transaction.</param>
/// <param name="lineage">The numbers of the history to which the environment belongs, and of that from which it has forked.</param>
internal readonly struct FeedRegistry(SystemTreeAccess trees, (long Own, long Parent, long ForkTransactionId) lineage)
{
    private const int PositionBytes = sizeof(long) + sizeof(uint);

    public FeedRegistry(ReadTransaction transaction)
        : this(new SystemTreeAccess(transaction), transaction.LineageStamps)
    {
    }

    public FeedRegistry(WriteTransaction transaction)
        : this(new SystemTreeAccess(transaction), transaction.LineageStamps)
    {
    }

    public string DataFilePath => trees.DataFilePath;

    /// <summary>Returns the key of a feed.</summary>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    public static byte[] FeedKey(string name) => FeedKeys.Feed(SchemaKeys.Encode(name, "a feed"));

    /// <summary>Opens the feed tree; false if it does not exist.</summary>
    public bool TryOpen(out Tree feeds) => trees.TryOpen(SystemTree.Feeds, out feeds);

    /// <summary>Returns a feed.</summary>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    public FeedRecord Get(string name) => TryGet(name, out var feed) ? feed : throw Missing(name);

    /// <summary>Returns a feed; false if it does not exist.</summary>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    public bool TryGet(string name, out FeedRecord feed)
    {
        feed = default;
        return TryOpen(out var feeds) && TryGet(feeds, name, out feed);
    }

    /// <inheritdoc cref="TryGet(string, out FeedRecord)"/>
    public bool TryGet(Tree feeds, string name, out FeedRecord feed)
    {
        feed = default;
        if (!feeds.TryGet(FeedKey(name), out var bytes))
            return false;
        return FeedRecord.TryRead(bytes, out feed) ? true : throw Damaged(name);
    }

    /// <summary>Lists the names of all feeds.</summary>
    /// <exception cref="CorruptionException">The name of a feed is damaged.</exception>
    public List<string> Names()
    {
        var names = Names(out var damage);
        return damage == null ? names : throw damage;
    }

    /// <summary>Lists the names of all feeds, and leaves out damaged names.</summary>
    /// <param name="damage">The exception for a damaged name; null if there is none.</param>
    public List<string> Names(out CorruptionException? damage)
    {
        damage = null;
        var names = new List<string>();
        if (!TryOpen(out var feeds))
            return names;
        foreach (var entry in feeds.Prefix(FeedKeys.Feeds))
        {
            var name = entry.Key[FeedKeys.Feeds.Length..];
            if (name.IsEmpty || name.Length > SchemaKeys.MaxNameBytes || !Utf8.IsValid(name))
                damage = new CorruptionException($"The name {KeyText.Of(name)} of a feed in '{DataFilePath}' is damaged. Run Verify, or restore a backup.");
            else
                names.Add(Encoding.UTF8.GetString(name));
        }

        return names;
    }

    /// <summary>Opens the changes of a feed.</summary>
    /// <exception cref="CorruptionException">The tree is missing.</exception>
    public Tree OpenChanges(string name, in FeedRecord feed) =>
        trees.TryOpen(SystemTree.ChangesName(feed.Number, stackalloc byte[SystemTree.ChangesNameBytes]), out Tree changes)
            ? changes
            : throw new CorruptionException($"The changes of feed '{name}' are missing in '{DataFilePath}'. Run Verify, or restore a backup.");

    /// <summary>Returns the stamp of a feed's positions.</summary>
    public long StampOf(in FeedRecord feed) => feed.Stamp ^ lineage.Own;

    /// <summary>Returns the oldest position after which the feed contains all changes.</summary>
    public ChangePosition OldestOf(in FeedRecord feed) =>
        feed.CutId == 0 ? new ChangePosition(feed.CreatedId, 0, StampOf(feed)) : new ChangePosition(feed.CutId, feed.CutOrdinal, StampOf(feed));

    /// <summary>Returns the position after the last change of a feed.</summary>
    public ChangePosition NewestOf(string name, in FeedRecord feed)
    {
        var oldest = OldestOf(feed);
        if (!OpenChanges(name, feed).TryGetLast(out var last))
            return oldest;
        if (!ChangeRecord.TryReadKey(last.Key, out var transactionId, out var ordinal))
            throw DamagedChange(name, last.Key);
        return new ChangePosition(transactionId, ordinal, StampOf(feed));
    }

    /// <summary>Checks that a feed contains all changes after a position, and returns the position as one of this environment.</summary>
    /// <param name="name">The name of the feed.</param>
    /// <param name="feed">The feed.</param>
    /// <param name="position">The position.</param>
    /// <param name="transactionId">The newest known transaction.</param>
    /// <exception cref="ChangesLostException">Changes after the position are lost, or the position belongs to another feed.</exception>
    public ChangePosition Resolve(string name, in FeedRecord feed, ChangePosition position, long transactionId)
    {
        var oldest = OldestOf(feed);
        if (position == ChangePosition.Start)
        {
            return feed.CutId == 0
                ? oldest
                : throw new ChangesLostException(name, position, oldest, "its first changes have been deleted.");
        }

        var isOfParent = position.Stamp == (feed.Stamp ^ lineage.Parent)
            && (position.TransactionId <= lineage.ForkTransactionId || PlantedFault.BelieveAllOfParent);
        if (position.Stamp != oldest.Stamp && !isOfParent)
        {
            throw new ChangesLostException(
                name, position, oldest, "the position belongs to another feed, to a deleted one, or to changes that a restored environment lacks.");
        }

        if (position.TransactionId > transactionId)
            throw new ChangesLostException(name, position, oldest, $"the newest transaction here is {transactionId}.");
        if (position < oldest)
            throw new ChangesLostException(name, position, oldest, "they have been deleted.");
        return position with { Stamp = oldest.Stamp };
    }

    /// <summary>Returns the position of a consumer; false if the feed has no consumer of that name.</summary>
    /// <exception cref="CorruptionException">The position is damaged.</exception>
    public bool TryGetPosition(in FeedRecord feed, string consumer, out ChangePosition position)
    {
        position = default;
        var key = FeedKeys.Consumer(feed.Number, SchemaKeys.Encode(consumer, "a consumer"));
        if (!TryOpen(out var feeds) || !feeds.TryGet(key, out var bytes))
            return false;
        position = ReadPosition(key, bytes, feed);
        return true;
    }

    /// <summary>Returns a position as the environment stores it.</summary>
    public static byte[] ToBytes(ChangePosition position)
    {
        var bytes = new byte[PositionBytes];
        MemoryMarshal.Write(bytes, position.TransactionId);
        MemoryMarshal.Write(bytes.AsSpan(sizeof(long)), position.Ordinal);
        return bytes;
    }

    /// <summary>Lists the consumers of a feed.</summary>
    public List<FeedConsumer> Consumers(in FeedRecord feed)
    {
        var consumers = new List<FeedConsumer>();
        if (!TryOpen(out var feeds))
            return consumers;
        foreach (var entry in feeds.Prefix(FeedKeys.Consumers(feed.Number)))
        {
            var position = ReadPosition(entry.Key, entry.Value, feed);
            consumers.Add(new FeedConsumer(Encoding.UTF8.GetString(FeedKeys.ConsumerName(entry.Key)), position));
        }

        return consumers;
    }

    /// <summary>Lists the sources of a feed.</summary>
    public List<(uint Number, SourceRecord Record, string Name)> Sources(in FeedRecord feed)
    {
        var sources = new List<(uint, SourceRecord, string)>();
        if (!TryOpen(out var feeds))
            return sources;
        foreach (var entry in feeds.Prefix(FeedKeys.Sources(feed.Number)))
        {
            if (SourceRecord.TryRead(entry.Value, out var record, out var name))
                sources.Add((FeedKeys.SourceNumber(entry.Key), record, Encoding.UTF8.GetString(name)));
        }

        return sources;
    }

    /// <summary>Returns a source of a feed; false if it has none of that number.</summary>
    public bool TryGetSource(in FeedRecord feed, uint number, [NotNullWhen(true)] out FeedSource? source)
    {
        source = null;
        var key = FeedKeys.Source(feed.Number, number, stackalloc byte[FeedKeys.SourceBytes]);
        if (!TryOpen(out var feeds) || !feeds.TryGet(key, out var bytes) || !SourceRecord.TryRead(bytes, out var record, out var name))
            return false;
        source = new FeedSource(Encoding.UTF8.GetString(name), record.IsTable);
        return true;
    }

    /// <summary>Describes a feed.</summary>
    public FeedInfo Describe(string name, in FeedRecord feed)
    {
        var changes = OpenChanges(name, feed);
        return new FeedInfo
        {
            Name = name,
            Options = ToOptions(feed),
            Changes = changes.Count,
            Bytes = BytesOf(changes),
            Oldest = OldestOf(feed),
            Newest = NewestOf(name, feed),
            Sources =
            [
                .. Sources(feed).Where(source => source.Record.EndedId == 0).Select(source => new FeedSource(source.Name, source.Record.IsTable)),
            ],
            Consumers = Consumers(feed),
        };
    }

    /// <summary>Returns the size in bytes of the tree of a feed's changes.</summary>
    public static long BytesOf(Tree changes)
    {
        var pages = changes.GetStatistics();
        return (pages.LeafPages + pages.BranchPages + pages.OverflowPages) * changes.PageSize;
    }

    public static FeedOptions ToOptions(in FeedRecord feed) => new()
    {
        MaxAge = feed.MaxAgeTicks == long.MaxValue ? Timeout.InfiniteTimeSpan : new TimeSpan(feed.MaxAgeTicks),
        MaxBytes = feed.MaxBytes,
        HoldLimitBytes = feed.HoldLimitBytes,
        MaxValueBytes = feed.MaxValueBytes,
    };

    public CorruptionException DamagedChange(string name, ReadOnlySpan<byte> key) => new(
        $"The change {KeyText.Of(key)} of feed '{name}' in '{DataFilePath}' is damaged. Run Verify, or restore a backup.");

    private KeyNotFoundException Missing(string name) => new(
        $"There is no feed '{name}' in '{DataFilePath}'. {nameof(FeedTransactions.CreateFeed)} creates one in a write transaction.");

    private CorruptionException Damaged(string name) => new(
        $"The feed '{name}' in '{DataFilePath}' is damaged, or was written by a newer engine. Run Verify, or restore a backup.");

    private ChangePosition ReadPosition(ReadOnlySpan<byte> key, ReadOnlySpan<byte> bytes, in FeedRecord feed) => bytes.Length == PositionBytes
        ? new ChangePosition(MemoryMarshal.Read<long>(bytes), MemoryMarshal.Read<uint>(bytes[sizeof(long)..]), StampOf(feed))
        : throw new CorruptionException(
            $"The position of consumer {KeyText.Of(FeedKeys.ConsumerName(key))} in '{DataFilePath}' is damaged. Remove the consumer, or restore a backup.");
}
