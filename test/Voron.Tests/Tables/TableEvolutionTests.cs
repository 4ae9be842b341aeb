using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Indexes are added to and dropped from existing rows while others write, and an interrupted build continues.</summary>
public sealed class TableEvolutionTests : IDisposable
{
    private static readonly EvolveOptions SmallSteps = new() { MaxBytes = 1 };

    private readonly TestDirectory _directory = new();
    private StorageEnvironment _environment;

    public TableEvolutionTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_table_that_does_not_exist_is_created()
    {
        var report = await _environment.EvolveAsync(TableKit.Items, cancellationToken: Stop);
        (report.IsCreated, report.RowsRead).Should().Be((true, 0));
        report.Built.Should().Equal("section", "tags", "large", "source");
        (await _environment.EvolveAsync(TableKit.Items, cancellationToken: Stop)).IsCreated.Should().BeFalse();
        _environment.MustBeSound(TableKit.Items, 0);
    }

    [Fact]
    public async Task Indexes_are_added_changed_and_dropped()
    {
        _environment.Insert(TableKit.Plain(1).Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add("old " + item.Section))
            .Index("gone", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Id)), Items(300));
        var wanted = TableKit.Plain(2).Index("section", 2, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
            .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));
        var progress = new List<EvolveProgress>();
        var report = await _environment.EvolveAsync(wanted, new SynchronousProgress<EvolveProgress>(progress.Add), SmallSteps, Stop);
        (report.IsCreated, report.RowsRead).Should().Be((false, 300));
        report.Built.Should().BeEquivalentTo("section", "source");
        report.Dropped.Should().BeEquivalentTo("gone", "section");
        progress.Should().HaveCount(300);
        progress[^1].Should().BeEquivalentTo(new { RowsRead = 300L, RowIdsPassed = 300L, RowIdsTotal = 300L });
        _environment.MustBeSound(wanted, 300);
        using var reading = _environment.BeginRead();
        TableKit.Ids(reading.OpenTable(wanted).FromRaw("section", KeyRange.Prefix(TableKit.Key("s1")))).Should().HaveCount(60);
    }

    [Fact]
    public async Task Writers_beside_the_builder_leave_each_key_once()
    {
        _environment.Insert(TableKit.Plain(1), Items(400));
        var wanted = Evolved();
        var random = new Random(7);
        var step = 0;
        var progress = new SynchronousProgress<EvolveProgress>(_ =>
        {
            // Between two steps, in rows on both sides of the cursor, and in new ones.
            _environment.Write(writing =>
            {
                var table = writing.OpenTable(wanted);
                for (var i = 0; i < 3; i++)
                {
                    var id = $"i{random.Next(500)}";
                    if (random.Next(3) == 0)
                        table.Delete(id);
                    else
                        table.Upsert(new Item(id, $"s{random.Next(9)}", step));
                }
            });
            step++;
        });
        await _environment.EvolveAsync(wanted, progress, SmallSteps, Stop);
        step.Should().BeGreaterThan(200);
        using var reading = _environment.BeginRead();
        _environment.MustBeSound(wanted, reading.OpenTable(wanted).Count);
    }

    [Fact]
    public async Task A_building_that_was_cancelled_continues_after_a_restart()
    {
        _environment.Insert(TableKit.Plain(1), Items(200));
        using var cancel = new CancellationTokenSource();
        var steps = 0;
        var progress = new SynchronousProgress<EvolveProgress>(_ =>
        {
            if (++steps == 50)
                cancel.Cancel();
        });
        await _environment.Awaiting(e => e.EvolveAsync(Evolved(), progress, SmallSteps, cancel.Token).AsTask())
            .Should().ThrowAsync<OperationCanceledException>();
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        using (var reading = _environment.BeginRead())
        {
            var table = reading.OpenTable(Evolved());
            table.GetIndexState("section").Should().Be(IndexState.Building);
            table.Invoking(t => t.From("section")).Should().Throw<IndexNotReadyException>();
        }

        (await _environment.EvolveAsync(Evolved(), cancellationToken: Stop)).RowsRead.Should().Be(150);
        _environment.MustBeSound(Evolved(), 200);
    }

    [Fact]
    public async Task A_duplicate_is_found_before_anything_is_changed()
    {
        var plain = TableKit.Plain(1);
        _environment.Insert(plain, new Item("a", Source: "one"), new Item("b", Source: "two"), new Item("c", Source: "one"));
        var wanted = TableKit.Plain(2).UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));
        var failure = (await _environment.Awaiting(e => e.EvolveAsync(wanted, cancellationToken: Stop).AsTask())
            .Should().ThrowAsync<DuplicateKeyException>()).Which;
        (failure.IndexName, failure.RowId, failure.ExistingRowId).Should().Be(("source", 2, 0));
        failure.Key.ToArray().Should().Equal(TableKit.Key("one"));
        _environment.Write(writing =>
        {
            var table = writing.OpenTable(plain);
            table.Insert(new Item("d", Source: "two"));
            table.Delete("c");
            table.Upsert(new Item("d", Source: "three"));
        });
        await _environment.EvolveAsync(wanted, cancellationToken: Stop);
        _environment.MustBeSound(wanted, 3);
    }

    [Fact]
    public async Task A_writer_that_adds_a_duplicate_fails_the_index_and_its_rollback_undoes_that()
    {
        _environment.Insert(TableKit.Plain(1), new Item("a", Source: "one"), new Item("b", Source: "two"), new Item("c", Source: "three"));
        var wanted = TableKit.Plain(2).UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));
        var steps = 0;
        var progress = new SynchronousProgress<EvolveProgress>(_ =>
        {
            if (++steps != 1)
                return;
            using var writing = _environment.BeginWrite();
            var table = writing.OpenTable(wanted);
            using (var savepoint = writing.CreateSavepoint())
            {
                table.Insert(new Item("d", Source: "one"));
                table.GetIndexState("source").Should().Be(IndexState.Failed);
                savepoint.Rollback();
            }

            table.GetIndexState("source").Should().Be(IndexState.Building);
            table.Insert(new Item("d", Source: "four"));
            writing.Commit();
        });
        await _environment.EvolveAsync(wanted, progress, SmallSteps, Stop);
        _environment.MustBeSound(wanted, 4);
    }

    [Fact]
    public async Task A_function_that_throws_takes_the_evolution_back()
    {
        _environment.Insert(TableKit.Plain(1), Items(20));
        var failing = true;
        var wanted = TableKit.Plain(2).Index("section", 1, (in Item item, ref IndexKeys keys) =>
        {
            if (failing && item.Id == "i12")
                throw new FormatException("No.");
            keys.Add(item.Section);
        });
        var thrown = (await _environment.Awaiting(e => e.EvolveAsync(wanted, options: SmallSteps, cancellationToken: Stop).AsTask())
            .Should().ThrowAsync<IndexKeyException>()).Which;
        (thrown.IndexName, thrown.RowId).Should().Be(("section", 12));
        _environment.Insert(TableKit.Plain(1), new Item("z"));
        failing = false;
        (await _environment.EvolveAsync(wanted, cancellationToken: Stop)).RowsRead.Should().Be(21);
        _environment.MustBeSound(wanted, 21);
    }

    [Fact]
    public async Task An_older_definition_does_not_evolve_the_table_back()
    {
        _environment.Insert(TableKit.Plain(2), new Item("a"));
        await _environment.Awaiting(e => e.EvolveAsync(TableKit.Items, cancellationToken: Stop).AsTask())
            .Should().ThrowAsync<SchemaMismatchException>();
        Exception? inside = null;
        _environment.Write(_ => inside = _environment.EvolveAsync(TableKit.Plain(2), cancellationToken: Stop).AsTask().Exception?.InnerException);
        inside.Should().BeOfType<InvalidOperationException>();
    }

    private static TableDefinition<string, Item> Evolved() => TableKit.Plain(2)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .UniqueIndex("id", 1, static (in Item item, ref IndexKeys keys) => keys.Begin().Add(item.Id).Add(item.Section));

    private static Item[] Items(int count) => [.. Enumerable.Range(0, count).Select(i => new Item($"i{i}", $"s{i % 5}", i, $"src{i}"))];
}
