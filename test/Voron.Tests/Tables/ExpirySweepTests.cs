using Voron.Feeds;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Expired rows are deleted by a call, and in the background, with their keys and their changes in feeds.</summary>
public sealed class ExpirySweepTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly SetClock _clock = new();
    private StorageEnvironment _environment;

    public ExpirySweepTests() => _environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(_clock));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Expired_rows_are_deleted_with_their_keys()
    {
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, 2000).Select(i => new Item($"i{i:D4}", $"s{i % 3}", i % 4, $"source {i}"))]);
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(0);
        _clock.PassMinutes(2);
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(1000);
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(0);
        _environment.MustBeSound(ExpiryKit.Items, 1000);
        var table = _environment.GetTables()[0];
        table.Indexes.Select(index => (index.Name, index.RowIds)).Should().Equal(("", 1000), ("section", 1000), ("source", 1000), ("(expiry)", 500));
        _clock.PassMinutes(1);
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(500);
        _environment.MustBeSound(ExpiryKit.Items, 500);
    }

    [Fact]
    public async Task A_row_is_deleted_at_its_millisecond()
    {
        var fine = TableKit.Plain(1).Expire(static item => ExpiryKit.Start.AddTicks(item.Size));
        _environment.Insert(fine, new Item("a", Size: 5_000_001), new Item("b", Size: 5_010_000), new Item("c", Size: 5_010_001));
        _clock.Now = ExpiryKit.Start.AddTicks(5_009_999);
        (await _environment.DeleteExpiredAsync(fine, Token)).Should().Be(0);
        _clock.Now = ExpiryKit.Start.AddTicks(5_010_000);
        (await _environment.DeleteExpiredAsync(fine, Token)).Should().Be(2);
        _clock.PassMinutes(-1);
        (await _environment.DeleteExpiredAsync(fine, Token)).Should().Be(0);
        _environment.MustBeSound(fine, 1);
    }

    [Fact]
    public async Task A_feed_has_the_deletions()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 1), new Item("b", "s", 2), new Item("c", "s", 1));
        _environment.Write(writing =>
        {
            writing.CreateFeed("feed");
            writing.RecordTable("feed", "items");
        });
        _clock.PassMinutes(1);
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Items).Insert(new Item("c", "s", 3)));
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(1);
        using var reading = _environment.BeginRead();
        var batch = new ChangeBatch();
        var changes = new List<(ChangeOperation, string)>();
        for (var position = ChangePosition.Start; reading.ReadChanges("feed", position, batch); position = batch.Position)
        {
            foreach (var change in batch)
                changes.Add((change.Operation, System.Text.Encoding.UTF8.GetString(change.Key)));
        }

        changes.Where(change => change.Item2.Length == 1).Should()
            .Equal((ChangeOperation.Delete, "c"), (ChangeOperation.Insert, "c"), (ChangeOperation.Delete, "a"));
    }

    [Fact]
    public async Task A_row_whose_functions_throw_holds_back_none_and_is_named_at_the_end()
    {
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, 600).Select(i => new Item($"i{i:D4}", "s", 1))]);
        var failing = TableKit.Plain(1)
            .Index("section", 1, static (in Item item, ref IndexKeys keys) =>
            {
                if (item.Id is "i0003" or "i0300")
                    throw new FormatException("no key");
                keys.Add(item.Section);
            })
            .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => { }).Expire(ExpiryKit.TimeOf);
        _clock.PassMinutes(1);
        for (var i = 0; i < 2; i++)
        {
            var told = (await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(failing, Token).AsTask()).Should()
                .ThrowAsync<IndexKeyException>()).Which;
            (told.IndexName, told.RowId).Should().Be(("section", 3));
            _environment.MustBeSound(ExpiryKit.Items, 2);
        }

        _environment.Read().Should().BeEmpty();
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(2);
        _environment.MustBeSound(ExpiryKit.Items, 0);
    }

    [Fact]
    public async Task The_call_is_refused_where_it_cannot_work()
    {
        await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<KeyNotFoundException>();
        await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(ExpiryKit.Timeless, Token).AsTask())
            .Should().ThrowAsync<ArgumentException>().WithParameterName("definition");
        _environment.Insert(ExpiryKit.Timeless, new Item("a", "s", 1));
        (await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<IndexNotReadyException>()).Which.IndexName.Should().Be("(expiry)");
        await _environment.EvolveAsync(ExpiryKit.Items, cancellationToken: Token);
        await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(ExpiryKit.Items, new CancellationToken(canceled: true)).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        _environment.Write(_ =>
        {
            var inside = () => _environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask().GetAwaiter().GetResult();
            inside.Should().Throw<InvalidOperationException>();
        });
        _clock.PassMinutes(1);
        var newer = TableKit.Plain(2).Expire(ExpiryKit.TimeOf);
        await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(newer, Token).AsTask()).Should().ThrowAsync<SchemaMismatchException>();
        _environment.Dispose();
        await FluentActions.Awaiting(() => _environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<ObjectDisposedException>();
        using var reading = StorageEnvironment.Open(_directory.Path, new StorageOptions { ReadOnly = true, TimeProvider = _clock });
        await FluentActions.Awaiting(() => reading.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask())
            .Should().ThrowAsync<InvalidOperationException>();
        reading.Read().Should().BeEmpty();
    }

    [Fact]
    public async Task Closing_ends_a_deletion_and_the_next_program_continues()
    {
        const int Rows = 20_000;
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, Rows).Select(i => new Item($"i{i:D5}", $"s{i % 9}", 1))]);
        _clock.PassMinutes(1);
        var deletion = _environment.DeleteExpiredAsync(ExpiryKit.Items, Token).AsTask();
        await TestWait.UntilAsync(() => _environment.GetTables()[0].Rows < Rows || deletion.IsCompleted);
        _environment.Dispose();
        await FluentActions.Awaiting(() => deletion).Should().ThrowAsync<ObjectDisposedException>();
        _environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(_clock));
        var left = _environment.GetTables()[0].Rows;
        left.Should().BeLessThan(Rows);
        _environment.Read().Should().BeEmpty();
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(left);
        _environment.MustBeSound(ExpiryKit.Items, 0);
    }

    [Fact]
    public async Task The_background_deletes_when_a_program_opens_the_table_to_write()
    {
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, 1000).Select(i => new Item($"i{i:D4}", "s", i % 2))]);
        _environment.Dispose();
        _clock.PassMinutes(1);
        var logger = new ListLogger();
        var options = ExpiryKit.Options(_clock);
        options.BackgroundFlush = true;
        options.LoggerFactory = new OneLoggerFactory(logger);
        _environment = StorageEnvironment.Open(_directory.Path, options);
        _environment.Read().Should().HaveCount(500);
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Items).Count.Should().Be(1000));
        await TestWait.UntilAsync(() => _environment.GetTables()[0].Rows == 500);
        _environment.MustBeSound(ExpiryKit.Items, 500);
        await TestWait.UntilAsync(() => logger.Entries.Any(entry => entry.Message.Contains("500 rows", StringComparison.Ordinal)));
        logger.Warnings.Should().BeEmpty();
    }

    /// <summary>DeleteWhere began its walk again for each 256 rows, and looked at all expired rows again.</summary>
    [Fact]
    public void A_deletion_by_an_index_passes_expired_rows_once()
    {
        const int Expired = 60_000;
        const int Left = 5_000;
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, Expired + Left).Select(i => new Item($"i{i:D5}", "s", i < Expired ? 1 : 0))]);
        _environment.Insert(ExpiryKit.Items, [.. Enumerable.Range(0, Left).Select(i => new Item($"p{i:D5}", "plain", 0))]);
        _clock.PassMinutes(1);
        using var writing = _environment.BeginWrite();
        var table = writing.OpenTable(ExpiryKit.Items);
        var plain = ThreadClock.Least(() => Delete("plain"));
        var pass = ThreadClock.Least(() => ThreadClock.Measure(
            () => TableKit.Ids(table.FromRaw("section", KeyRange.Prefix(TableKit.Key("s")))).Should().HaveCount(Left)));
        ThreadClock.Least(() => Delete("s")).Should().BeLessThan(3 * (plain + pass));

        TimeSpan Delete(string section)
        {
            var savepoint = writing.CreateSavepoint();
            var took = ThreadClock.Measure(() => table.DeleteWhereRaw("section", KeyRange.Prefix(TableKit.Key(section))).Should().Be(Left));
            savepoint.Rollback();
            return took;
        }
    }

    [Theory]
    [InlineData(-400, -400)]
    [InlineData(-0.5, 0)]
    [InlineData(27_000, 0)]
    public void The_background_goes_by_the_last_commit_at_first_where_that_is_earlier_than_the_clock(double days, double expected)
    {
        var clock = new SetClock { Now = ExpiryKit.Start.AddDays(days) };
        var options = FaultTestKit.Options();
        options.CommitClock = clock;
        using var environment = StorageEnvironment.OpenInMemory(options);
        FaultTestKit.Put(environment, 1, [1]);
        clock.Now = ExpiryKit.Start;
        var read = new DateTimeOffset(environment.Internals.Engine.CreateDeletionClock(clock).Read(), TimeSpan.Zero);
        read.Should().BeCloseTo(ExpiryKit.Start.AddDays(expected), TimeSpan.FromHours(1));
    }

    /// <summary>A program with a table for each day kept the definitions of all, and looked through them at each opening of a table.</summary>
    [Fact]
    public async Task Deleted_tables_leave_no_definition_behind()
    {
        _environment.Dispose();
        var options = ExpiryKit.Options(_clock);
        options.BackgroundFlush = true;
        _environment = StorageEnvironment.Open(_directory.Path, options);
        for (var i = 0; i < 40; i++)
        {
            var daily = TableDefinition.CreateWithRowIds($"day {i}", 1, new ItemCodec(), static (Item item) => 1).Expire(ExpiryKit.TimeOf);
            _environment.Write(writing => writing.CreateTable(daily));
            _environment.Write(writing => writing.OpenTable(daily).Insert(new Item("a", "s", 1)));
            _environment.ExpiringTables.Should().Be(1);
            if (i % 2 == 0)
                (await _environment.DropTableAsync($"day {i}", Token)).Should().BeTrue();
            else
                _environment.Write(writing => writing.DeleteTable($"day {i}").Should().BeTrue());
            _environment.ExpiringTables.Should().Be(0);
        }

        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 1));
        using (var writing = _environment.BeginWrite())
            writing.DeleteTable(ExpiryKit.Items.Name).Should().BeTrue();
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Items).Count.Should().Be(1));
        _environment.ExpiringTables.Should().Be(1, "the deletion was rolled back");
    }

    [Fact]
    public async Task The_background_logs_what_it_cannot_delete()
    {
        _environment.Insert(ExpiryKit.Items, new Item("a", "s", 1), new Item("b", "s", 1));
        _environment.Dispose();
        _clock.PassMinutes(1);
        var logger = new ListLogger();
        var options = ExpiryKit.Options(_clock);
        options.BackgroundFlush = true;
        options.LoggerFactory = new OneLoggerFactory(logger);
        _environment = StorageEnvironment.Open(_directory.Path, options);
        var failing = TableKit.Plain(1)
            .Index("section", 1, static (in Item item, ref IndexKeys keys) =>
                keys.Add(item.Id == "a" ? throw new FormatException("no key") : item.Section))
            .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => { }).Expire(ExpiryKit.TimeOf);
        _environment.Write(writing => _ = writing.OpenTable(failing));
        await TestWait.UntilAsync(() => logger.Warnings.Any(warning => warning.Contains("no key", StringComparison.Ordinal)));
        _environment.MustBeSound(ExpiryKit.Items, 1);
    }
}
