using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>A loop over a query may change the rows that it gets: none comes again, and what is added does not come.</summary>
public sealed class WalkTests : IDisposable
{
    private const int Rows = 50;

    private static readonly TableDefinition<string, Item> Sized = TableKit.Plain(1)
        .Index("size", 1, static item => item.Size)
        .IndexEach("tags", 1, static item => item.Tags)
        .UniqueIndex("source", 1, static item => item.Source)
        .Index(TableKit.Sections, static item => item.Section);

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public WalkTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        var items = Enumerable.Range(0, Rows).Select(static i => new Item($"i{i:D2}", $"s{i:D2}", i, $"src{i:D2}") { Tags = ["a", "b"] });
        _environment.Insert(Sized, [.. items]);
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    [InlineData(false, true)]
    public void Rows_that_move_in_an_index_come_once(bool movesUp, bool isBackward)
    {
        var step = movesUp ? 7 : -7;
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Sized);
            var query = isBackward ? table.From("size").Backward() : table.From("size");
            Walk(query, item => table.Upsert(item with { Size = item.Size + step })).Should().Be(Rows);
            var unique = isBackward ? table.From("source").Backward() : table.From("source");
            Walk(unique, item => table.Upsert(item with { Source = item.Source + (movesUp ? "z" : "") + "!" })).Should().Be(Rows);
            table.From("size").Count().Should().Be(Rows);
        });
        _environment.MustBeSound(Sized, Rows);
    }

    [Fact]
    public void Rows_that_are_inserted_do_not_come()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Sized);
            var count = 0;
            Item Next() => new($"n{count++:D3}", "zz", 1000 + count, $"new{count}") { Tags = ["a", "z"] };
            foreach (var query in (Func<RowQuery<Item>>[])[
                () => table.Scan(), () => table.ByKey(), () => table.From("size"), () => table.From("tags", "a"),
                () => table.Rows(table.Ids("tags", "a"))])
            {
                var rows = (int)table.Count;
                Walk(query(), _ => table.Insert(Next())).Should().Be(rows);
            }
        });
        _environment.MustBeSound(Sized, Rows * 32);
    }

    [Fact]
    public void Rows_of_a_shared_index_come_once()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Sized);
            using var query = writing.QuerySharedIndex(TableKit.Sections);
            var count = 0;
            while (query.MoveNext() && count <= Rows)
            {
                query.TryGetRow(table.AsReadOnly(), out var item).Should().BeTrue();
                table.Upsert(item! with { Section = $"t{item.Section}" });
                count++;
            }

            count.Should().Be(Rows);
        });
        _environment.MustBeSound(Sized, Rows);
    }

    [Fact]
    public void Rows_that_are_deleted_and_come_back_at_their_place_come()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Sized);
            using var query = table.From("size");
            query.MoveNext().Should().BeTrue();
            table.TryGet("i10", out var ten).Should().BeTrue();
            table.Upsert(ten! with { Size = 90 });
            using (var savepoint = writing.CreateSavepoint())
            {
                table.Upsert(ten);
                savepoint.Rollback();
            }

            table.Upsert(ten with { Section = "changed" });
            table.Delete("i20");
            var found = new List<string>();
            while (query.MoveNext())
                found.Add(query.Current.Id);
            found.Should().Contain("i10").And.NotContain("i20").And.HaveCount(Rows - 2);
        });
    }

    [Fact]
    public void Rows_are_updated_where_their_keys_are_in_a_range()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Sized);
            table.UpdateWhere("size", IndexRange.From(10).Before(20), 1, static (item, by) => item with { Size = item.Size + by }).Should().Be(10);
            table.UpdateWhere("tags", IndexRange.Prefix(""), 0, static (item, _) => item with { Tags = ["c", .. item.Tags] }).Should().Be(Rows);
            table.UpdateWhere("size", 20, "moved", static (item, to) => item with { Section = to }).Should().Be(2);
            table.Invoking(t => t.UpdateWhere("size", 1, 0, static (item, _) => item with { Id = "other" })).Should().Throw<ArgumentException>();
            table.Invoking(t => t.UpdateWhere("size", 1, 0, (Func<Item, int, Item>)null!)).Should().Throw<ArgumentNullException>();
        });
        using var reading = _environment.BeginRead();
        TableKit.Ids(reading.OpenTable(Sized).From("tags", "c")).Should().HaveCount(Rows);
        _environment.MustBeSound(Sized, Rows);
    }

    private static int Walk(RowQuery<Item> query, Action<Item> change)
    {
        var count = 0;
        foreach (var item in query)
        {
            // The test must end, also where the loop would not.
            if (count++ > 10_000)
                break;
            change(item);
        }

        return count;
    }
}
