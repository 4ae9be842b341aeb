using System.Text;
using Voron.Feeds;
using Voron.Recording;
using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Functions, savepoints and handles in orders that have left wrong rows or indexes.</summary>
public sealed class TableTrapTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public TableTrapTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    // A null has the same byte as an empty text.
    [Fact]
    public void A_null_that_becomes_a_value_of_the_same_bytes_enters_the_unique_index_and_leaves_it_again()
    {
        var definition = TableKit.Plain(1).UniqueIndex("u", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Section == "null")
                keys.Begin().AddNull();
            else
                keys.Add(item.Section);
        });
        _environment.Insert(definition, new Item("a", "null"), new Item("b", "null"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            table.Upsert(new Item("a", ""));
            table.Invoking(t => t.Upsert(new Item("b", ""))).Should().Throw<DuplicateKeyException>().Which.ExistingRowId.Should().Be(0);
        });
        _environment.MustBeSound(definition, 2);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            table.Upsert(new Item("a", "null"));
            table.Upsert(new Item("b", ""));
        });
        _environment.MustBeSound(definition, 2);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_call_for_many_rows_that_finds_a_damaged_page_can_only_be_rolled_back(bool deletes)
    {
        var definition = TableKit.Plain(1).Index("section", 1, static (Item item) => item.Section);
        var needle = "the pages of this long row are damaged";
        var rows = Enumerable.Range(0, 2_000).Select(i => new Item($"{i}", "net") { Text = i == 1_500 ? needle.PadRight(9_000) : "" });
        _environment.Insert(definition, [.. rows]);
        _environment.Dispose();
        var path = Path.Combine(_directory.Path, "voron.data");
        var file = File.ReadAllBytes(path);
        file[file.AsSpan().IndexOf(Encoding.UTF8.GetBytes(needle))]++;
        File.WriteAllBytes(path, file);

        using var damaged = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        using (var writing = damaged.BeginWrite())
        {
            var table = writing.OpenTable(definition);
            var call = table.Invoking(t => deletes
                ? t.DeleteWhere("section", "net")
                : t.UpdateWhere("section", "net", 7, static (row, size) => row with { Size = size }));
            call.Should().Throw<CorruptionException>();
            writing.Invoking(one => one.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
        }

        using var reading = damaged.BeginRead();
        reading.OpenTable(definition).Count.Should().Be(2_000);
    }

    // Each transaction has room for 65,536 versions of a row.
    [Fact]
    public void A_version_never_comes_again_when_one_transaction_changes_a_row_often()
    {
        var definition = TableKit.Plain(1);
        _environment.Insert(definition, new Item("a"));
        var newest = RowVersion.None;
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            for (var size = 1; size <= 300_000; size++)
                newest = table.Upsert(new Item("a", Size: size));
        });
        _environment.Write(writing => writing.OpenTable(definition).Delete("a", newest));
        _environment.Dispose();
        using var reopened = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        reopened.Write(writing => writing.OpenTable(definition).Insert(new Item("a"))).Value.Should().BeGreaterThan(newest.Value);
        reopened.MustBeSound(definition, 1);
    }

    [Fact]
    public async Task A_handle_that_was_opened_after_a_savepoint_writes_whole_rows_after_its_rollback()
    {
        var less = TableKit.Plain(1).Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        await _environment.EvolveAsync(TableKit.Items, cancellationToken: Stop);
        _environment.Write(writing =>
        {
            _ = writing.OpenTable(less);
            using var savepoint = writing.CreateSavepoint();
            var table = writing.OpenTable(TableKit.Items);
            savepoint.Rollback();
            table.Insert(new Item("a", "net", 200, "one") { Tags = ["x"] });
            table.Upsert(new Item("a", "net", 300, "two") { Tags = ["y"] });
        });
        _environment.MustBeSound(TableKit.Items, 1);
    }

    // The deletion of a feed that has lost its source finds the rows by the id of their tree, before any call reads the schema of their table.
    [Fact]
    public void A_handle_remains_usable_when_a_rollback_closes_the_tree_of_schemas_but_not_that_of_the_rows()
    {
        _environment.Insert(TableKit.Items, new Item("a"));
        _environment.Write(writing =>
        {
            writing.CreateFeed("feed");
            writing.RecordTable("feed", "items");
            FeedEditor.OpenFeeds(writing).Delete(FeedKeys.Source(1, 1)).Should().BeTrue();
        });
        _environment.Write(writing =>
        {
            writing.DeleteFeed("feed").Should().BeTrue();
            using var savepoint = writing.CreateSavepoint();
            var table = writing.OpenTable(TableKit.Items);
            savepoint.Rollback();
            writing.CreateTree("takes the object of the closed tree");
            table.Insert(new Item("b"));
        });
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public async Task A_table_with_the_highest_row_id_evolves_and_refuses_only_new_ids()
    {
        var numbers = TableDefinition.CreateWithRowIds("numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, provider: null));
        _environment.Write(writing => writing.CreateTable(numbers).InsertMany([new Item("281474976710655"), new Item("5")]));
        await _environment.EvolveAsync(numbers, cancellationToken: Stop);
        _environment.Write(writing => writing.OpenTable(numbers).Delete(281474976710655));
        var indexed = numbers.Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        (await _environment.EvolveAsync(indexed, cancellationToken: Stop)).RowsRead.Should().Be(1);
        _environment.MustBeSound(indexed, 1);
    }

    [Fact]
    public void A_function_that_opens_the_table_is_refused_and_no_row_is_lost()
    {
        var writing = default(WriteTransaction);
        TableDefinition<string, Item>? definition = null;
        definition = TableKit.Plain(1).Index("nested", 1, (in Item item, ref IndexKeys keys) =>
        {
            if (item.Id == "outer")
                writing.OpenTable(definition!).Insert(new Item("inner"));
            keys.Add(item.Section);
        });
        writing = _environment.BeginWrite();
        var table = writing.CreateTable(definition);
        table.Invoking(t => t.Upsert(new Item("outer"))).Should().Throw<IndexKeyException>().WithInnerException<InvalidOperationException>();
        table.Insert(new Item("b"));
        writing.Commit();
        _environment.MustBeSound(definition, 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_function_that_rolls_back_while_a_row_is_changed_is_refused(bool deletes)
    {
        var savepoint = default(Savepoint);
        var rollsBack = false;
        var definition = TableKit.Plain(1).Index("nested", 1, (in Item item, ref IndexKeys keys) =>
        {
            if (rollsBack && item.Section == "old")
                savepoint.Rollback();
            keys.Add(item.Section);
        });
        _environment.Insert(definition, new Item("z"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            savepoint = writing.CreateSavepoint();
            table.Insert(new Item("a", "old"));
            rollsBack = true;
            if (deletes)
                table.Invoking(t => t.Delete("a")).Should().Throw<InvalidOperationException>();
            else
                table.Invoking(t => t.Upsert(new Item("a", "new"))).Should().Throw<InvalidOperationException>();
        });
        _environment.MustBeSound(definition, 1);
    }

    [Fact]
    public void A_change_that_does_other_work_on_the_table_is_refused()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net"), new Item("b", "net"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.Invoking(t => t.TryUpdate("a", table, static (row, table) =>
            {
                table.Delete(row.Id);
                return row;
            }, out _)).Should().Throw<InvalidOperationException>();
            using var savepoint = writing.CreateSavepoint();
            table.Upsert(new Item("a", "games"));
            table.Invoking(t => t.TryUpdate("a", savepoint, static (row, savepoint) =>
            {
                savepoint.Rollback();
                return row with { Section = "none" };
            }, out _)).Should().Throw<InvalidOperationException>();
        });
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public async Task A_row_that_a_new_index_cannot_take_is_repaired_or_deleted()
    {
        _environment.Insert(TableKit.Plain(1), new Item("a", "bad"), new Item("b", "bad"), new Item("c", "good"));
        var wanted = TableKit.Plain(2).Index("section", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Section == "bad")
                throw new FormatException("A bad section.");
            keys.Add(item.Section);
        });
        await _environment.Awaiting(e => e.EvolveAsync(wanted, cancellationToken: Stop).AsTask()).Should().ThrowAsync<IndexKeyException>();
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Plain(1));
            table.Upsert(new Item("a", "good"));
            table.Delete("b").Should().BeTrue();
        });
        await _environment.EvolveAsync(wanted, cancellationToken: Stop);
        _environment.Write(writing => writing.OpenTable(wanted)
            .Invoking(t => t.Insert(new Item("d", "bad"))).Should().Throw<IndexKeyException>());
        _environment.MustBeSound(wanted, 2);
    }

    [Fact]
    public void An_index_whose_function_has_changed_without_a_new_version_is_named()
    {
        var prefix = "old ";
        var definition = TableKit.Plain(1).Index("section", 1, (in Item item, ref IndexKeys keys) => keys.Add(prefix + item.Section));
        _environment.Insert(definition, new Item("a", "net"));
        prefix = "new ";
        _environment.Write(writing => writing.OpenTable(definition).Delete("a"));
        _environment.VerifyTable(definition).Problems.Should().ContainSingle(problem => problem.Contains("0 keys"));
        _environment.Write(writing => writing.OpenTable(definition)
            .Invoking(t => t.DeleteWhereRaw("section", KeyRange.All)).Should().Throw<IndexMismatchException>().WithMessage("*'section'*row 0*"));
    }

    [Fact]
    public void Ids_of_another_table_and_keys_of_a_table_of_numbers_are_refused()
    {
        var numbers = TableDefinition.CreateWithRowIds("numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, provider: null));
        _environment.Insert(TableKit.Items, new Item("a", "net"));
        _environment.Write(writing => writing.CreateTable(numbers).InsertMany([new Item("3"), new Item("4"), new Item("7")]));
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(numbers);
        table.Invoking(t => t.Rows(reading.OpenTable(TableKit.Items).IdsRaw("section", TableKit.Key("net")))).Should().Throw<ArgumentException>();
        table.Invoking(t => t.ByKey()).Should().Throw<InvalidOperationException>().WithMessage("*Scan*");
        TableKit.Ids(table.Scan(4)).Should().Equal("4", "7");
        TableKit.Ids(table.Scan(0, 6).Backward()).Should().Equal("4", "3");
        TableKit.Ids(table.Scan(5, 4)).Should().BeEmpty();
        TableKit.Ids(table.Scan(long.MinValue, -1)).Should().BeEmpty();
        TableKit.Ids(table.Scan(1L << 48)).Should().BeEmpty();
    }

    [Fact]
    public void A_row_that_exists_is_reported_by_its_primary_key()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net", 1, "one"));
        _environment.Write(writing => writing.OpenTable(TableKit.Items)
            .Invoking(t => t.Insert(new Item("a", "net", 1, "one"))).Should().Throw<DuplicateKeyException>().Which.IndexName.Should().Be(""));
    }

    [Fact]
    public void The_name_of_a_codec_of_keys_is_checked()
    {
        foreach (var name in new[] { null!, "", new string('x', 70_000), "\ud800" })
        {
            FluentActions.Invoking(() => TableDefinition.Create("t", 1, new ItemCodec(), new NamedCodec(name), static (Item item) => item.Id))
                .Should().Throw<ArgumentException>();
        }

        TableKit.Items.Invoking(d => d.Index("x", -1, static (in Item _, ref IndexKeys _) => { })).Should().Throw<ArgumentOutOfRangeException>();
    }

    private sealed class NamedCodec(string name) : IKeyCodec<string>
    {
        public string Name => name;

        public void Write(string key, ref KeyWriter writer) => writer.Add(key);
    }
}
