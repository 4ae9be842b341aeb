using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Tables begin and end to expire, and definitions that do not know it do not write.</summary>
public sealed class ExpiryEvolutionTests : IDisposable
{
    private static readonly EvolveOptions SmallSteps = new() { MaxBytes = 1 };

    private readonly TestDirectory _directory = new();
    private readonly SetClock _clock = new();
    private readonly StorageEnvironment _environment;

    public ExpiryEvolutionTests() => _environment = StorageEnvironment.Open(_directory.Path, ExpiryKit.Options(_clock));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Existing_rows_get_their_times()
    {
        _environment.Insert(ExpiryKit.Timeless, Items(200));
        _clock.PassMinutes(2);

        // Until then the table is as it was, also for writers with the times.
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Items).Upsert(new Item("new", "s", 1)));
        _environment.Read().Should().HaveCount(201);
        var progress = new SynchronousProgress<EvolveProgress>(step =>
            _environment.Read().Count.Should().Be(step.RowIdsPassed < 201 ? 201 : 100, "rows expire when all have their times"));
        (await _environment.EvolveAsync(ExpiryKit.Items, progress, SmallSteps, Token))
            .Built.Should().Equal("(expiry)");
        _environment.MustBeSound(ExpiryKit.Items, 201);
        Version(ExpiryKit.Items, "i002").Should().NotBe(RowVersion.None);
        Version(ExpiryKit.Items, "i001").Should().Be(RowVersion.None);
        _environment.Read().Should().HaveCount(100).And.OnlyContain(id => !id.EndsWith('1'));
        (await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token)).Should().Be(101);
        _environment.MustBeSound(ExpiryKit.Items, 100);
    }

    [Fact]
    public async Task Rows_keep_their_versions_when_they_get_times()
    {
        _environment.Insert(ExpiryKit.Timeless, Items(20));
        var before = Enumerable.Range(0, 20).Select(i => Version(ExpiryKit.Timeless, $"i{i:D3}")).ToList();
        await _environment.EvolveAsync(ExpiryKit.Items, null, SmallSteps, Token);
        Enumerable.Range(0, 20).Select(i => Version(ExpiryKit.Items, $"i{i:D3}")).Should().Equal(before);
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Items).Upsert(new Item("i003", "s", 9), before[3]));
    }

    [Fact]
    public async Task Writers_beside_the_builder_agree_with_it()
    {
        _environment.Insert(ExpiryKit.Timeless, Items(300));
        var random = new Random(5);
        var progress = new SynchronousProgress<EvolveProgress>(_ => _environment.Write(writing =>
        {
            var table = writing.OpenTable(ExpiryKit.Items);
            for (var i = 0; i < 3; i++)
            {
                var id = $"i{random.Next(400):D3}";
                if (random.Next(4) == 0)
                    table.Delete(id);
                else
                    table.Upsert(new Item(id, "s", random.Next(5)));
            }
        }));
        await _environment.EvolveAsync(ExpiryKit.Items, progress, SmallSteps, Token);
        _environment.MustBeSound(ExpiryKit.Items, _environment.GetTables()[0].Rows);
        _clock.PassMinutes(5);
        await _environment.DeleteExpiredAsync(ExpiryKit.Items, Token);
        _environment.MustBeSound(ExpiryKit.Items, _environment.Read().Count);
    }

    [Fact]
    public async Task A_definition_without_times_reads_but_does_not_write_until_the_table_has_lost_them()
    {
        _environment.Insert(ExpiryKit.Items, Items(20));
        _clock.PassMinutes(2);
        using (var reading = _environment.BeginRead())
            TableKit.Ids(reading.OpenTable(ExpiryKit.Timeless).Scan()).Should().HaveCount(10, "the times are in the rows");
        foreach (var other in (TableDefinition<string, Item>[])[ExpiryKit.Timeless, ExpiryKit.Timeless.Expire(ExpiryKit.TimeOf, version: 2)])
        {
            _environment.Write(writing => writing.OpenTable(other).Invoking(table => table.Upsert(new Item("x")))
                .Should().Throw<SchemaMismatchException>().WithMessage("*expire*EvolveAsync*"));
        }

        await _environment.Awaiting(e => e.EvolveAsync(ExpiryKit.Timeless, cancellationToken: Token).AsTask())
            .Should().ThrowAsync<SchemaMismatchException>().WithMessage("*(expiry)*DropIndexAsync*");
        (await _environment.DropIndexAsync("items", "(expiry)", Token)).Should().BeTrue();
        using (var reading = _environment.BeginRead())
            TableKit.Ids(reading.OpenTable(ExpiryKit.Timeless).Scan()).Should().HaveCount(20);
        _environment.Write(writing => writing.OpenTable(ExpiryKit.Timeless).Upsert(new Item("i001", "changed", 1)));
        _environment.MustBeSound(ExpiryKit.Timeless, 20);

        // Heads of rows from before do not count, and are written anew.
        var never = ExpiryKit.Timeless.Expire(static item => item.Id == "i002" ? ExpiryKit.Start : null);
        await _environment.EvolveAsync(never, null, SmallSteps, Token);
        _environment.MustBeSound(never, 20);
        using (var reading = _environment.BeginRead())
            TableKit.Ids(reading.OpenTable(never).Scan()).Should().HaveCount(19).And.NotContain("i002");
    }

    [Fact]
    public async Task Another_version_of_the_function_gives_all_rows_other_times()
    {
        _environment.Insert(ExpiryKit.Items, Items(50));
        var later = ExpiryKit.Timeless.Expire(static item => ExpiryKit.Start.AddMinutes(10 + item.Size), version: 2);
        _clock.PassMinutes(5);
        _environment.Read().Should().HaveCount(25);
        var report = await _environment.EvolveAsync(later, null, SmallSteps, Token);
        (report.Built.Single(), report.Dropped.Single()).Should().Be(("(expiry)", "(expiry)"));
        _environment.MustBeSound(later, 50);
        using var reading = _environment.BeginRead();
        TableKit.Ids(reading.OpenTable(later).Scan()).Should().HaveCount(50);
    }

    [Fact]
    public async Task A_unique_index_is_built_although_an_expired_row_has_the_same_key()
    {
        var before = TableKit.Plain(1).Expire(ExpiryKit.TimeOf);
        var after = TableKit.Plain(1).Expire(ExpiryKit.TimeOf)
            .UniqueIndex("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        _environment.Insert(
            before, new Item("a", "first", 5), new Item("b", "second"), new Item("c", "third", 1), new Item("d", "third"), new Item("e", "fifth"));
        _clock.PassMinutes(1);
        var steps = 0;
        var progress = new SynchronousProgress<EvolveProgress>(_ =>
        {
            // The first row expires when its key has been built.
            if (++steps != 2)
                return;
            _clock.PassMinutes(5);
            _environment.Write(writing => writing.OpenTable(after).Upsert(new Item("e", "first")));
        });
        await _environment.EvolveAsync(after, progress, SmallSteps, Token);
        _environment.MustBeSound(after, 3);
        using var reading = _environment.BeginRead();
        TableKit.Ids(reading.OpenTable(after).From("section")).Should().Equal("e", "b", "d");
    }

    private static Item[] Items(int count) => [.. Enumerable.Range(0, count).Select(i => new Item($"i{i:D3}", $"s{i % 5}", i % 2))];

    private RowVersion Version(TableDefinition<string, Item> definition, string key)
    {
        using var reading = _environment.BeginRead();
        reading.OpenTable(definition).TryGetVersion(key, out var version);
        return version;
    }
}
