using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Salvaging;
using Voron.Trees;
using static Voron.Tests.Tables.SharedIndexKit;

namespace Voron.Tests.Tables;

/// <summary>Shared indexes at their limits, and beside calls that come at the same time.</summary>
public sealed class SharedIndexSurroundingsTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public SharedIndexSurroundingsTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public void The_first_and_the_last_row_id_stay_in_their_table()
    {
        const long last = (1L << 48) - 1;
        var shared = new SharedIndex("one key", 1);
        var (low, high) = (Numbers("low"), Numbers("high"));
        _environment.Write(writing =>
        {
            writing.CreateTable(low).InsertMany([0, last]);
            writing.CreateTable(high).InsertMany([0, last]);
        });
        using var reading = _environment.BeginRead();
        foreach (var definition in new[] { low, high })
        {
            var table = reading.OpenTable(definition);
            var (forward, backward) = (new List<long>(), new List<long>());
            foreach (var row in table.From("one key"))
                forward.Add(row);
            foreach (var row in table.From("one key").Backward())
                backward.Add(row);
            forward.Should().Equal(0, last);
            backward.Should().Equal(last, 0);
            using var ids = table.IdsRaw("one key", TableKit.Key("k"));
            ids.Seek(1).Should().BeTrue();
            ids.Current.Should().Be(last);
            ids.Seek(last + 1).Should().BeFalse();
            _environment.MustBeSound(definition, 2);
        }

        var all = new List<SharedRow>();
        foreach (var row in reading.QuerySharedIndex(shared).Backward())
            all.Add(row);
        all.Should().Equal(new("high", last), new("high", 0), new("low", last), new("low", 0));

        TableDefinition<long, long> Numbers(string name) => TableDefinition.CreateWithRowIds(name, 1, new NumberCodec(), static (long row) => row)
            .Index(shared, static (in long _, ref IndexKeys keys) => keys.Add("k"));
    }

    [Fact]
    public void An_index_that_has_had_all_its_members_refuses_another_one()
    {
        Fill(_environment);
        SetNextMember(Tags, SharedPlace.MaxMember);
        _environment.Insert(Define("the last one"), Tagged("x1", "red"));
        FluentActions.Invoking(() => _environment.Insert(Define("one too many"), Tagged("y1", "red"))).Should().Throw<StorageFullException>()
            .WithMessage("The table 'one too many' cannot get the shared index 'tags': 32767 tables have had version 1 of it, *");
        _environment.MustBeSound(Define("the last one"), 1);
        using var reading = _environment.BeginRead();
        Found(reading.QuerySharedIndexRaw(Tags, KeyRange.Prefix(TableKit.Key("red")))).Should().HaveCount(4);
    }

    [Fact]
    public async Task A_compact_copy_has_the_index()
    {
        Fill(_environment);
        var copy = Path.Combine(_directory.Path, "copy");
        await _environment.CompactToAsync(copy, cancellationToken: Stop);
        using var environment = StorageEnvironment.Open(copy, FaultTestKit.Options());
        environment.MustBeSound(Notes, 2);
        environment.MustBeSound(Books, 3);
        using (var reading = environment.BeginRead())
            Found(reading.QuerySharedIndex(Tags)).Should().HaveCount(5);
        (await environment.DropTableAsync("books", Stop)).Should().BeTrue();
        using var after = environment.BeginRead();
        Found(after.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
    }

    [Fact]
    public async Task Calls_that_drop_tables_at_once_remove_all_that_they_leave()
    {
        for (var i = 0; i < 8; i++)
            _environment.Insert(Define($"table {i}"), [.. Enumerable.Range(0, 300).Select(n => Tagged($"{n}", "red", $"t{n % 9}"))]);
        _environment.Insert(Notes, Tagged("n1", "red"));
        await Task.WhenAll(Enumerable.Range(0, 8).Select(i => Task.Run(() => _environment.DropTableAsync($"table {i}", Stop).AsTask(), Stop)));
        using var reading = _environment.BeginRead();
        Found(reading.QuerySharedIndex(Tags)).Should().Equal("red notes n1");
        IdsInTree(reading).Should().Be(1);
    }

    [Fact]
    public async Task A_cancelled_removal_leaves_a_dropped_table_dropped()
    {
        Fill(_environment);
        using var cancelled = new CancellationTokenSource();
        _environment.Write(static writing => writing.DeleteTable("books"));
        await cancelled.CancelAsync();
        await FluentActions.Awaiting(() => _environment.EvolveAsync(Notes, cancellationToken: cancelled.Token).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        using (var reading = _environment.BeginRead())
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
        (await _environment.DropTableAsync("no such table", Stop)).Should().BeFalse();
        await _environment.EvolveAsync(Notes, cancellationToken: Stop);
        using var after = _environment.BeginRead();
        IdsInTree(after).Should().Be(2);
    }

    [Fact]
    public void A_token_of_a_table_is_none_of_the_index_and_the_other_way_round()
    {
        Fill(_environment);
        using var reading = _environment.BeginRead();
        using var all = reading.QuerySharedIndex(Tags).Take(3);
        while (all.MoveNext())
            continue;
        var notes = reading.OpenTable(Notes);
        using var own = notes.From("tags").Take(1);
        own.MoveNext().Should().BeTrue();
        FluentActions.Invoking(() => TableKit.Ids(notes.From("tags").After(PageToken.Parse(all.Token.ToString()))))
            .Should().Throw<PageTokenException>().WithMessage("*index 'tags' of table 'notes'*");
        FluentActions.Invoking(() => Found(reading.QuerySharedIndex(Tags).After(own.Token)))
            .Should().Throw<PageTokenException>().WithMessage("*shared index 'tags'*");
        FluentActions.Invoking(() => Found(reading.QuerySharedIndex(Tags).After(all.Token).Backward()))
            .Should().Throw<PageTokenException>().WithMessage("*backwards*");
        PageToken.TryParse(".AAAAAAAA", out _).Should().BeFalse();
        PageToken.TryParse(".________________", out _).Should().BeFalse("ids are not negative");
        PageToken.Parse(all.Token.ToString()).Should().Be(all.Token);
    }

    [Fact]
    public void A_table_that_one_of_its_indexes_does_not_take_is_in_none()
    {
        var full = new SharedIndex("full", 1);
        _environment.Insert(Notes.Index(full, AddTags), Tagged("n1", "red"));
        SetNextMember(full, SharedPlace.MaxMember + 1);
        using (var writing = _environment.BeginWrite())
        {
            FluentActions.Invoking(() => writing.CreateTable(Books.Index(full, AddTags))).Should().Throw<StorageFullException>();
            FluentActions.Invoking(() => writing.Commit()).Should().Throw<InvalidOperationException>();
        }

        using var reading = _environment.BeginRead();
        Found(reading.QuerySharedIndex(Tags)).Should().Equal("red notes n1");
    }

    [Fact]
    public void A_query_leaves_out_a_table_that_is_deleted_on_the_way()
    {
        Fill(_environment);
        using var writing = _environment.BeginWrite();
        using var query = writing.QuerySharedIndex(Tags);
        query.MoveNext().Should().BeTrue();
        writing.DeleteTable("books").Should().BeTrue();
        query.Count().Should().Be(2);
        Found(query).Should().Equal("blue notes n2", "red notes n1");
    }

    [Fact]
    public void A_query_does_not_take_another_table_for_one_that_was_rolled_back()
    {
        _environment.Insert(Notes, Tagged("n1", "red"));
        using var writing = _environment.BeginWrite();
        using (var early = writing.QuerySharedIndex(Tags))
            early.MoveNext().Should().BeTrue();
        using var savepoint = writing.CreateSavepoint();
        writing.CreateTable(Books).Insert(Tagged("b1", "red"));
        using var query = writing.QuerySharedIndex(Tags);
        savepoint.Rollback();
        writing.CreateTable(Define("other")).Insert(Tagged("o1", "red"));
        Found(query).Should().ContainSingle("what was added since the query was made does not come");
    }

    [Fact]
    public async Task A_damaged_index_does_not_fail_the_evolution_of_another_table()
    {
        var path = Path.Combine(_directory.Path, "damaged");
        using (var environment = StorageEnvironment.Open(path, FaultTestKit.Options()))
        {
            foreach (var definition in new[] { Books, Notes, Define("left") })
                environment.Insert(definition, [.. Enumerable.Range(0, 1_500).Select(n => Tagged($"{n}", $"tag {n}"))]);
            environment.Write(static writing => writing.DeleteTable("left").Should().BeTrue());
        }

        LeafDamage.Do(path, SystemTree.IndexName(2, 1, isUnique: false), isLast: true);
        var log = new ListLogger();
        using var damaged = StorageEnvironment.Open(path, FaultTestKit.Options(log));
        var report = await damaged.EvolveAsync(Plain("other", 1), cancellationToken: Stop);
        report.IsCreated.Should().BeTrue();
        FaultTestKit.WarningsOf(damaged, log).Should().Contain(line => line.StartsWith("Row ids that a table left in shared index number 2 of the "));
        (await damaged.DropTableAsync("other", Stop)).Should().BeTrue();
    }

    private void SetNextMember(SharedIndex index, int next) => _environment.Write(writing =>
    {
        var schemas = writing.FindSystemTree(SystemTree.Schemas)!.Value;
        var key = SchemaKeys.SharedIndex(index.Name, index.Version);
        schemas.TryGet(key, out var numbers).Should().BeTrue();
        schemas.Put(key, (byte[])[.. numbers[..2], (byte)next, (byte)(next >> 8)]);
    });

    private sealed class NumberCodec : IRowCodec<long>
    {
        public void Write(in long row, ref RowWriter writer) => writer.WriteInt64(row);

        public long Read(ref RowReader reader) => reader.ReadInt64();
    }
}
