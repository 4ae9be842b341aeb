using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>A new program whose definition does not fit the rows leaves the old one as it was, and says which rows they are.</summary>
public sealed class MigrationTests : IDisposable
{
    private static readonly EvolveOptions SmallSteps = new() { MaxBytes = 1 };

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public MigrationTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private static TableDefinition<string, Item> Old => TableKit.Plain(1)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));

    private static TableDefinition<string, Item> New => TableKit.Plain(2)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));

    [Fact]
    public async Task Duplicate_rows_leave_the_old_program_writing()
    {
        _environment.Insert(Old, new Item("a", Source: "one"), new Item("b", Source: "two"), new Item("c", Source: "one"));
        var id = Published;
        await Evolving(New).Should().ThrowAsync<DuplicateKeyException>();
        Published.Should().Be(id, "nothing was written");
        _environment.Insert(Old, new Item("d", Source: "three"));
        (await _environment.EvolveAsync(Old, cancellationToken: Stop)).Dropped.Should().BeEmpty();
        _environment.Write(writing => writing.OpenTable(Old).Delete("c"));
        (await _environment.EvolveAsync(New, cancellationToken: Stop)).Built.Should().Equal("source");
        _environment.MustBeSound(New, 3);
    }

    [Fact]
    public async Task A_duplicate_that_comes_while_the_index_is_built_takes_the_evolution_back()
    {
        _environment.Insert(Old, Items(20));
        var wanted = New.Index("size", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size));
        var steps = 0;
        var progress = new SynchronousProgress<EvolveProgress>(_ =>
        {
            if (++steps == 5)
                _environment.Insert(wanted, new Item("x", Source: "src3"));
        });
        var failure = (await _environment.Awaiting(e => e.EvolveAsync(wanted, progress, SmallSteps, Stop).AsTask())
            .Should().ThrowAsync<DuplicateKeyException>()).Which;
        failure.IndexName.Should().Be("source");

        // The row of the new program has its version, which the old one cannot read.
        _environment.Write(writing => writing.OpenTable(Old).Upsert(new Item("i3", "changed")));
        using (var reading = _environment.BeginRead())
        {
            var table = reading.OpenTable(wanted);
            (table.GetIndexState("source"), table.GetIndexState("size")).Should().Be((IndexState.Failed, IndexState.Absent));
        }

        (await _environment.EvolveAsync(wanted, cancellationToken: Stop)).Built.Should().BeEquivalentTo("source", "size");
        _environment.MustBeSound(wanted, 21);
    }

    [Fact]
    public async Task A_failure_after_a_crash_goes_back_to_the_version_before()
    {
        _environment.Insert(Old, Items(20));
        var isFailing = false;
        var wanted = TableKit.Plain(2).Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
            .Index("size", 1, (in Item item, ref IndexKeys keys) =>
                keys.Add(isFailing && item.Size == 15 ? throw new FormatException("No.") : item.Size));
        using var cancel = new CancellationTokenSource();
        var progress = new SynchronousProgress<EvolveProgress>(_ => cancel.Cancel());
        await _environment.Awaiting(e => e.EvolveAsync(wanted, progress, SmallSteps, cancel.Token).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        _environment.Write(writing => writing.OpenTable(Old).Invoking(t => t.Delete("i3")).Should().Throw<SchemaMismatchException>());
        isFailing = true;
        await _environment.Awaiting(e => e.EvolveAsync(wanted, options: SmallSteps, cancellationToken: Stop).AsTask())
            .Should().ThrowAsync<IndexKeyException>();
        _environment.Write(writing => writing.OpenTable(Old).Delete("i3").Should().BeTrue());
        _environment.MustBeSound(Old, 19);
    }

    [Fact]
    public async Task A_check_lists_what_the_new_definition_refuses_and_writes_nothing()
    {
        _environment.Insert(
            Old, new Item("a", Source: "one"), new Item("b", Source: "two"), new Item("c", Source: "one"), new Item("d", "bad", Source: "three"),
            new Item("e", Source: "two"));
        var wanted = New.Index("strict", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Section == "bad")
                throw new FormatException("A bad section.");
            keys.Add(item.Section);
        });
        _environment.Flush();
        _environment.Dispose();
        var options = FaultTestKit.Options();
        options.ReadOnly = true;
        using var readOnly = StorageEnvironment.Open(_directory.Path, options);
        var report = await readOnly.CheckAsync(wanted, Stop);
        (report.IsFit, report.RowsRead, report.ProblemCount).Should().Be((false, 5, 3));
        report.Problems.Select(problem => (problem.RowId, problem.IndexName, problem.OtherRowId)).Should().BeEquivalentTo(
            new (long, string?, long?)[] { (2, "source", 0), (4, "source", 1), (3, "strict", null) });
        report.ToString().Should().Contain("A bad section.");
        (await readOnly.CheckAsync(Old, Stop)).IsFit.Should().BeTrue();
        await readOnly.Awaiting(e => e.CheckAsync(ExpiryKit.Numbered, Stop).AsTask()).Should().ThrowAsync<KeyNotFoundException>();
    }

    [Theory]
    [InlineData("other key")]
    [InlineData("no key")]
    [InlineData("one more key")]
    public async Task A_function_that_has_changed_with_the_same_version_is_met_before_it_writes(string change)
    {
        _environment.Insert(Old, Items(300));
        var changed = TableKit.Plain(1).Index("section", 1, (in Item item, ref IndexKeys keys) =>
        {
            if (change != "no key")
                keys.Add(change == "other key" ? item.Section.ToUpperInvariant() : item.Section);
            if (change == "one more key")
                keys.Add(item.Id);
        });
        using (var writing = _environment.BeginWrite())
        {
            var failure = writing.Invoking(w => w.OpenTable(changed)).Should().Throw<IndexMismatchException>().Which;
            (failure.TableName, failure.IndexName).Should().Be(("items", "section"));
            failure.Message.Should().Contain($"row {failure.RowId}");
            if (change == "other key")
                failure.ReturnedKey.ToArray().Should().Equal(TableKit.Key($"S{failure.RowId % 5}"));
            if (change != "one more key")
                failure.FoundKey.ToArray().Should().Equal(TableKit.Key($"s{failure.RowId % 5}"));
            writing.OpenTable(Old).Delete("i7").Should().BeTrue("the transaction continues");
            writing.Commit();
        }

        await Evolving(changed).Should().ThrowAsync<IndexMismatchException>();
        (await _environment.CheckAsync(changed, Stop)).Problems.Should().AllSatisfy(problem => problem.IndexName.Should().Be("section"));
        _environment.MustBeSound(Old, 299);
    }

    [Fact]
    public async Task A_primary_key_that_has_changed_is_met_before_it_writes()
    {
        _environment.Insert(Old, Items(10));
        var changed = TableDefinition.Create("items", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id + "!")
            .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        (await Evolving(changed).Should().ThrowAsync<IndexMismatchException>()).Which.IndexName.Should().BeEmpty();
    }

    [Fact]
    public void A_table_is_sampled_once_for_each_definition()
    {
        var calls = 0;
        var counted = TableKit.Plain(1).Index("section", 1, (in Item item, ref IndexKeys keys) =>
        {
            calls++;
            keys.Add(item.Section);
        });
        _environment.Insert(Old, Items(300));
        _environment.Write(writing => _ = writing.OpenTable(counted));
        calls.Should().BeInRange(66, 100);
        var before = calls;
        for (var i = 0; i < 10; i++)
            _environment.Write(writing => _ = writing.OpenTable(counted));
        calls.Should().Be(before);
        using var reading = _environment.BeginRead();
        _ = reading.OpenTable(counted);
        calls.Should().Be(before);
    }

    [Fact]
    public async Task An_older_instance_of_the_same_version_does_not_drop_the_indexes_of_a_newer_one()
    {
        _environment.Insert(Old, Items(10));
        var newer = Old.UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));
        await _environment.EvolveAsync(newer, cancellationToken: Stop);
        await Evolving(Old).Should().ThrowAsync<SchemaMismatchException>().WithMessage("*'source'*version 1*DropIndexAsync*");
        var second = TableKit.Plain(1).Index("section", 2, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
            .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));
        await _environment.EvolveAsync(second, cancellationToken: Stop);
        await Evolving(newer).Should().ThrowAsync<SchemaMismatchException>().WithMessage("*'section'*version 2*");
        _environment.MustBeSound(second, 10);
    }

    [Fact]
    public async Task An_index_is_dropped_by_an_explicit_call()
    {
        _environment.Insert(New, Items(10));
        (await _environment.DropIndexAsync("items", "source", Stop)).Should().BeTrue();
        (await _environment.DropIndexAsync("items", "source", Stop)).Should().BeFalse();
        (await _environment.DropIndexAsync("none", "source", Stop)).Should().BeFalse();
        await _environment.Awaiting(e => e.DropIndexAsync("items", "", Stop).AsTask()).Should().ThrowAsync<ArgumentException>();
        _environment.Insert(New, new Item("x", Source: "src3"));
        await Evolving(New).Should().ThrowAsync<DuplicateKeyException>();
        _environment.MustBeSound(New, 11);
    }

    [Fact]
    public void Duplicate_keys_are_found()
    {
        var random = new Random(3);
        var keys = Enumerable.Range(0, 5_000).Select(_ => BitConverter.GetBytes(random.Next(100_000))).ToList();
        var expected = keys.GroupBy(static key => BitConverter.ToInt32(key)).Sum(group => group.Count() - 1);
        using (var duplicates = _environment.CreateDuplicateKeyFinder(mostFound: 5_000, Stop))
        {
            for (var row = 0; row < keys.Count; row++)
                duplicates.Add(row % 2, [.. keys[row], .. row % 2 == 0 ? [] : "other index"u8], row);
            for (var row = 0; row < keys.Count; row++)
                duplicates.Add(2, keys[row], row);
            duplicates.Find().Where(pair => pair.Slot == 2).Should().HaveCount(expected).And.OnlyContain(pair => pair.First < pair.Second)
                .And.OnlyContain(pair => keys[(int)pair.First].SequenceEqual(keys[(int)pair.Second]));
        }

        using var same = _environment.CreateDuplicateKeyFinder(mostFound: 5, Stop);
        for (var row = 0; row < 1_000; row++)
            same.Add(0, [1], row);
        same.Find().Should().HaveCount(5);
    }

    private long Published => _environment.GetStatistics().PublishedTransactionId;

    private Func<Task> Evolving(TableDefinition<string, Item> definition) =>
        () => _environment.EvolveAsync(definition, cancellationToken: Stop).AsTask();

    private static Item[] Items(int count) => [.. Enumerable.Range(0, count).Select(i => new Item($"i{i}", $"s{i % 5}", i, $"src{i}"))];
}
