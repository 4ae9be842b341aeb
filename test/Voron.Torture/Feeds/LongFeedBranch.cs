using Voron.Feeds;
using Voron.Torture.Crashes;
using Voron.Torture.Model;
using Voron.Torture.Recorded;

namespace Voron.Torture.Feeds;

/// <summary>
/// An environment whose feed becomes larger than a step of the retention and is cut in the background, and its contents so far.
/// </summary>
internal sealed class LongFeedBranch : IDisposable
{
    /// <summary>The name of the consumer that no cut may pass.</summary>
    public const string Named = "named";

    private const long MaxFeedBytes = 5 << 20;
    private const int FirstLargeKey = 1_000;
    private const int LargeKeys = 300;

    private readonly SortedList<long, RecordedData> _contents = [];
    private readonly Random _random;

    public LongFeedBranch(string directory, Random random)
    {
        _random = random;
        Environment = StorageEnvironment.Open(directory, new StorageOptions
        {
            InitialJournalFileBytes = 1 << 20,
            ScratchMemoryBytes = 16 << 20,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        });
    }

    public StorageEnvironment Environment { get; }

    /// <summary>The number of commits.</summary>
    public int Commits { get; private set; }

    /// <summary>Opens a restored environment, which continues with the content that it has.</summary>
    public LongFeedBranch Fork(string directory)
    {
        var fork = new LongFeedBranch(directory, _random);
        using var reading = fork.Environment.BeginRead();
        foreach (var (id, content) in _contents.Where(known => known.Key <= reading.TransactionId))
            fork._contents.Add(id, content);
        return fork;
    }

    /// <summary>Returns the content as of a transaction. Those that cut the feed leave it as it was.</summary>
    public RecordedData ContentOf(long transactionId)
    {
        for (var i = _contents.Count - 1; i >= 0; i--)
        {
            if (_contents.Keys[i] <= transactionId)
                return _contents.Values[i];
        }

        return RecordedData.Empty;
    }

    /// <summary>Makes some changes in a transaction; in one of three, more than a consumer gets at once.</summary>
    /// <param name="change">Makes further changes in the same transaction.</param>
    public void Commit(Action<WriteTransaction>? change = null)
    {
        using var writing = Environment.BeginWrite();
        var content = ContentOf(writing.TransactionId);
        for (var i = _random.Next(1, 6); i > 0; i--)
        {
            var drawn = RecordedChange.Draw(_random);
            drawn.ApplyTo(writing, content, MaxFeedBytes);
            content = drawn.ApplyTo(content);
        }

        if (_random.Next(3) == 0)
            content = PutLarge(writing, content);
        change?.Invoke(writing);
        var id = writing.TransactionId;
        writing.Commit();
        // A transaction that changes nothing has the number of the next one.
        _contents[id] = content;
        Commits++;
    }

    /// <summary>Trims the feed, which no consumer holds back any more.</summary>
    public void Trim()
    {
        Commit(writing =>
        {
            writing.RemoveConsumer(RecordedStore.Feed, Named);
            writing.RemoveConsumer(RecordedStore.Feed, RecordedStore.Consumer);
        });
        _ = Environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult();
        var info = Info();
        if (info.Bytes > MaxFeedBytes)
            throw new ModelMismatchException($"the feed has {info.Bytes} bytes after it was cut to {MaxFeedBytes}");
    }

    public FeedInfo Info()
    {
        using var reading = Environment.BeginRead();
        return reading.GetFeeds().Single();
    }

    /// <summary>Verifies everything.</summary>
    public void Check()
    {
        ContentCheck.Verify(Environment);
        if (RecordedCheck.FindFault(Environment) is { } fault)
            throw new ModelMismatchException(fault);
    }

    public void Dispose() => Environment.Dispose();

    private RecordedData PutLarge(WriteTransaction writing, RecordedData content)
    {
        var tree = writing.OpenTree(RecordedStore.TreeName);
        var entries = content.Entries.ToBuilder();
        var number = _random.Next(1 << 20);
        for (var i = 0; i < LargeKeys; i++)
        {
            // Each of these numbers has a long body.
            entries[FirstLargeKey + i] = ((number + i) << 4) | 15;
            tree.Put(RecordedStore.KeyOf(FirstLargeKey + i), RecordedRow.ValueOf(entries[FirstLargeKey + i]));
        }

        return content.WithEntries(entries.ToImmutable());
    }
}
