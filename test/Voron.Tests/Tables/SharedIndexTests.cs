using Voron.Tables;
using Voron.Tests.Faults;
using static Voron.Tests.Tables.SharedIndexKit;

namespace Voron.Tests.Tables;

/// <summary>An index that several tables share finds the rows of all of them, and of each alone.</summary>
public sealed class SharedIndexTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public SharedIndexTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public void Rows_of_all_tables_are_found_in_the_order_of_keys()
    {
        Fill(_environment);
        using var reading = _environment.BeginRead();
        Found(reading.QuerySharedIndex(Tags)).Should()
            .Equal("blue books b1", "blue notes n2", "red books b1", "red books b2", "red notes n1");
        Found(reading.QuerySharedIndexRaw(Tags, KeyRange.Prefix(TableKit.Key("red"))).Backward()).Should()
            .Equal("red notes n1", "red books b2", "red books b1");
        reading.QuerySharedIndexRaw(Tags, KeyRange.Prefix(TableKit.Key("red"))).Count().Should().Be(3);
        Found(reading.QuerySharedIndex(Tags).Take(2)).Should().Equal("blue books b1", "blue notes n2");
    }

    [Fact]
    public void A_table_finds_its_own_rows_alone()
    {
        Fill(_environment);
        using var reading = _environment.BeginRead();
        var notes = reading.OpenTable(Notes);
        TableKit.Ids(notes.From("tags")).Should().Equal("n2", "n1");
        TableKit.Ids(notes.From("tags").Backward()).Should().Equal("n1", "n2");
        notes.From("tags").Count().Should().Be(2);
        var (red, blue, none) = (TableKit.Key("red"), TableKit.Key("blue"), TableKit.Key("none"));
        TableKit.Ids(notes.Rows(IdQuery.Or(notes.IdsRaw("tags", red), notes.IdsRaw("tags", blue)))).Should().Equal("n1", "n2");
        TableKit.Ids(notes.Rows(IdQuery.And(notes.IdsRaw("tags", red), notes.IdsRaw("section", none)))).Should().Equal("n1");
        var books = reading.OpenTable(Books);
        FluentActions.Invoking(() => books.Rows(notes.IdsRaw("tags", red))).Should().Throw<ArgumentException>()
            .WithMessage("*not those of table 'books'*");
    }

    [Fact]
    public void Ids_of_a_part_continue_from_a_seek()
    {
        _environment.Insert(Books, [.. Enumerable.Range(0, 700).Select(n => Tagged($"b{n:D3}", "red"))]);
        _environment.Insert(Notes, [.. Enumerable.Range(0, 700).Select(n => Tagged($"n{n:D3}", "red"))]);
        using var reading = _environment.BeginRead();
        foreach (var definition in new[] { Books, Notes })
        {
            var table = reading.OpenTable(definition);
            using var ids = table.IdsRaw("tags", TableKit.Key("red"));
            ids.Seek(690).Should().BeTrue();
            var rest = new long[20];
            ids.Fill(rest).Should().Be(10);
            rest[..10].Should().Equal(Enumerable.Range(690, 10).Select(id => (long)id));
            ids.MoveNext().Should().BeFalse();
            TableKit.Ids(table.From("tags")).Should().HaveCount(700);
            TableKit.Ids(table.From("tags").Backward()).Should().HaveCount(700);
        }
    }

    [Fact]
    public void Pages_continue_behind_a_token_that_was_text()
    {
        Fill(_environment);
        using var reading = _environment.BeginRead();
        foreach (var isBackward in new[] { false, true })
        {
            var all = Found(Directed(reading.QuerySharedIndex(Tags), isBackward));
            var token = "";
            var paged = new List<string>();
            for (var before = -1; before < paged.Count;)
            {
                before = paged.Count;
                using var query = Directed(reading.QuerySharedIndex(Tags), isBackward).After(PageToken.Parse(token)).Take(1);
                paged.AddRange(Found(query));
                token = query.Token.ToString();
                token.Should().MatchRegex("^[.A-Za-z0-9_-]*$");
            }

            paged.Should().Equal(all);
        }

        static SharedIndexQuery Directed(SharedIndexQuery query, bool isBackward) => isBackward ? query.Backward() : query;
    }

    [Fact]
    public async Task Rows_of_a_table_that_is_dropped_are_found_no_more_and_its_ids_are_removed()
    {
        Fill(_environment);
        (await _environment.DropTableAsync("books", Stop)).Should().BeTrue();
        using (var reading = _environment.BeginRead())
        {
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
            IdsInTree(reading).Should().Be(2);
        }

        // Another table of the name is another member.
        _environment.Insert(Books, Tagged("b1", "red"));
        using (var reading = _environment.BeginRead())
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1", "red books b1");
        _environment.MustBeSound(Notes, 2);
        _environment.MustBeSound(Books, 1);
    }

    [Fact]
    public async Task The_ids_of_a_table_that_was_deleted_in_a_transaction_stay_unseen_until_an_evolution_removes_them()
    {
        Fill(_environment);
        _environment.Write(writing =>
        {
            writing.DeleteTable("books").Should().BeTrue();
            Found(writing.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
        });
        using (var reading = _environment.BeginRead())
        {
            IdsInTree(reading).Should().Be(5);
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
            TableKit.Ids(reading.OpenTable(Notes).From("tags")).Should().Equal("n2", "n1");
        }

        _environment.Insert(Books, Tagged("b1", "red"));
        await _environment.EvolveAsync(Notes, cancellationToken: Stop);
        using (var reading = _environment.BeginRead())
        {
            IdsInTree(reading).Should().Be(3);
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1", "red books b1");
        }
    }

    [Fact]
    public async Task Many_ids_of_a_former_member_are_removed_in_steps()
    {
        _environment.Insert(Books, [.. Enumerable.Range(0, 6_000).Select(n => Tagged($"b{n}", "red", $"t{n % 50}"))]);
        _environment.Insert(Notes, [.. Enumerable.Range(0, 100).Select(n => Tagged($"n{n}", "red", $"t{n % 50}"))]);
        _environment.Write(static writing => writing.DeleteTable("books").Should().BeTrue());
        var before = _environment.Internals.Engine.Ring.PublishedId;
        await _environment.EvolveAsync(Notes, options: new EvolveOptions { MaxHold = TimeSpan.FromTicks(1) }, cancellationToken: Stop);
        _environment.Internals.Engine.Ring.PublishedId.Should().BeGreaterThan(before + 50, "each step has time for one key");
        using var reading = _environment.BeginRead();
        IdsInTree(reading).Should().Be(200);
        _environment.MustBeSound(Notes, 100);
    }

    [Fact]
    public async Task The_index_goes_with_its_last_table_and_comes_again()
    {
        Fill(_environment);
        await _environment.DropTableAsync("books", Stop);
        await _environment.DropTableAsync("notes", Stop);
        using (var reading = _environment.BeginRead())
        {
            FluentActions.Invoking(() => reading.QuerySharedIndex(Tags)).Should().Throw<KeyNotFoundException>()
                .WithMessage("No table in '*' has the shared index 'tags' version 1.*");
            reading.GetTables().Should().BeEmpty();
        }

        Fill(_environment);
        using var again = _environment.BeginRead();
        Found(again.QuerySharedIndex(Tags)).Should().HaveCount(5);
    }

    [Fact]
    public async Task Rows_that_are_there_come_into_the_index_and_leave_it_with_a_new_version()
    {
        _environment.Insert(Notes, Tagged("n1", "red"), Tagged("n2", "blue"));
        _environment.Insert(Plain("books", 1), [.. Enumerable.Range(0, 300).Select(n => Tagged($"b{n}", "red"))]);
        var isAsked = false;
        var progress = new SynchronousProgress<EvolveProgress>(made =>
        {
            if (isAsked || made.RowIdsPassed == made.RowIdsTotal)
                return;
            isAsked = true;
            using var reading = _environment.BeginRead();
            FluentActions.Invoking(() => reading.QuerySharedIndex(Tags)).Should().Throw<IndexNotReadyException>()
                .Which.TableName.Should().Be("books");
            TableKit.Ids(reading.OpenTable(Notes).From("tags")).Should().HaveCount(2);
        });
        var books = Plain("books", 2).Index(Tags, AddTags);
        await _environment.EvolveAsync(books, progress, new EvolveOptions { MaxBytes = 1 }, Stop);
        isAsked.Should().BeTrue();
        using (var reading = _environment.BeginRead())
            Found(reading.QuerySharedIndex(Tags)).Should().HaveCount(302);

        // The other table stays with the older version of the index.
        var newTags = new SharedIndex("tags", 2);
        await _environment.EvolveAsync(Plain("books", 3).Index(newTags, AddTags), cancellationToken: Stop);
        using (var reading = _environment.BeginRead())
        {
            Found(reading.QuerySharedIndex(Tags)).Should().Equal("blue notes n2", "red notes n1");
            Found(reading.QuerySharedIndex(newTags)).Should().HaveCount(300);
            IdsInTree(reading).Should().Be(2);
        }

        _environment.MustBeSound(Notes, 2);
        _environment.MustBeSound(Plain("books", 3).Index(newTags, AddTags), 300);
    }

    [Fact]
    public void A_rollback_takes_a_table_out_of_the_index_again()
    {
        _environment.Insert(Notes, Tagged("n1", "red"));
        using (var writing = _environment.BeginWrite())
        {
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.CreateTable(Books).Insert(Tagged("b1", "red"));
                Found(writing.QuerySharedIndex(Tags)).Should().Equal("red notes n1", "red books b1");
                savepoint.Rollback();
            }

            Found(writing.QuerySharedIndex(Tags)).Should().Equal("red notes n1");
            writing.CreateTable(Books).Insert(Tagged("b1", "red"));
            writing.OpenTable(Notes).Upsert(Tagged("n1", "blue"));
            Found(writing.QuerySharedIndex(Tags)).Should().Equal("blue notes n1", "red books b1");
            writing.Commit();
        }

        _environment.MustBeSound(Notes, 1);
        _environment.MustBeSound(Books, 1);
    }

    [Fact]
    public void A_table_of_another_transaction_reads_no_row()
    {
        Fill(_environment);
        using var reading = _environment.BeginRead();
        using var other = _environment.BeginRead();
        using var query = reading.QuerySharedIndex(Tags);
        FluentActions.Invoking(() => query.Current).Should().Throw<InvalidOperationException>().WithMessage("*has not begun*");
        query.MoveNext().Should().BeTrue();
        FluentActions.Invoking(() => query.TryGetRow(other.OpenTable(Books), out _)).Should().Throw<ArgumentException>()
            .WithMessage("*another transaction*");
        FluentActions.Invoking(query.Backward).Should().Throw<InvalidOperationException>().WithMessage("*has begun already*");
        query.ToString().Should().Be("query of the shared index 'tags' version 1 on row 0 of table 'books'");
    }

    [Fact]
    public void A_definition_has_a_name_once()
    {
        FluentActions.Invoking(() => Books.Index("tags", 1, AddTags)).Should().Throw<ArgumentException>()
            .WithMessage("*has an index 'tags' already*");
        FluentActions.Invoking(() => Books.Index(new SharedIndex("tags", 2), AddTags)).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => new SharedIndex("(expiry)", 1)).Should().Throw<ArgumentException>();
        Books.IndexNames.Should().Equal("section", "tags");
    }

    [Fact]
    public void An_index_of_its_own_is_not_the_shared_one_of_that_name()
    {
        _environment.Insert(Plain("books", 1)
            .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section)).Index("tags", 1, AddTags));
        using var writing = _environment.BeginWrite();
        FluentActions.Invoking(() => writing.OpenTable(Books).Insert(Tagged("b1", "red"))).Should().Throw<SchemaMismatchException>()
            .WithMessage("*index 'tags'*");
    }

    [Fact]
    public void The_list_of_tables_says_that_an_index_is_shared()
    {
        Fill(_environment);
        var index = _environment.GetTables().Single(table => table.Name == "notes").Indexes.Single(index => index.Name == "tags");
        index.Should().BeEquivalentTo(new { IsShared = true, Keys = 2, RowIds = 5, State = IndexState.Ready });
        index.ToString().Should().StartWith("shared index 'tags' version 1: Ready");
    }

    [Fact]
    public void An_update_that_keeps_its_keys_leaves_the_index_alone()
    {
        Fill(_environment);
        var before = _environment.GetTables().Single(table => table.Name == "notes").Indexes.Single(index => index.Name == "tags");
        _environment.Write(writing => writing.OpenTable(Notes).Upsert(Tagged("n1", "red") with { Size = 9 }));
        _environment.GetTables().Single(table => table.Name == "notes").Indexes.Single(index => index.Name == "tags").Should().Be(before);
        _environment.Write(writing => writing.OpenTable(Notes).Delete("n1"));
        using var reading = _environment.BeginRead();
        Found(reading.QuerySharedIndexRaw(Tags, KeyRange.Prefix(TableKit.Key("red")))).Should().Equal("red books b1", "red books b2");
    }
}
