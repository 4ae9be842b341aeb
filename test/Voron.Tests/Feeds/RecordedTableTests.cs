using System.Globalization;
using System.Text;
using Voron.Feeds;
using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Feeds;

/// <summary>A table records its rows, and not what its trees make of them.</summary>
public sealed class RecordedTableTests : IDisposable
{
    private static readonly TableDefinition<long, Item> Numbers =
        TableDefinition.CreateWithRowIds("numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, CultureInfo.InvariantCulture));

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public RecordedTableTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        _environment.Insert(TableKit.Items, new Item("before"));
        Record(RecordedContent.NewValues | RecordedContent.OldValues);
    }

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Inserts_updates_and_removals_have_the_new_and_the_old_row()
    {
        Recorded(table => table.Insert(new Item("a", Size: 1))).Should().Equal("Insert a 1");
        Recorded(table => table.Upsert(new Item("b", Size: 1))).Should().Equal("Insert b 1");
        Recorded(table => table.Upsert(new Item("a", Size: 2))).Should().Equal("Update a 2 was 1");
        Recorded(table => table.TryUpdate(new Item("a", Size: 3), out _).Should().BeTrue()).Should().Equal("Update a 3 was 2");
        Recorded(table => table.TryUpdate("a", 4, static (row, size) => row with { Size = size }, out _)).Should().Equal("Update a 4 was 3");
        Recorded(table => table.Delete("a").Should().BeTrue()).Should().Equal("Delete a was 4");
        Recorded(table =>
        {
            table.Delete("a").Should().BeFalse();
            table.TryUpdate(new Item("a"), out _).Should().BeFalse();
        }).Should().BeEmpty();
        Recorded(table => table.InsertMany([new Item("c", Size: 1), new Item("d", Size: 2)])).Should().Equal("Insert c 1", "Insert d 2");
    }

    [Fact]
    public void A_row_that_stays_as_it_is_records_nothing()
    {
        Recorded(table => table.Upsert(new Item("a", Size: 1)));
        Recorded(table => table.Upsert(new Item("a", Size: 1))).Should().BeEmpty();
    }

    [Fact]
    public void What_is_refused_records_nothing()
    {
        Recorded(table => table.InsertMany([new Item("a", Size: 1, Source: "one"), new Item("b", Size: 2, Source: "one")]));
        Recorded(table =>
        {
            table.Invoking(t => t.Insert(new Item("a"))).Should().Throw<DuplicateKeyException>();
            table.Invoking(t => t.Upsert(new Item("b", Size: 1, Source: "one"))).Should().Throw<DuplicateKeyException>();
            table.Invoking(t => t.InsertMany([new Item("c"), new Item("a"), new Item("d")])).Should().Throw<DuplicateKeyException>();
            table.Invoking(t => t.Upsert(new Item("a"), RowVersion.None)).Should().Throw<ConcurrencyException>();
            table.Insert(new Item("e"));
        }).Should().Equal("Insert e 0");
    }

    [Fact]
    public void Rows_that_an_index_finds_are_removed_one_by_one()
    {
        Recorded(table => table.InsertMany([.. Enumerable.Range(0, 50).Select(i => new Item($"{i:00}", i % 2 == 0 ? "even" : "odd", i))]));
        Recorded(table => table.DeleteWhereRaw("section", KeyRange.Prefix(TableKit.Key("even")), 10).Should().Be(10)).Should()
            .Equal(Enumerable.Range(0, 10).Select(i => $"Delete {2 * i:00} was {2 * i}"));
        Recorded(table => table.DeleteWhereRaw("section", KeyRange.Prefix(TableKit.Key("other"))).Should().Be(0)).Should().BeEmpty();
        _environment.MustBeSound(TableKit.Items, 41);
    }

