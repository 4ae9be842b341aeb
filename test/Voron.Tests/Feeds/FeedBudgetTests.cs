using System.Collections.Concurrent;
using Voron.Feeds;
using Voron.Tests.Faults;

namespace Voron.Tests.Feeds;

/// <summary>How many bytes a recorded change adds to the journal, without compression, and that recording and reading allocate nothing.</summary>
[Collection(nameof(Alone))]
public sealed class FeedBudgetTests : IDisposable
{
    private const int Keys = 2_000;
    private const string Plain = "plain";

    private static readonly byte[][] Names = [.. Enumerable.Range(0, Keys).Select(FaultTestKit.Key)];

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;
    private readonly ConcurrentDictionary<long, long> _journalBytes = new();

    public FeedBudgetTests()
    {
        var options = FeedKit.Options();
        options.JournalCompression = JournalCompression.Never;
        options.CommitObserver = report => _journalBytes[report.TransactionId] = report.JournalBytes;
        _environment = StorageEnvironment.Open(_directory.Path, options);
        _environment.Record();
        _environment.Record(RecordedContent.KeysOnly, feed: "keys", tree: "keys");
        foreach (var name in new[] { Plain, FeedKit.TreeName, "keys" })
            Put(name, 1);
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    // A change has its own key of 12 bytes, 4 bytes for the operation, the source and a length, the key of 6 and the value of 50. It is appended
    // to the last leaf of the feed, so the journal has it once.
    [Theory]
    [InlineData(FeedKit.TreeName, 85)]
    [InlineData("keys", 30)]
    public void A_recorded_put_adds_its_change(string tree, int most)
    {
        var plain = Put(Plain, 2);
        var recorded = Put(tree, 2);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes unrecorded, {recorded} recorded");
        (recorded - plain).Should().BeInRange(20, most);
    }

    [Fact]
    public void A_single_recorded_put_takes_no_more_blocks_of_the_journal()
    {
        var plain = PutOne(Plain);
        var recorded = PutOne(FeedKit.TreeName);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes unrecorded, {recorded} recorded");
        recorded.Should().Be(plain);
    }

    [Fact]
    public void Recorded_puts_allocate_nothing_of_their_own()
    {
        var value = FaultTestKit.Value(1, 50);
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenTree(FeedKit.TreeName);
        Round();
        Round();
        var before = GC.GetAllocatedBytesForCurrentThread();
        Round();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        allocated.Should().BeLessThanOrEqualTo(Keys, "at most a quarter of a byte an operation");

        void Round()
        {
            for (var i = 0; i < Keys; i++)
            {
                tree.Put(Names[i], value);
                tree.Exchange(Names[i], value, Discard.One);
                tree.Delete(Names[i]);
                tree.Insert(Names[i], value);
            }
        }
    }

    [Fact]
    public void A_batch_that_is_filled_again_allocates_little()
    {
        var batch = new ChangeBatch();
        using var reading = _environment.BeginRead();
        ReadAll();
        var before = GC.GetAllocatedBytesForCurrentThread();
        var changes = ReadAll();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        changes.Should().BeGreaterThan(Keys);
        allocated.Should().BeLessThanOrEqualTo(8_192, "a batch copies into the memory that it has");

        int ReadAll()
        {
            var count = 0;
            var position = ChangePosition.Start;
            while (reading.ReadChanges(FeedKit.Feed, position, batch))
            {
                foreach (var change in batch)
                    count += change.Key.IsEmpty ? 0 : 1;
                position = batch.Position;
            }

            return count + 1;
        }
    }

    private long Put(string name, int seed)
    {
        var value = FaultTestKit.Value(seed, 50);
        return Measure(writing =>
        {
            var tree = writing.OpenTree(name);
            foreach (var key in Names)
                tree.Put(key, value);
        }) / Keys;
    }

    private long PutOne(string name) => Measure(writing => writing.OpenTree(name).Put(Names[7], FaultTestKit.Value(3, 50)));

    private long Measure(Action<WriteTransaction> change)
    {
        using var writing = _environment.BeginWrite();
        var id = writing.TransactionId;
        if (!writing.TryOpenTree(Plain, out _))
            writing.CreateTree(Plain);
        change(writing);
        writing.Commit();

        // The observer is called by another thread.
        long bytes = 0;
        SpinWait.SpinUntil(() => _journalBytes.TryGetValue(id, out bytes), TimeSpan.FromSeconds(30)).Should().BeTrue();
        return bytes;
    }

    /// <summary>Takes old values, and keeps none.</summary>
    private sealed class Discard : System.Buffers.IBufferWriter<byte>
    {
        public static readonly Discard One = new();

        private readonly byte[] _buffer = new byte[1_000];

        public void Advance(int count)
        {
        }

        public Memory<byte> GetMemory(int sizeHint = 0) => _buffer;

        public Span<byte> GetSpan(int sizeHint = 0) => _buffer;
    }
}
