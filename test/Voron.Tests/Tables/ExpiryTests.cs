using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>An expired row is as if it were deleted: no read returns it, and its keys are free.</summary>
public sealed class ExpiryTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly SetClock _clock = new();
    private readonly StorageEnvironment _environment;

    public ExpiryTests() => _environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(_clock));

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void No_read_returns_an_expired_row()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10, "source a"), new Item("b", "s", 20, "source b"), new Item("c", "t"));
        _clock.PassMinutes(9.999);
        _environment.Read().Should().Equal("a", "b", "c");
        _clock.Now = ExpiryKit.Start.AddMinutes(10);
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(ExpiryKit.Items);
        table.TryGet("a", out _).Should().BeFalse();
        table.TryGet("a", out _, out var version).Should().BeFalse();
        version.Should().Be(RowVersion.None);
        table.Contains("a").Should().BeFalse();
        table.TryGetVersion("a", out _).Should().BeFalse();
        table.TryGetReader("a", out _).Should().BeFalse();
        table.TryGetByRowId(0, out _).Should().BeFalse();
        table.TryGetByRaw("source", TableKit.Key("source a"), out _).Should().BeFalse();
        table.Contains("b").Should().BeTrue();
        table.TryGetByRaw("source", TableKit.Key("source b"), out _).Should().BeTrue();
        table.TryGetByRowId(1, out _).Should().BeTrue();
        TableKit.Ids(table.Scan()).Should().Equal("b", "c");
        TableKit.Ids(table.Scan(0, 1)).Should().Equal("b");
        TableKit.Ids(table.ByKey()).Should().Equal("b", "c");
        TableKit.Ids(table.ByKey().Backward()).Should().Equal("c", "b");
        TableKit.Ids(table.From("source")).Should().Equal("b");
        table.Sections().Should().Equal("b", "c");
        table.Sections(isBackward: true).Should().Equal("c", "b");
        TableKit.Ids(table.Rows(table.IdsRaw("section", TableKit.Key("s")))).Should().Equal("b");
        var both = IdQuery.Or(table.IdsRaw("section", TableKit.Key("s")), table.IdsRaw("section", TableKit.Key("t")));
        TableKit.Ids(table.Rows(both)).Should().Equal("b", "c");

        // Counts have it until it is deleted.
        table.Count.Should().Be(3);
        table.From("section").Count().Should().Be(3);
    }

    [Fact]
    public void Long_queries_and_pages_pass_over_expired_rows()
    {
        // Runs of expired rows that are longer than the rows that are looked up together.
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, 1000).Select(i => new Item($"i{i:D4}", $"s{i % 3}", i / 100 % 2 == 0 ? 5 : 0))]);
        _clock.PassMinutes(5);
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(ExpiryKit.Items);
        TableKit.Ids(table.Scan()).Should().HaveCount(500).And.OnlyContain(id => (id[2] - '0') % 2 == 1);
        var all = table.Sections();
        all.Should().HaveCount(500).And.OnlyHaveUniqueItems();
        table.Sections(isBackward: true).AsEnumerable().Reverse().Should().Equal(all);
        var (paged, token) = (new List<string>(), default(PageToken));
        while (true)
        {
            var query = table.From("section").After(token).Take(17);
            var page = TableKit.Ids(query);
            page.Count.Should().BeLessThanOrEqualTo(17);
            paged.AddRange(page);
            token = query.Token;
            if (page.Count < 17)
                break;
        }

        paged.Should().Equal(all);
    }

    [Fact]
    public void A_transaction_reads_the_clock_once_for_all_tables_and_only_if_rows_expire()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10));
        _environment.Write(writing => writing.CreateTable(ExpiryKit.Numbered).Insert(new Item("1", "s", 10)));
        _environment.Write(writing => writing.CreateTree("plain").Put("k"u8, "v"u8));
        var before = _clock.Readings;
        using (var plain = _environment.BeginRead())
            plain.OpenTree("plain").Count.Should().Be(1);
        _clock.Readings.Should().Be(before);
        using var reading = _environment.BeginRead();
        reading.OpenTable(ExpiryKit.Items).Contains("a").Should().BeTrue();
        _clock.PassMinutes(10);
        reading.OpenTable(ExpiryKit.Items).Contains("a").Should().BeTrue();
        reading.OpenTable(ExpiryKit.Numbered).Contains(1).Should().BeTrue();
        _clock.Readings.Should().Be(before + 1);
        using (var fork = reading.Fork())
            fork.OpenTable(ExpiryKit.Numbered).Contains(1).Should().BeFalse();

        // It comes back while it has not been deleted.
        _clock.PassMinutes(-5);
        _environment.Read().Should().Equal("a");
    }

    [Fact]
    public void Inserts_and_upserts_replace_an_expired_row()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10, "source a"), new Item("b", "s", 10, "source b"));
        var old = Version("a");
        _clock.PassMinutes(10);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(ExpiryKit.Items);
            var next = new Item("a", "new", 30, "source b");
            table.Invoking(table => table.Upsert(next, old)).Should().Throw<ConcurrencyException>();
            table.TryUpdate(next, out var none).Should().BeFalse();
            table.Delete("a").Should().BeFalse();
            none.Should().Be(RowVersion.None);
            var version = table.Insert(next);
            version.Value.Should().BeGreaterThan(old.Value);
            table.TryGetByRowId(0, out _).Should().BeFalse();
            table.Upsert(new Item("b", "new", 40), RowVersion.None).Value.Should().BeGreaterThan(old.Value);
            table.Invoking(table => table.Insert(next)).Should().Throw<DuplicateKeyException>().Which.IndexName.Should().BeEmpty();
        });
        _environment.MustBeSound(ExpiryKit.Items, 2);
        using var reading = _environment.BeginRead();
        reading.OpenTable(ExpiryKit.Items).Sections().Should().Equal("a", "b");
    }

    [Fact]
    public void A_row_whose_key_is_its_id_is_replaced()
    {
        _environment.Write(writing => writing.CreateTable(ExpiryKit.Numbered).Insert(new Item("7", "old", 10)));
        _clock.PassMinutes(10);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(ExpiryKit.Numbered);
            table.Contains(7).Should().BeFalse();
            table.TryGet(7, out _).Should().BeFalse();
            table.Insert(new Item("7", "new", 20));
        });
        _environment.MustBeSound(ExpiryKit.Numbered, 1);
        _clock.PassMinutes(10);
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Numbered).Upsert(new Item("7", "newest")));
        _environment.MustBeSound(ExpiryKit.Numbered, 1);
    }

    [Fact]
    public void Updates_free_the_unique_keys_of_expired_rows()
    {
        _environment.Insert(
            ExpiryKit.Items, new Item("a", "s", 10, "source a"), new Item("b", "s", 10, "source b"), new Item("c", "s", 0, "source c"),
            new Item("d", "s", 20, "source d"));
        _clock.PassMinutes(10);
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(ExpiryKit.Items);
            table.TryUpdate(new Item("c", "t", 0, "source a"), out _).Should().BeTrue();
            table.TryUpdate("c", "source b", static (item, source) => item with { Source = source, Section = "u" }, out _).Should().BeTrue();
            table.Invoking(table => table.TryUpdate(new Item("c", "t", 0, "source d"), out _)).Should().Throw<DuplicateKeyException>();
            table.TryUpdate("a", 0, static (item, _) => item, out _).Should().BeFalse();
        });
        _environment.MustBeSound(ExpiryKit.Items, 2);
        using var reading = _environment.BeginRead();
        reading.OpenTable(ExpiryKit.Items).TryGetByRaw("source", TableKit.Key("source b"), out var found).Should().BeTrue();
        found!.Id.Should().Be("c");
    }

    [Fact]
    public void An_update_moves_the_time()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10), new Item("b", "s", 10), new Item("c"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(ExpiryKit.Items);
            table.Upsert(new Item("a", "s", 20));
            table.TryUpdate("b", 0, static (item, size) => item with { Size = size }, out _);
            table.TryUpdate(new Item("c", "s", 10), out _);
        });
        _clock.PassMinutes(10);
        _environment.Read().Should().Equal("a", "b");
        _clock.PassMinutes(10);
        _environment.Read().Should().Equal("b");
        _environment.MustBeSound(ExpiryKit.Items, 3);
    }

    [Fact]
    public void Rows_that_have_expired_when_they_are_written_are_not_seen()
    {
        var ancient = TableKit.Plain(1).Expire(static item => item.Size switch
        {
            0 => DateTimeOffset.MinValue,
            1 => DateTimeOffset.MaxValue,
            2 => DateTimeOffset.UnixEpoch.AddTicks(-1),
            _ => DateTimeOffset.UnixEpoch.AddMilliseconds(-1500),
        });
        _clock.Now = DateTimeOffset.UnixEpoch.AddMilliseconds(-1);
        _environment.Insert(ancient, [.. Enumerable.Range(0, 4).Select(i => new Item($"{i}", Size: i))]);
        Ids().Should().Equal("1", "2");
        _environment.Insert(ancient, new Item("0"), new Item("3", Size: 3));
        _environment.MustBeSound(ancient, 4);
        _clock.Now = DateTimeOffset.UnixEpoch;
        Ids().Should().Equal("1");
        _clock.Now = DateTimeOffset.MaxValue;
        Ids().Should().Equal("1");

        List<string> Ids()
        {
            using var reading = _environment.BeginRead();
            return TableKit.Ids(reading.OpenTable(ancient).Scan());
        }
    }

    [Fact]
    public void A_function_that_throws_leaves_the_row_as_it_was()
    {
        var throwing = TableKit.Plain(1).Expire(static item => item.Size < 0 ? throw new FormatException("no time") : null);
        _environment.Insert(throwing, new Item("a", Size: 1));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(throwing);
            var told = table.Invoking(table => table.Insert(new Item("b", Size: -1))).Should().Throw<IndexKeyException>().Which;
            (told.IndexName, told.RowId).Should().Be(("(expiry)", null));
            told.InnerException.Should().BeOfType<FormatException>();
            table.Invoking(table => table.TryUpdate("a", -1, static (item, size) => item with { Size = size }, out _))
                .Should().Throw<IndexKeyException>().Which.RowId.Should().Be(0);
        });
        _environment.MustBeSound(throwing, 1);
        using var reading = _environment.BeginRead();
        reading.OpenTable(throwing).TryGet("a", out var row).Should().BeTrue();
        row!.Size.Should().Be(1);
    }

    [Fact]
    public void A_clock_that_throws_reaches_the_call_that_opens_the_table()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10));
        var broken = new BrokenClock();
        _environment.Dispose();
        using var environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(broken));
        broken.IsBroken = true;
        using (var reading = environment.BeginRead())
        {
            reading.Invoking(reading => reading.OpenTable(ExpiryKit.Items)).Should().Throw<TimeoutException>();
            reading.Invoking(reading => reading.OpenTable(ExpiryKit.Items)).Should().Throw<TimeoutException>();
        }

        broken.IsBroken = false;
        environment.Read().Should().Equal("a");
    }

    [Fact]
    public void The_definition_names_the_index_of_times()
    {
        ExpiryKit.Items.IndexNames.Should().Equal("section", "source", "(expiry)");
        FluentActions.Invoking(() => ExpiryKit.Items.Expire(static _ => null)).Should().Throw<ArgumentException>().WithParameterName("time");
        FluentActions.Invoking(() => TableKit.Plain(1).Index("(expiry)", 1, static (in Item _, ref IndexKeys _) => { }))
            .Should().Throw<ArgumentException>().WithParameterName("name");
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 10), new Item("b", "s", 10), new Item("c"), new Item("d", "s", 11));
        var index = _environment.GetTables().Should().ContainSingle().Which.Indexes[^1];
        (index.Name, index.Keys, index.RowIds, index.State).Should().Be(("(expiry)", 2, 3, IndexState.Ready));
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(ExpiryKit.Items);
        table.GetIndexState("(expiry)").Should().Be(IndexState.Ready);
        var until = new KeyWriter(new byte[8]).Add(ExpiryKit.Start.AddMinutes(10).ToUnixTimeSeconds());
        TableKit.Ids(table.FromRaw("(expiry)", KeyRange.Through(until.Written))).Should().Equal("a", "b");
    }

    private RowVersion Version(string key)
    {
        using var reading = _environment.BeginRead();
        reading.OpenTable(ExpiryKit.Items).TryGetVersion(key, out var version).Should().BeTrue();
        return version;
    }

    private sealed class BrokenClock : TimeProvider
    {
        public bool IsBroken { get; set; }

        public override DateTimeOffset GetUtcNow() => IsBroken ? throw new TimeoutException() : ExpiryKit.Start;
    }
}