    [Theory]
    [InlineData(RecordedContent.KeysOnly, "Insert a,Update a,Delete a")]
    [InlineData(RecordedContent.NewValues, "Insert a 1,Update a 2,Delete a")]
    [InlineData(RecordedContent.OldValues, "Insert a,Update a was 1,Delete a was 2")]
    public void The_content_is_as_the_feed_is_to_have_it(RecordedContent content, string expected)
    {
        Record(content);
        Recorded(table =>
        {
            table.Insert(new Item("a", Size: 1));
            table.Upsert(new Item("a", Size: 2));
            table.Delete("a");
        }).Should().Equal(expected.Split(','));
    }

    [Fact]
    public void Rows_that_are_too_long_are_left_out()
    {
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxValueBytes = 200 }));
        var text = new string('t', 300);
        Recorded(table =>
        {
            table.Insert(new Item("a", Size: 1));
            table.Upsert(new Item("a", Size: 2) { Text = text });
            table.Upsert(new Item("a", Size: 3) { Text = text });
            table.Upsert(new Item("a", Size: 4));
        }).Should().Equal("Insert a 1", "Update a ? was 1", "Update a ? was ?", "Update a 4 was ?");
    }

    [Fact]
    public void Keys_are_those_of_the_codec_or_row_ids()
    {
        _environment.Write(writing =>
        {
            writing.CreateTable(Numbers);
            writing.RecordTable(FeedKit.Feed, "numbers");
        });
        var before = _environment.Newest();
        _environment.Write(writing =>
        {
            writing.OpenTable(TableKit.Items).Insert(new Item("a"));
            var table = writing.OpenTable(Numbers);
            table.Insert(new Item("258"));
            table.Upsert(new Item("258", Size: 1));
            table.Delete(258);
        });
        var batch = Read(before);
        batch[0].Key.ToArray().Should().Equal((byte)'a');
        for (var i = 1; i <= 3; i++)
            Convert.ToHexString(batch[i].Key).Should().Be("000000000102");
        batch[1].Source.Should().Be(new FeedSource("numbers", IsTable: true));
        batch[1].GetRow(Numbers).Id.Should().Be("258");
        batch[2].GetRow(Numbers).Size.Should().Be(1);
        _environment.MustBeSound(Numbers, 0);
    }

    [Fact]
    public void A_row_is_read_with_the_definition_of_its_table()
    {
        _environment.Record(tree: "plain");
        var before = _environment.Newest();
        _environment.Write(writing =>
        {
            writing.OpenTable(TableKit.Items).Insert(new Item("a"));
            writing.OpenTable(TableKit.Items).Delete("a");
            writing.OpenTree("plain").Put([1], [1]);
        });
        var batch = Read(before);
        batch[0].GetRow(TableKit.Items).Should().Be(new Item("a"));
        batch[1].GetOldRow(TableKit.Items).Should().Be(new Item("a"));
        FluentActions.Invoking(() => batch[0].GetOldRow(TableKit.Items)).Should().Throw<InvalidOperationException>().WithMessage("*old row*");
        FluentActions.Invoking(() => batch[1].GetRow(TableKit.Items)).Should().Throw<InvalidOperationException>().WithMessage("*new row*");
        FluentActions.Invoking(() => batch[0].GetRow(Numbers)).Should().Throw<ArgumentException>().WithParameterName("definition");
        FluentActions.Invoking(() => batch[2].GetRow(TableKit.Items)).Should().Throw<ArgumentException>().WithParameterName("definition");
        FluentActions.Invoking(() => batch[0].GetRow((TableDefinition<string, Item>)null!)).Should().Throw<ArgumentNullException>();
        FluentActions.Invoking(() => default(Change).GetRow(TableKit.Items)).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void A_change_has_the_version_of_its_row()
    {
        _environment.Record(tree: "plain");
        var before = _environment.Newest();
        var versions = _environment.Write(writing =>
        {
            var table = writing.OpenTable(TableKit.Items);
            var inserted = table.Insert(new Item("a"));
            var updated = table.Upsert(new Item("a", Size: 2));
            table.Delete("a");
            writing.OpenTree("plain").Put([1], [1]);
            return (inserted, updated);
        });
        var batch = Read(before);
        batch[0].GetVersion().Should().Be(versions.inserted);
        batch[1].GetVersion().Should().Be(versions.updated);
        FluentActions.Invoking(() => batch[2].GetVersion()).Should().Throw<InvalidOperationException>().WithMessage("*new row*");
        FluentActions.Invoking(() => batch[3].GetVersion()).Should().Throw<InvalidOperationException>().WithMessage("*not of a row*");
        FluentActions.Invoking(() => default(Change).GetVersion()).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void What_savepoints_take_back_is_not_recorded()
    {
        Recorded(table => table.Insert(new Item("a", Size: 1)));
        var before = _environment.Newest();
        _environment.Write(writing =>
        {
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.OpenTable(TableKit.Items).Upsert(new Item("a", Size: 2));
                savepoint.Rollback();
            }

            writing.OpenTable(TableKit.Items).Upsert(new Item("a", Size: 3));
        });
        Describe(before).Should().Equal("Update a 3 was 1");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_table_that_is_deleted_or_dropped_ends_its_source(bool drops)
    {
        _environment.Insert(TableKit.Items, [.. Enumerable.Range(0, 5_000).Select(i => new Item($"{i}") { Text = new string('t', 500) })]);
        var before = _environment.Newest();
        if (drops)
            (await _environment.DropTableAsync("items", FeedKit.Token)).Should().BeTrue();
        else
            _environment.Write(writing => writing.DeleteTable("items").Should().BeTrue());
        _environment.Insert(TableKit.Items, new Item("new"));
        Describe(before).Should().Equal("SourceDeleted");
        _environment.Info().Sources.Should().BeEmpty();
        _environment.Write(writing => writing.StopRecordingTable("items").Should().BeFalse());
        Record(RecordedContent.KeysOnly);
        Recorded(table => table.Delete("new")).Should().Equal("Delete new");
    }

    [Fact]
    public void A_table_that_is_stopped_is_recorded_no_more()
    {
        var before = _environment.Newest();
        _environment.Write(writing =>
        {
            writing.StopRecordingTable("items").Should().BeTrue();
            writing.OpenTable(TableKit.Items).Insert(new Item("a"));
        });
        Describe(before).Should().Equal("SourceRemoved");
        _environment.Write(writing => writing.StopRecordingTable("items").Should().BeFalse());
    }

    [Fact]
    public async Task Indexes_that_are_built_record_nothing()
    {
        var before = _environment.Newest();
        var newer = TableKit.Items.Index("size", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size));
        await _environment.EvolveAsync(newer, cancellationToken: FeedKit.Token);
        Describe(before).Should().BeEmpty();
    }

    private void Record(RecordedContent content) => _environment.Write(writing =>
    {
        writing.CreateFeed(FeedKit.Feed);
        writing.RecordTable(FeedKit.Feed, "items", content);
    });

    private List<string> Recorded(Action<WriteTable<string, Item>> change)
    {
        var before = _environment.Newest();
        _environment.Write(writing => change(writing.OpenTable(TableKit.Items)));
        return Describe(before);
    }

    private ChangeBatch Read(ChangePosition after)
    {
        var batch = new ChangeBatch(1 << 20);
        using var reading = _environment.BeginRead();
        reading.ReadChanges(FeedKit.Feed, after, batch);
        return batch;
    }

    private List<string> Describe(ChangePosition after)
    {
        var texts = new List<string>();
        foreach (var change in Read(after))
        {
            var text = $"{change.Operation}";
            if (!change.Key.IsEmpty)
                text += $" {Encoding.UTF8.GetString(change.Key)}";
            if (change.HasNewValue)
                text += $" {change.GetRow(TableKit.Items).Size}";
            if (change.IsNewValueLeftOut)
                text += " ?";
            if (change.HasOldValue)
                text += $" was {change.GetOldRow(TableKit.Items).Size}";
            if (change.IsOldValueLeftOut)
                text += " was ?";
            texts.Add(text);
        }

        return texts;
    }
}
