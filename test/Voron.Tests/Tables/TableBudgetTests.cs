using System.Collections.Concurrent;
using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>How many bytes each operation of a table writes to the journal, without compression, and that it allocates nothing of its own.</summary>
[Collection(nameof(Alone))]
public sealed class TableBudgetTests : IDisposable
{
    private const int Rows = 2_000;

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;
    private readonly Numbered[] _rows =
        [.. Enumerable.Range(0, Rows).Select(static i => new Numbered { Id = i, Group = i % 50, Text = $"text of row {i:00000}" })];

    private readonly ConcurrentDictionary<long, long> _journalBytes = new();

    private static readonly TableDefinition<long, Numbered> Definition = TableDefinition
        .Create("numbered", 1, new NumberedCodec(), KeyCodec.Int64, static (Numbered row) => row.Id)
        .Index("group", 1, static (in Numbered row, ref IndexKeys keys) => keys.Add(row.Group))
        .UniqueIndex("both", 1, static (in Numbered row, ref IndexKeys keys) => keys.Begin().Add(row.Group).Add(row.Id));

    public TableBudgetTests()
    {
        var options = FaultTestKit.Options();
        options.JournalCompression = JournalCompression.Never;
        options.CommitObserver = report => _journalBytes[report.TransactionId] = report.JournalBytes;
        _environment = StorageEnvironment.Open(_directory.Path, options);
        _environment.Write(writing => writing.CreateTable(Definition).InsertMany(_rows.AsSpan(0, Rows / 2)));
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    // A row has 47 bytes. Its keys have 8, 4 and 12 bytes, and each entry has a slot, its lengths and a row id. The pages that are divided add
    // the rest: a new page is journaled as a whole.
    [Fact]
    public void Rows_that_are_appended_write_themselves_and_their_keys()
    {
        Measure(Rows / 2, table => table.InsertMany(_rows.AsSpan(Rows / 2))).Should().BeLessThanOrEqualTo(260);
    }

    [Fact]
    public void A_number_that_no_index_has_writes_itself_and_the_version()
    {
        Measure(Rows / 4, table =>
        {
            for (var i = 0; i < Rows / 4; i++)
            {
                var row = _rows[i * 7919 % (Rows / 2)];
                row.Count++;
                table.Upsert(row);
            }
        }).Should().BeLessThanOrEqualTo(40);
    }

    [Fact]
    public void A_key_that_changes_writes_to_its_index_alone()
    {
        Measure(Rows / 4, table =>
        {
            for (var i = 0; i < Rows / 4; i++)
            {
                var row = _rows[i * 7919 % (Rows / 2)];
                row.Group = (row.Group + 7) % 50;
                table.Upsert(row);
            }
        }).Should().BeLessThanOrEqualTo(170);
    }

    [Fact]
    public void A_row_that_does_not_change_writes_nothing()
    {
        using var writing = _environment.BeginWrite();
        var (id, table) = (writing.TransactionId, writing.OpenTable(Definition));
        foreach (var row in _rows.AsSpan(0, Rows / 2))
            table.Upsert(row);
        writing.Commit();
        using var next = _environment.BeginWrite();
        next.TransactionId.Should().Be(id, "a transaction without changes has no record and no id of its own");
    }

    [Fact]
    public void Lookups_and_changes_allocate_nothing_of_their_own()
    {
        using var writing = _environment.BeginWrite();
        var found = 0L;
        Round();
        Round();
        var before = GC.GetAllocatedBytesForCurrentThread();
        Round();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        found.Should().BePositive();
        allocated.Should().BeLessThanOrEqualTo(Rows / 2, "at most half a byte an operation");

        void Round()
        {
            var table = writing.OpenTable(Definition);
            for (var i = 0; i < Rows / 2; i++)
            {
                var row = _rows[i];
                if (!table.TryGetReader(row.Id, out var reader) || !table.TryGetVersion(row.Id, out var version))
                    continue;
                row.Count = reader.ReadInt32() + 1;
                found += version.Value;
                row.Group = (row.Group + 1) % 50;
                table.Upsert(row);
            }
        }
    }

    private long Measure(int count, Action<WriteTable<long, Numbered>> change)
    {
        using var writing = _environment.BeginWrite();
        var id = writing.TransactionId;
        change(writing.OpenTable(Definition));
        writing.Commit();

        // The observer is called by another thread.
        long bytes = 0;
        SpinWait.SpinUntil(() => _journalBytes.TryGetValue(id, out bytes), TimeSpan.FromSeconds(30)).Should().BeTrue();
        return bytes / count;
    }

    /// <summary>A row that its codec reads into one object again and again, so that only the engine's allocations count.</summary>
    private sealed class Numbered
    {
        public long Id { get; set; }

        public int Group { get; set; }

        public int Count { get; set; }

        public string Text { get; init; } = "";
    }

    private sealed class NumberedCodec : IRowCodec<Numbered>
    {
        private readonly Numbered _read = new();

        public void Write(in Numbered row, ref RowWriter writer)
        {
            writer.WriteInt32(row.Count);
            writer.WriteInt32(row.Group);
            writer.WriteInt64(row.Id);
            writer.WriteString(row.Text);
        }

        public Numbered Read(ref RowReader reader)
        {
            _read.Count = reader.ReadInt32();
            _read.Group = reader.ReadInt32();
            _read.Id = reader.ReadInt64();
            return _read;
        }
    }
}
