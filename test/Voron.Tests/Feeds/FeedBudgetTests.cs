using Voron.Feeds;
using Voron.Format;
using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Journal;
using Voron.Tests.Tables;

namespace Voron.Tests.Feeds;

/// <summary>
/// How many bytes a recorded change adds to the journal, without compression, and that recording and reading allocate nothing.
/// Alone, because collections that other tests cause empty pools, which are then filled again.
/// </summary>
[Collection(nameof(Alone))]
public sealed class FeedBudgetTests : IDisposable
{
    private const int Keys = 2_000;
    private const int Consumers = 200;
    private const string Plain = "plain";

    private static readonly byte[][] Names = [.. Enumerable.Range(0, Keys).Select(FaultTestKit.Key)];

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public FeedBudgetTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options().Uncompressed());
        _environment.Write(static writing => writing.CreateTree(Plain));
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

    // The change has no value: its own key, 4 bytes, and the key of 6.
    [Theory]
    [InlineData(FeedKit.TreeName)]
    [InlineData("keys")]
    public void A_recorded_deletion_adds_its_change(string tree)
    {
        var plain = Delete(Plain);
        JournalMeter.MustFit(Delete(tree) - plain, 1, 30);
    }

    // One change, with both bounds, whatever the range has. The rest is the map of free pages: those of the feed lie between those of the tree.
    [Fact]
    public void A_recorded_range_adds_one_change()
    {
        var plain = DeleteRange(Plain);
        JournalMeter.MustFit(DeleteRange(FeedKit.TreeName) - plain, 1, 680);
    }

    [Theory]
    [InlineData(RecordedContent.KeysOnly, 33)]
    [InlineData(RecordedContent.NewValues, 108)]
    [InlineData(RecordedContent.NewValues | RecordedContent.OldValues, 183)]
    public void A_recorded_row_adds_its_key_and_what_is_wanted_of_it(RecordedContent content, int most)
    {
        var (plain, recorded) = (Define("plain rows"), Define("rows"));
        foreach (var definition in new[] { plain, recorded })
            Upsert(definition, 0);
        _environment.Write(writing => writing.RecordTable(FeedKit.Feed, "rows", content));
        var unrecorded = Upsert(plain, 1);
        JournalMeter.MustFit(Upsert(recorded, 1) - unrecorded, 1, most);

        static TableDefinition<string, Item> Define(string name) =>
            TableDefinition.Create(name, 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id);
    }

    // The position of a consumer is a record of its own, which exists from the second time on.
    [Fact]
    public void A_position_writes_the_bytes_that_change()
    {
        var position = _environment.Newest();
        _environment.Write(writing =>
        {
            for (var i = 0; i < Consumers; i++)
                writing.SetPosition(FeedKit.Feed, $"consumer {i}", ChangePosition.Start);
        });
        _environment.MustJournal(Consumers, 10.7, writing =>
        {
            for (var i = 0; i < Consumers; i++)
                writing.SetPosition(FeedKit.Feed, $"consumer {i}", position);
        });
    }

    [Fact]
    public void A_single_recorded_put_takes_no_more_blocks_of_the_journal()
    {
        var plain = PutOne(Plain);
        var recorded = PutOne(FeedKit.TreeName);
        TestContext.Current.TestOutputHelper?.WriteLine($"{plain} bytes unrecorded, {recorded} recorded");
        JournalFormat.AlignUp(recorded).Should().Be(JournalFormat.AlignUp(plain));
    }

    [Fact]
    public void Recorded_puts_allocate_nothing_of_their_own()
    {
        var value = FaultTestKit.Value(1, 50);
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenTree(FeedKit.TreeName);
        Round();
        Round();
        var allocated = ManagedAllocation.Least(Round);
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

    private long Upsert(TableDefinition<string, Item> definition, int size) => _environment.Journaled(writing =>
    {
        var table = writing.CreateTable(definition);
        for (var i = 0; i < Keys; i++)
            table.Upsert(new Item($"row {i:D5}", "section", size, "source") { Text = "some text" });
    }) / Keys;

    private long Put(string name, int seed)
    {
        var value = FaultTestKit.Value(seed, 50);
        return _environment.Journaled(writing =>
        {
            var tree = writing.OpenTree(name);
            foreach (var key in Names)
                tree.Put(key, value);
        }) / Keys;
    }

    private long PutOne(string name) => _environment.Journaled(writing => writing.OpenTree(name).Put(Names[7], FaultTestKit.Value(3, 50)));

    private long Delete(string name) => _environment.Journaled(writing =>
    {
        var tree = writing.OpenTree(name);
        for (var i = 0; i < Keys; i += 2)
            tree.Delete(Names[i]).Should().BeTrue();
    }) / (Keys / 2);

    private long DeleteRange(string name) => _environment.Journaled(writing =>
        writing.OpenTree(name).DeleteRange(KeyRange.From(Names[10]).Before(Names[^10])).Should().Be(Keys - 20));

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
