using Voron.Tables;
using Voron.Tests.Journal;

namespace Voron.Tests.Tables;

/// <summary>
/// How many bytes each operation of a table writes to the journal, without compression, and that it allocates nothing of its own.
/// Alone, because collections that other tests cause empty pools, which are then filled again.
/// </summary>
[Collection(nameof(Alone))]
public sealed class TableBudgetTests : IDisposable
{
    private const int Rows = 20_000;
    private const int Changes = 500;

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;
    private readonly Numbered[] _rows =
        [.. Enumerable.Range(0, Rows).Select(static i => new Numbered { Id = i, Group = i % 50, Text = $"text of row {i:00000}" })];

    private readonly SetClock _clock = new();

    private static readonly TableDefinition<long, Numbered> Definition = TableDefinition
        .Create("numbered", 1, new NumberedCodec(), KeyCodec.Int64, static (Numbered row) => row.Id)
        .Index("group", 1, static (in Numbered row, ref IndexKeys keys) => keys.Add(row.Group))
        .UniqueIndex("both", 1, static (in Numbered row, ref IndexKeys keys) => keys.Begin().Add(row.Group).Add(row.Id));

    private static readonly TableDefinition<long, Numbered> Unique = Define("unique")
        .UniqueIndex("count", 1, static (in Numbered row, ref IndexKeys keys) => keys.Add(row.Count));

    private static readonly TableDefinition<long, Numbered> Expiring = Define("expiring")
        .Expire(static row => ExpiryKit.Start.AddMinutes(row.Group + 1));

    private static readonly TableDefinition<long, Numbered> Sharing = Define("sharing")
        .Index(new SharedIndex("groups", 1), static (in Numbered row, ref IndexKeys keys) => keys.Add(row.Group));

    public TableBudgetTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(_clock).Uncompressed());
        _environment.Write(writing => writing.CreateTable(Definition).InsertMany(_rows.AsSpan(0, Rows / 2)));
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    // A row has 47 bytes. Its keys have 8, 4 and 12 bytes, and each entry has a slot, its lengths and a row id.
    [Fact]
    public void Rows_that_are_appended_write_themselves_and_their_keys()
    {
        Measure(Changes, 138, table => table.InsertMany(_rows.AsSpan(Rows / 2, Changes)));
    }

    [Fact]
    public void A_number_that_no_index_has_writes_itself_and_the_version()
    {
        MeasureSome(13, Definition, static (table, row) =>
        {
            row.Count++;
            table.Upsert(row);
        });
    }

    [Fact]
    public void A_key_that_changes_writes_to_its_index_alone()
    {
        MeasureSome(88, Definition, ChangeGroup);
    }

    [Fact]
    public void A_row_that_is_deleted_writes_what_shifts_in_its_trees()
    {
        MeasureSome(171, Definition, static (table, row) => table.Delete(row.Id).Should().BeTrue());
    }

    // The rows of ten groups of 200 rows each, with the entries in all three indexes.
    [Fact]
    public void Rows_that_are_deleted_by_an_index_write_what_shifts_in_their_trees()
    {
        Measure(2_000, 26, static table =>
            table.DeleteWhereRaw("group", KeyRange.From(TableKit.Key(10)).Before(TableKit.Key(20))).Should().Be(2_000));
    }

    // An entry of 4 bytes of key and a row id goes, and another comes.
    [Fact]
    public void A_unique_key_that_changes_writes_both_entries()
    {
        Create(Unique);
        MeasureSome(19, Unique, static (table, row) =>
        {
            row.Count++;
            table.Upsert(row);
        });
    }

    // Beside a row without a time, eight bytes in its head and an id in the set of its second.
    [Fact]
    public void A_row_that_expires_writes_its_time_and_an_id()
    {
        Create(Expiring);
        MeasureSome(43, Expiring, ChangeGroup);
        Measure(Changes, 119, table => table.InsertMany(_rows.AsSpan(Rows / 2, Changes)), Expiring);
        MeasureSome(113, Expiring, static (table, row) => table.Delete(row.Id).Should().BeTrue());
    }

    // 256 rows in a transaction, whose record has whole blocks.
    [Fact]
    public async Task Expired_rows_write_what_shifts_when_they_are_deleted()
    {
        Create(Expiring);
        _clock.PassMinutes(50);
        var bytes = await _environment.JournaledAsync(async () =>
            (await _environment.DeleteExpiredAsync(Expiring, TestContext.Current.CancellationToken)).Should().Be(Rows / 2));
        JournalMeter.MustFit(bytes, Rows / 2, 137);
    }

    // The ids have the number of the table above that of the row, and lie among those of other tables.
    [Fact]
    public void A_key_of_a_shared_index_writes_its_id()
    {
        Create(Sharing);
        MeasureSome(37, Sharing, ChangeGroup);
        Measure(Changes, 107, table => table.InsertMany(_rows.AsSpan(Rows / 2, Changes)), Sharing);
        MeasureSome(114, Sharing, static (table, row) => table.Delete(row.Id).Should().BeTrue());
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
        var allocated = ManagedAllocation.Least(Round);
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

    private static void ChangeGroup(WriteTable<long, Numbered> table, Numbered row)
    {
        row.Group = (row.Group + 7) % 50;
        table.Upsert(row);
    }

    private static TableDefinition<long, Numbered> Define(string name) =>
        TableDefinition.Create(name, 1, new NumberedCodec(), KeyCodec.Int64, static (Numbered row) => row.Id);

    private void Measure(int count, double most, Action<WriteTable<long, Numbered>> change, TableDefinition<long, Numbered>? definition = null) =>
        _environment.MustJournal(count, most, writing => change(writing.OpenTable(definition ?? Definition)));

    // In no order, so that few changes meet in a leaf of rows. Those of a number of 50 groups meet in the indexes.
    private void MeasureSome(double most, TableDefinition<long, Numbered> definition, Action<WriteTable<long, Numbered>, Numbered> change) =>
        Measure(
            Changes, most,
            table =>
            {
                for (var i = 0; i < Changes; i++)
                    change(table, _rows[(int)(i * 7919L % (Rows / 2))]);
            },
            definition);

    // Half of the rows.
    private void Create(TableDefinition<long, Numbered> definition)
    {
        foreach (var row in _rows)
            row.Count = 2 * (int)row.Id;
        _environment.Write(writing => writing.CreateTable(definition).InsertMany(_rows.AsSpan(0, Rows / 2)));
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
