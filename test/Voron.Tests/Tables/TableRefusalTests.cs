using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>What is refused leaves no part of its row, and the transaction continues.</summary>
public sealed class TableRefusalTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public TableRefusalTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void A_duplicate_key_is_named_and_nothing_of_the_row_stays()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net", 1, "one"), new Item("b", "net", 2, "two"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            var primary = table.Invoking(t => t.Insert(new Item("a"))).Should().Throw<DuplicateKeyException>().Which;
            (primary.TableName, primary.IndexName, primary.RowId, primary.ExistingRowId).Should().Be(("items", "", null, 0));
            var item = new Item("b", "games", 1, "one") { Tags = ["x"] };
            var unique = table.Invoking(t => t.Upsert(item)).Should().Throw<DuplicateKeyException>().Which;
            (unique.IndexName, unique.RowId, unique.ExistingRowId).Should().Be(("source", 1, 0));
            unique.Key.ToArray().Should().Equal(TableKit.Key("one", 1));
            unique.Message.Should().Contain("'items'").And.Contain("'source'").And.Contain("row 0");
            TableKit.Ids(table.From("section")).Should().Equal("a", "b");
            table.From("tags").Count().Should().Be(0);
            table.Upsert(new Item("b", "net", 3, "one"));
        });
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public void A_null_in_a_unique_key_binds_no_row()
    {
        var definition = TableKit.Plain(1).UniqueIndex("u", 1, static (in Item item, ref IndexKeys keys) =>
        {
            ref var key = ref keys.Begin();
            if (item.Size == 0)
                key.AddNull();
            else
                key.AddNotNull().Add(item.Size);
        });
        _environment.Insert(definition, new Item("a"), new Item("b"), new Item("c", Size: 5));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            table.Invoking(t => t.Insert(new Item("d", Size: 5))).Should().Throw<DuplicateKeyException>();
            table.Upsert(new Item("c"));
            table.Insert(new Item("d", Size: 5));
            table.Delete("a");
        });
        _environment.MustBeSound(definition, 3);
    }

    [Fact]
    public void A_function_that_throws_or_makes_no_valid_key_is_named()
    {
        var definition = TableKit.Plain(1).Index("bad", 1, static (in Item item, ref IndexKeys keys) =>
        {
            switch (item.Size)
            {
                case 1:
                    keys.Add("good");
                    throw new FormatException("No such size.");
                case 2:
                    keys.Begin();
                    break;
                case 3:
                    keys.Add(new string('x', 5_000));
                    break;
                default:
                    break;
            }
        });
        _environment.Insert(definition, new Item("a"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(definition);
            var thrown = table.Invoking(t => t.Insert(new Item("b", Size: 1))).Should().Throw<IndexKeyException>().Which;
            (thrown.TableName, thrown.IndexName, thrown.InnerException!.Message).Should().Be(("items", "bad", "No such size."));
            table.Invoking(t => t.Upsert(new Item("a", Size: 2))).Should().Throw<IndexKeyException>();
            table.Invoking(t => t.Upsert(new Item("a", Size: 3))).Should().Throw<KeyTooLongException>().Which.IndexName.Should().Be("bad");
            table.Invoking(t => t.Insert(new Item(""))).Should().Throw<IndexKeyException>().Which.IndexName.Should().Be("");
            table.Invoking(t => t.Insert(new Item(new string('k', 5_000)))).Should().Throw<KeyTooLongException>();
            table.Invoking(t => t.TryGet(new string('k', 5_000), out _)).Should().Throw<KeyTooLongException>();
            table.TryGet("a", out var a).Should().BeTrue();
            a!.Size.Should().Be(0);
            table.Insert(new Item("b"));
        });
        _environment.MustBeSound(definition, 2);
    }

    [Fact]
    public void A_function_that_calls_its_table_is_refused()
    {
        var table = default(WriteTable<string, Item>);
        var definition = TableKit.Plain(1).Index("nested", 1, (in Item item, ref IndexKeys keys) =>
        {
            if (item.Size == 1)
                table.Insert(new Item("inner"));
            keys.Add(item.Size);
        });
        _environment.Write(writing =>
        {
            table = writing.CreateTable(definition);
            table.Invoking(t => t.Insert(new Item("a", Size: 1))).Should().Throw<IndexKeyException>().WithInnerException<InvalidOperationException>();
            table.Insert(new Item("a"));
        });
        _environment.MustBeSound(definition, 1);
    }

    [Fact]
    public void A_row_of_a_newer_version_is_not_read()
    {
        _environment.Insert(TableKit.Plain(2), new Item("a"));
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Plain(1));
        var refused = table.Invoking(t => t.TryGet("a", out _)).Should().Throw<RowFormatException>().Which;
        (refused.TableName, refused.RowId).Should().Be(("items", 0));
        refused.Message.Should().Contain("version 2");
    }

    [Fact]
    public void A_definition_that_does_not_fit_reads_but_does_not_write()
    {
        _environment.Insert(TableKit.Items, new Item("a", "net"));
        _environment.Write(writing =>
        {
            var less = writing.OpenTable(TableKit.Plain(1));
            less.TryGet("a", out _).Should().BeTrue();
            less.Invoking(t => t.Insert(new Item("b"))).Should().Throw<SchemaMismatchException>().WithMessage("*'section'*");
            less.Invoking(t => t.Delete("a")).Should().Throw<SchemaMismatchException>();
            var newer = writing.OpenTable(TableKit.Plain(2));
            newer.Invoking(t => t.Upsert(new Item("a"))).Should().Throw<SchemaMismatchException>().WithMessage("*version 1*version 2*");

            // The same table through a definition that fits.
            writing.OpenTable(TableKit.Items).Insert(new Item("b"));
            TableKit.Ids(less.Scan()).Should().Equal("a", "b");
        });
        var numbers = TableDefinition.CreateWithRowIds("items", 1, new ItemCodec(), static (Item item) => item.Size);
        var bytes = TableDefinition.Create("items", 1, new ItemCodec(), KeyCodec.Int32, static (Item item) => item.Size);
        using var reading = _environment.BeginRead();
        reading.Invoking(r => r.OpenTable(numbers)).Should().Throw<SchemaMismatchException>();
        reading.Invoking(r => r.OpenTable(bytes)).Should().Throw<SchemaMismatchException>().WithMessage("*cannot change*");
    }

    [Fact]
    public void An_index_that_the_environment_does_not_have_answers_nothing_and_stops_no_write()
    {
        _environment.Insert(TableKit.Plain(1), new Item("a", "net"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.GetIndexState("section").Should().Be(IndexState.Absent);
            var refused = table.Invoking(t => t.From("section")).Should().Throw<IndexNotReadyException>().Which;
            (refused.TableName, refused.IndexName, refused.State).Should().Be(("items", "section", IndexState.Absent));
            table.Insert(new Item("b", "net"));
        });
        _environment.VerifyTable(TableKit.Items).Unchecked.Should().BeEquivalentTo("section", "tags", "large", "source");
        _environment.MustBeSound(TableKit.Items, 2);
    }

    [Fact]
    public void Wrong_calls_say_what_is_wrong()
    {
        default(Table<string, Item>).Invoking(t => t.Count).Should().Throw<InvalidOperationException>().WithMessage("*default*");
        default(WriteTable<string, Item>).Invoking(t => t.Insert(new Item("a"))).Should().Throw<InvalidOperationException>();
        IndexFunction<Item> none = static (in Item _, ref IndexKeys _) => { };
        TableKit.Items.Invoking(d => d.Index("section", 2, none)).Should().Throw<ArgumentException>().WithMessage("*'section'*");
        TableKit.Items.Invoking(d => d.Index("", 2, none)).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => TableKit.Plain(0)).Should().Throw<ArgumentOutOfRangeException>();
        FluentActions.Invoking(() => TableKit.Plain(65_536)).Should().Throw<ArgumentOutOfRangeException>();
        _environment.Insert(TableKit.Items, new Item("a"));
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Items);
        table.Invoking(t => t.From("none")).Should().Throw<ArgumentException>().WithMessage("*'none'*");
        table.Invoking(t => t.IdsRaw("source", "x"u8)).Should().Throw<ArgumentException>();
        table.Invoking(t => t.TryGetByRaw("section", "x"u8, out _)).Should().Throw<ArgumentException>();
        reading.Invoking(r => r.OpenTable(TableDefinition.Create("none", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)))
            .Should().Throw<KeyNotFoundException>().WithMessage("*'none'*");
        reading.Dispose();
        table.Invoking(t => t.Count).Should().Throw<ObjectDisposedException>();
    }
}
