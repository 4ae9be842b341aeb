using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Queries go through an index in both directions, page by page, while the table changes.</summary>
public sealed class RowQueryTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public RowQueryTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        _environment.Insert(TableKit.Items, [.. Enumerable.Range(0, 100).Select(Numbered)]);
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Pages_have_all_rows_in_order(bool isBackward)
    {
        foreach (var (index, expected) in new[]
        {
            ("section", Enumerable.Range(0, 4).SelectMany(s => Enumerable.Range(0, 25).Select(i => $"i{(4 * i) + s:00}"))),
            ("source", Enumerable.Range(0, 100).OrderBy(i => $"src{i}", StringComparer.Ordinal).Select(i => $"i{i:00}")),
        })
        {
            foreach (var size in new[] { 1, 3, 7, 100, 101 })
            {
                var found = new List<string>();
                for (var token = ""; ;)
                {
                    using var reading = _environment.BeginRead();
                    var page = reading.OpenTable(TableKit.Items).From(index).After(PageToken.Parse(token)).Take(size);
                    var ids = TableKit.Ids(isBackward ? page.Backward() : page);
                    ids.Count.Should().BeLessThanOrEqualTo(size);
                    if (ids.Count == 0)
                        break;
                    found.AddRange(ids);
                    token = page.Token.ToString();
                }

                found.Should().Equal(isBackward ? expected.Reverse() : expected, $"index {index}, pages of {size}");
            }
        }
    }

    [Fact]
    public void Ranges_are_bounded_on_both_sides()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Items);
        var (from, to) = (TableKit.Key("s1"), TableKit.Key("s3"));
        table.FromRaw("section", KeyRange.From(from).Before(to)).Count().Should().Be(50);
        TableKit.Ids(table.FromRaw("section", KeyRange.From(from).Before(to))).Should().HaveCount(50).And.StartWith("i01").And.EndWith("i98");
        TableKit.Ids(table.FromRaw("section", KeyRange.From(from).Before(to)).Backward())
            .Should().HaveCount(50).And.StartWith("i98").And.EndWith("i01");
        TableKit.Ids(table.FromRaw("section", KeyRange.From(to).Before(from))).Should().BeEmpty();
        TableKit.Ids(table.FromRaw("section", default)).Should().BeEmpty();
        TableKit.Ids(table.ByKeyRaw(KeyRange.From("i10"u8).Before("i13"u8))).Should().Equal("i10", "i11", "i12");
        TableKit.Ids(table.ByKeyRaw(KeyRange.From("i10"u8).Before("i13"u8)).Backward()).Should().Equal("i12", "i11", "i10");
        table.ByKeyRaw(KeyRange.From("i10"u8).Before("i13"u8)).Count().Should().Be(3);
        table.ByKey().Count().Should().Be(100);
        TableKit.Ids(table.Scan().Take(2)).Should().Equal("i00", "i01");
        TableKit.Ids(table.Scan().Backward().Take(2)).Should().Equal("i99", "i98");
        table.From("tags").Count().Should().Be(Enumerable.Range(0, 100).Sum(i => i % 3 == i % 5 ? 1 : 2));
    }

    [Fact]
    public void Sets_of_ids_are_combined()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Items);
        var expected = Enumerable.Range(0, 100).Where(i => i % 4 == 1 && (i % 3 == 2 || i % 5 == 2)).Select(i => $"i{i:00}").ToList();
        var both = IdQuery.And(table.IdsRaw("section", TableKit.Key("s1")), table.IdsRaw("tags", TableKit.Key("t2")));
        TableKit.Ids(table.Rows(both)).Should().Equal(expected);
        table.Rows(table.IdsRaw("section", TableKit.Key("s1"))).Count().Should().Be(25);
        var first = table.Rows(table.IdsRaw("section", TableKit.Key("s1"))).Take(10);
        var page = TableKit.Ids(first);
        TableKit.Ids(table.Rows(table.IdsRaw("section", TableKit.Key("s1"))).After(first.Token)).Should().HaveCount(15).And.NotIntersectWith(page);
        table.Invoking(t => TableKit.Ids(t.Rows(t.IdsRaw("section", TableKit.Key("s1"))).Backward())).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void A_page_token_holds_while_rows_come_go_and_move()
    {
        var token = default(PageToken);
        var seen = new List<string>();
        for (var page = 0; page < 100; page++)
        {
            var number = page;
            _environment.Write(writing =>
            {
                var table = writing.OpenTable(TableKit.Items);
                using var rows = table.From("section").After(token).Take(2);
                while (rows.MoveNext())
                    seen.Add(rows.Current.Id);
                token = rows.Token;

                // The row of the token goes, and others come before and behind it.
                if (seen.Count > 0)
                    table.Delete(seen[^1]);
                table.Insert(new Item($"new{number:00}", "s0"));
                table.Insert(new Item($"end{number:00}", "s9"));
            });
        }

        seen.Should().OnlyHaveUniqueItems();
        seen.Should().Contain(Enumerable.Range(0, 100).Select(i => $"i{i:00}"));
        _environment.VerifyTable(TableKit.Items).Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_query_keeps_its_place_while_its_rows_are_deleted()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            var seen = 0;
            using var rows = table.From("section");
            while (rows.MoveNext())
            {
                seen++;
                var id = rows.Current.Id;
                table.Delete(id).Should().BeTrue();
                rows.Invoking(q => q.Current).Should().Throw<InvalidOperationException>().WithMessage("*deleted*");
            }

            seen.Should().Be(100);
        });
        _environment.MustBeSound(TableKit.Items, 0);
    }

    [Fact]
    public void Rows_are_deleted_by_index()
    {
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            table.DeleteWhereRaw("tags", KeyRange.Prefix(TableKit.Key("t1")), most: 3).Should().Be(3);
            table.DeleteWhereRaw("tags", KeyRange.All, most: 0).Should().Be(0);
            var left = table.Count;
            table.DeleteWhereRaw("tags", KeyRange.All).Should().Be(left);
            table.DeleteWhereRaw("tags", KeyRange.All).Should().Be(0);
            table.Invoking(t => t.DeleteWhereRaw("tags", KeyRange.All, -1)).Should().Throw<ArgumentOutOfRangeException>();
        });
        _environment.MustBeSound(TableKit.Items, 0);
    }

    [Fact]
    public void A_query_that_is_used_wrongly_says_so()
    {
        var reading = _environment.BeginRead();
        var query = reading.OpenTable(TableKit.Items).From("section");
        query.Invoking(q => q.Current).Should().Throw<InvalidOperationException>().WithMessage("*MoveNext*");
        query.MoveNext().Should().BeTrue();
        query.Invoking(q => q.Backward()).Should().Throw<InvalidOperationException>();
        query.Invoking(q => q.Take(1)).Should().Throw<InvalidOperationException>();
        query.Key.ToArray().Should().Equal(TableKit.Key("s0"));
        reading.Dispose();
        query.Invoking(q => q.Current).Should().Throw<ObjectDisposedException>();
        query.Invoking(q => q.MoveNext()).Should().Throw<ObjectDisposedException>();

        // Another transaction may use the same objects.
        using var next = _environment.BeginRead();
        _ = next.OpenTable(TableKit.Items).Count;
        query.Invoking(q => q.Current).Should().Throw<ObjectDisposedException>();
        query.Dispose();
        query.Dispose();
        query.Invoking(q => q.MoveNext()).Should().Throw<ObjectDisposedException>();
        PageToken.TryParse("!", out _).Should().BeFalse();
        PageToken.TryParse("AA", out _).Should().BeFalse();
        FluentActions.Invoking(() => PageToken.Parse("!")).Should().Throw<FormatException>();
    }

    /// <summary>A token of another index was taken for a place in this one: rows were skipped without a word.</summary>
    [Fact]
    public void A_token_belongs_to_a_table_an_index_and_a_direction()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(TableKit.Items);
        List<Func<RowQuery<Item>>> orders =
        [
            () => table.Scan(), () => table.ByKey(), () => table.From("section"), () => table.From("tags"),
            () => table.Scan().Backward(), () => table.From("section").Backward(),
        ];
        foreach (var order in orders)
        {
            using var page = order().Take(2);
            while (page.MoveNext())
                continue;
            foreach (var other in orders)
            {
                using var next = other().After(PageToken.Parse(page.Token.ToString()));
                if (other == order)
                    next.MoveNext().Should().BeTrue();
                else
                    next.Invoking(query => query.MoveNext()).Should().Throw<PageTokenException>().WithMessage("*table 'items'*");
            }
        }

        using var part = table.Scan(3).Take(1);
        part.MoveNext().Should().BeTrue();
        using var rest = table.Scan(0).After(part.Token);
        rest.MoveNext().Should().BeTrue("a range is no other order");
    }

    private static Item Numbered(int i) => new($"i{i:00}", $"s{i % 4}", i, $"src{i}") { Tags = [$"t{i % 3}", $"t{i % 5}"] };
}
