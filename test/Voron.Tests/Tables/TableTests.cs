using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Rows are written, found by their keys, and kept apart from each other.</summary>
public sealed class TableTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private StorageEnvironment _environment;

    public TableTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Rows_are_found_by_key_and_stay_after_a_restart()
    {
        _environment.Insert(TableKit.Items, new Item("b", "net", 7), new Item("a") { Tags = ["x", "y", "x"], Text = new string('t', 100_000) });
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Items);
        (table.Name, table.Count).Should().Be(("items", 2));
        table.TryGet("a", out var a).Should().BeTrue();
        a.Should().Be(new Item("a") { Tags = ["x", "y", "x"], Text = new string('t', 100_000) });
        table.TryGet("b", out var b, out var version).Should().BeTrue();
        b.Should().Be(new Item("b", "net", 7));
        table.TryGetVersion("b", out var same).Should().BeTrue();
        same.Should().Be(version);
        table.Contains("b").Should().BeTrue();
        (table.TryGet("c", out var none, out var noVersion), none, noVersion, table.Contains("c")).Should().Be((false, null, RowVersion.None, false));
        table.TryGetReader("b", out var reader).Should().BeTrue();
        reader.ReadInt32().Should().Be(7);
        table.TryGetByRowId(reader.RowId, out var byId).Should().BeTrue();
        byId.Should().Be(b);
        table.TryGetByRowId(-1, out _).Should().BeFalse();
        table.TryGetByRaw("source", TableKit.Key("none"), out _).Should().BeFalse();
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public void Changes_move_a_row_between_keys_and_deletion_removes_them()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net", 200, "one") { Tags = ["x", "y"] });
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.Upsert(new Item("a", "games", 5, "two") { Tags = ["y", "z"] });
            table.TryUpdate(new Item("b"), out var none).Should().BeFalse();
            none.Should().Be(RowVersion.None);
        });
        using (var reading = _environment.BeginRead())
        {
            var table = reading.OpenTable(TableKit.Items);
            TableKit.Ids(table.FromRaw("section", KeyRange.Prefix(TableKit.Key("net")))).Should().BeEmpty();
            TableKit.Ids(table.FromRaw("section", KeyRange.Prefix(TableKit.Key("games")))).Should().Equal("a");
            TableKit.Ids(table.From("tags")).Should().Equal("a", "a");
            TableKit.Ids(table.From("large")).Should().BeEmpty();
            table.TryGetByRaw("source", TableKit.Key("one", 200), out _).Should().BeFalse();
            table.TryGetByRaw("source", TableKit.Key("two", 5), out var found).Should().BeTrue();
            found!.Section.Should().Be("games");
        }

        _environment.MustBeSound(TableKit.Items, 1);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.Delete("a").Should().BeTrue();
            table.Delete("a").Should().BeFalse();
            table.From("tags").Count().Should().Be(0);
        });
        _environment.MustBeSound(TableKit.Items, 0);
    }

    [Fact]
    public void A_row_is_changed_by_a_function_that_keeps_its_key()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net", 1, "one"), new Item("b", "net", 2, "two"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.TryUpdate("none", 0, static (row, _) => row, out var none).Should().BeFalse();
            none.Should().Be(RowVersion.None);
            table.TryUpdate("a", "games", static (row, section) => row with { Section = section }, out var version).Should().BeTrue();
            table.TryUpdate("a", 0, static (row, _) => row, out var same).Should().BeTrue();
            same.Should().Be(version);
            table.Invoking(t => t.TryUpdate("a", 0, static (row, _) => row with { Id = "c" }, out _)).Should().Throw<ArgumentException>();
            table.Invoking(t => t.TryUpdate("a", 0, static (_, _) => throw new FormatException("No."), out _)).Should().Throw<FormatException>();
            table.Invoking(t => t.TryUpdate("a", 0, static (row, _) => row with { Source = "two", Size = 2 }, out _)).Should().Throw<DuplicateKeyException>();
            table.TryUpdate("b", 0, static (row, _) => row with { Source = "three" }, out _).Should().BeTrue();
            table.TryUpdate("a", 0, static (row, _) => row with { Source = "two", Size = 2 }, out _).Should().BeTrue();
            TableKit.Ids(table.From("section")).Should().Equal("a", "b");
        });
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public void A_row_id_is_never_used_again()
    {
        _environment.Insert(TableKit.Items, new Item("a"), new Item("b"));
        var seen = new HashSet<long>();
        for (var round = 0; round < 5; round++)
        {
            _environment.Write(writing =>
            {
                var table = writing.OpenTable(TableKit.Items);
                table.TryGetReader("b", out var row).Should().BeTrue();
                seen.Add(row.RowId).Should().BeTrue();
                table.Delete("b");
                if (seen.Count % 2 == 0)
                    table.Insert(new Item("b"));
            });
            _environment.Write(writing => writing.OpenTable(TableKit.Items).Upsert(new Item("b")));
        }
    }

    [Fact]
    public void The_version_of_a_row_rises_with_each_change_also_within_a_transaction()
    {
        _environment.Write(writing =>
        {
            var table = writing.CreateTable(TableKit.Items);
            var first = table.Insert(new Item("a"));
            var second = table.Upsert(new Item("a", "net"));
            second.Value.Should().BeGreaterThan(first.Value);
            table.Upsert(new Item("a", "net")).Should().Be(second, "nothing has changed");
            var refused = table.Invoking(t => t.Upsert(new Item("a", "games"), first)).Should().Throw<ConcurrencyException>().Which;
            (refused.TableName, refused.RowId, refused.Expected, refused.Actual).Should().Be(("items", 0, first, second));
            refused.Key.ToArray().Should().Equal("a"u8.ToArray());
            table.Upsert(new Item("a", "games"), second).Value.Should().BeGreaterThan(second.Value);
        });
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.Invoking(t => t.Upsert(new Item("a"), RowVersion.None)).Should().Throw<ConcurrencyException>();
            table.Invoking(t => t.Delete("b", new RowVersion(1))).Should().Throw<ConcurrencyException>().Which.Actual.Should().Be(RowVersion.None);
            table.Delete("b", RowVersion.None).Should().BeFalse();
            table.TryGetVersion("a", out var version).Should().BeTrue();
            table.Invoking(t => t.Delete("a", new RowVersion(version.Value - 1))).Should().Throw<ConcurrencyException>();
            table.Delete("a", version).Should().BeTrue();
            table.Upsert(new Item("a"), RowVersion.None);
        });
        _environment.MustBeSound(TableKit.Items, 1);
    }

    // What a program logs tells which row it was, and what to do.
    [Fact]
    public void A_stale_version_is_refused_with_the_key_the_row_and_both_versions()
    {
        var numbers = TableDefinition.CreateWithRowIds("numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, provider: null));
        _environment.Write(writing =>
        {
            var table = writing.CreateTable(TableKit.Items);
            table.Insert(new Item("a"));
            var version = table.Insert(new Item("b")).Value;
            Refuse(() => table.Delete("b", new RowVersion(900)), "b"u8.ToArray(), 1,
                $"*table 'items'*primary key 'b' was not written: version 900 was expected, but row 1 has version {version}.*");
            Refuse(() => table.Upsert(new Item("b"), RowVersion.None), "b"u8.ToArray(), 1,
                $"*primary key 'b' was not written: no row was expected, but row 1 has version {version}. Read the row again*");
            Refuse(() => table.Upsert(new Item("c"), new RowVersion(7)), "c"u8.ToArray(), null,
                "*primary key 'c' was not written: version 7 was expected, but there is no such row.*");

            var rows = writing.CreateTable(numbers);
            version = rows.Insert(new Item("258")).Value;
            byte[] key = [0, 0, 0, 0, 1, 2], none = [0, 0, 0, 0, 0, 9];
            Refuse(() => rows.Upsert(new Item("258"), new RowVersion(7)), key, 258, $"*0x000000000102*version 7*row 258*version {version}.*");
            Refuse(() => rows.Delete(258, RowVersion.None), key, 258, $"*0x000000000102*no row*row 258 has version {version}.*");
            Refuse(() => rows.Delete(9, new RowVersion(7)), none, null, "*0x000000000009*version 7*no such row*");
        });

        static void Refuse(Action change, byte[] key, long? rowId, string message)
        {
            var refused = change.Should().Throw<ConcurrencyException>().WithMessage(message).Which;
            refused.Key.ToArray().Should().Equal(key);
            refused.RowId.Should().Be(rowId);
        }
    }

    [Fact]
    public void A_row_that_is_inserted_after_a_deletion_in_the_same_transaction_has_a_version_of_its_own()
    {
        _environment.Write(writing =>
        {
            var read = writing.CreateTable(TableKit.Items).Insert(new Item("a"));

            // Operations of one group commit open the table one after the other.
            writing.OpenTable(TableKit.Items).Delete("a").Should().BeTrue();
            var table = writing.OpenTable(TableKit.Items);
            table.Insert(new Item("a", "net")).Value.Should().BeGreaterThan(read.Value);
            table.Invoking(t => t.Upsert(new Item("a", "games"), read)).Should().Throw<ConcurrencyException>();
        });
        _environment.MustBeSound(TableKit.Items, 1);
    }

    [Fact]
    public void A_table_of_numbers_is_found_by_row_id()
    {
        var numbers = TableDefinition.CreateWithRowIds("numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, provider: null))
            .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        _environment.Write(writing =>
        {
            var table = writing.CreateTable(numbers);
            table.InsertMany([new Item("7"), new Item("3", "net"), new Item("281474976710655")]);
            table.Invoking(t => t.Insert(new Item("3"))).Should().Throw<DuplicateKeyException>().Which.ExistingRowId.Should().Be(3);
            foreach (var outside in new[] { "-1", "281474976710656" })
                table.Invoking(t => t.Upsert(new Item(outside))).Should().Throw<IndexKeyException>();
            table.TryGet(-1, out _).Should().BeFalse();
            table.Upsert(new Item("7", "games"));
            TableKit.Ids(table.Scan()).Should().Equal("3", "7", "281474976710655");
            TableKit.Ids(table.From("section")).Should().Equal("7", "3", "281474976710655");
            table.Delete(7).Should().BeTrue();
        });
        _environment.MustBeSound(numbers, 2);
    }

    [Fact]
    public void A_rollback_to_a_savepoint_takes_rows_keys_and_new_tables_back()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net"));
        var other = TableDefinition.Create("other", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            using var savepoint = writing.CreateSavepoint();
            table.Upsert(new Item("a", "games"));
            table.Insert(new Item("b", "net"));
            writing.CreateTable(other).Insert(new Item("c"));
            writing.GetTableNames().Should().Equal("items", "other");
            savepoint.Rollback();
            writing.GetTableNames().Should().Equal("items");
            TableKit.Ids(table.From("section")).Should().Equal("a");
            table.Insert(new Item("d", "net"));
            writing.TryOpenTable(other, out _).Should().BeFalse();
        });
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public void A_deleted_table_leaves_nothing_and_its_name_is_free()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            writing.DeleteTable("items").Should().BeTrue();
            writing.DeleteTable("items").Should().BeFalse();
            table.Invoking(t => t.Count).Should().Throw<InvalidOperationException>();
            writing.Invoking(w => w.OpenTable(TableKit.Items)).Should().Throw<KeyNotFoundException>();
            writing.CreateTable(TableKit.Items).Insert(new Item("b"));
        });
        using (var reading = _environment.BeginRead())
        {
            reading.GetTableNames().Should().Equal("items");
            reading.GetTreeNames().Should().BeEmpty();
            TableKit.Ids(reading.OpenTable(TableKit.Items).Scan()).Should().Equal("b");
        }

        _environment.MustBeSound(TableKit.Items, 1);
    }

    [Fact]
    public async Task A_dropped_table_leaves_nothing_and_its_name_is_free()
    {
        _environment.Insert(TableKit.Items, [.. Enumerable.Range(0, 3_000).Select(i => new Item($"i{i}", "net") { Text = new string('x', 500) })]);
        (await _environment.DropTableAsync("items", TestContext.Current.CancellationToken)).Should().BeTrue();
        (await _environment.DropTableAsync("items", TestContext.Current.CancellationToken)).Should().BeFalse();
        _environment.Insert(TableKit.Items, new Item("b"));
        _environment.MustBeSound(TableKit.Items, 1);
    }

    [Fact]
    public void Group_commit_operations_open_the_table_each_for_itself()
    {
        _environment.Insert(TableKit.Items, new Item("a"));
        Parallel.For(0, 200, i => _environment.Write(writing => writing.OpenTable(TableKit.Items).Insert(new Item($"i{i}", $"s{i % 7}"))));
        var escaped = default(WriteTable<string, Item>);
        _environment.Write(writing => escaped = writing.OpenTable(TableKit.Items));
        escaped.Invoking(t => t.Count).Should().Throw<ObjectDisposedException>();
        _environment.Write(writing =>
        {
            _ = writing.OpenTable(TableKit.Items);
            escaped.Invoking(t => t.Insert(new Item("x"))).Should().Throw<ObjectDisposedException>();
        });
        _environment.MustBeSound(TableKit.Items, 201);
    }

    [Fact]
    public void Many_rows_are_inserted_all_or_none()
    {
        _environment.Insert(TableKit.Items, new Item("a", Source: "one"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.Insert(new Item("before"));
            table.Invoking(t => t.InsertMany([new Item("b"), new Item("c"), new Item("d", Source: "one")]))
                .Should().Throw<DuplicateKeyException>().Which.IndexName.Should().Be("source");
            TableKit.Ids(table.ByKey()).Should().Equal("a", "before");
            table.InsertMany([new Item("b"), new Item("c")]);
        });
        _environment.MustBeSound(TableKit.Items, 4);
    }
}
