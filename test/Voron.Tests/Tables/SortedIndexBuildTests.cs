using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Indexes that are built from sorted keys, while writers change rows in every part of the build, or something ends it there.</summary>
public sealed class SortedIndexBuildTests : IDisposable
{
    private const int Rows = 400;

    // Some snapshots for all rows.
    private static readonly EvolveOptions Sorted = new() { FewestSortedRows = 1, MaxBytes = 4_000 };

    private readonly SimulatedDisk _disk = new();
    private StorageEnvironment _environment;

    public SortedIndexBuildTests() => _environment = Open(_disk);

    public void Dispose()
    {
        _environment.Dispose();
        _disk.Dispose();
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Writers_change_rows_in_every_part_of_a_build(int seed)
    {
        _environment.Insert(TableKit.Plain(1), Items(Rows));
        var random = new Random(seed);
        var parts = await EvolveAsync(_ => _environment.Write(writing =>
        {
            var table = writing.OpenTable(Evolved());
            for (var i = 0; i < 60; i++)
            {
                var id = $"i{random.Next(Rows + 100)}";
                using var savepoint = writing.CreateSavepoint();
                if (random.Next(3) == 0)
                    table.Delete(id);
                else
                    table.Upsert(new Item(id, $"s{random.Next(9)}", random.Next(50), $"{id} {random.Next(3)}"));
                if (random.Next(4) == 0)
                    savepoint.Rollback();
            }
        }));
        parts.Should().BeGreaterThan(6);
        MustBeSound();
    }

    [Fact]
    public async Task Writers_on_other_threads_change_rows_meanwhile()
    {
        const int Many = 12_000;
        _environment.Insert(TableKit.Plain(1), Items(Many));
        var building = Task.Run(() => _environment.EvolveAsync(Evolved(), cancellationToken: Stop).AsTask(), Stop);
        var random = new Random(5);
        while (!building.IsCompleted)
        {
            using var writing = _environment.BeginWrite();
            if (writing.TryOpenTable(Evolved(), out var table) && table.GetIndexState("source") != IndexState.Absent)
                table.Upsert(new Item($"i{random.Next(Many)}", $"s{random.Next(9)}", 7, $"new {random.Next()}"));
            writing.Commit();
        }

        (await building).RowsRead.Should().BeLessThanOrEqualTo(Many);
        MustBeSound();
    }

    [Fact]
    public async Task Rows_exchange_their_unique_keys_in_every_part()
    {
        _environment.Insert(TableKit.Plain(1), Items(Rows));
        var first = 0;
        await EvolveAsync(_ => _environment.Write(writing =>
        {
            var table = writing.OpenTable(Evolved());
            for (var i = 0; i < 20; i++, first = (first + 2) % Rows)
            {
                table.TryGet($"i{first}", out var one).Should().BeTrue();
                table.TryGet($"i{first + 1}", out var other).Should().BeTrue();
                table.Upsert(one! with { Source = other!.Source });
                table.Upsert(other with { Source = one.Source });
            }
        }));
        MustBeSound();
    }

    [Fact]
    public async Task A_duplicate_in_any_part_takes_the_evolution_back() => await InEachPart(async part =>
    {
        var failure = await _environment.Awaiting(_ => EvolveAsync(at => At(at, part, () => _environment.Insert(
            Evolved(), new Item("twice", "s1", 1, "src7"))))).Should().ThrowAsync<DuplicateKeyException>();
        (failure.Which.IndexName, failure.Which.RowId, failure.Which.ExistingRowId).Should().BeOneOf(("source", Rows, 7), ("source", 7, Rows));
        _environment.Write(writing => writing.OpenTable(TableKit.Plain(1)).Insert(new Item("old program")));
        await ReplaceAsync();
    });

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Expired_rows_are_deleted_and_fail_no_index(bool isExpiredFirst)
    {
        var clock = new SetClock();
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_disk, ExpiryKit.Options(clock));
        var plain = TableKit.Plain(1).Expire(ExpiryKit.TimeOf);
        var wanted = TableKit.Plain(2).Expire(ExpiryKit.TimeOf).UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) =>
            keys.Add(item.Section == "bad" ? throw new FormatException("No.") : item.Source));
        Item[] items = [.. Items(40).Select(item => item with { Size = 0 })];
        Item[] expired = [.. Items(20).Select(item => item with { Id = "old " + item.Id, Size = 1 }), new Item("refused", "bad", 1, "x")];
        _environment.Insert(plain, isExpiredFirst ? [.. expired, .. items] : [.. items, .. expired]);
        clock.PassMinutes(2);
        var part = 0;
        await _environment.EvolveAsync(wanted, new SynchronousProgress<EvolveProgress>(_ =>
        {
            // These expire while the index is built.
            _environment.Insert(wanted, new Item($"late {part}", "s", 3 + part, $"late {part}"));
            clock.PassMinutes(2);
            if (part > 0)
                _environment.Insert(wanted, new Item($"later {part}", "s", 0, $"late {part - 1}"));
            part++;
        }), Sorted, Stop);
        _environment.Write(writing => writing.OpenTable(wanted).Upsert(new Item("new", "s", 0, "x")));
        _environment.VerifyTable(wanted).Problems.Should().BeEmpty();
        _environment.Write(writing => TableKit.Ids(writing.OpenTable(wanted).Scan()).Count(id => id.StartsWith('i'))).Should().Be(40);
    }

    [Fact]
    public async Task Too_many_changes_for_the_memory_are_left_to_steps()
    {
        _environment.Insert(TableKit.Plain(1), Items(30_000));
        var options = new EvolveOptions { FewestSortedRows = 1, MemoryBytes = 1 << 20 };
        var progress = new List<EvolveProgress>();
        await _environment.EvolveAsync(
            Evolved(), new SynchronousProgress<EvolveProgress>(step =>
            {
                if (progress.Count == 0)
                    MoveAll(30_000, "other");
                progress.Add(step);
            }), options, Stop);
        progress.Select(step => step.RowIdsTotal).Should().OnlyContain(total => total == 30_000);
        progress[^1].RowsRead.Should().Be(60_000);
        MustBeSound();
    }

    [Fact]
    public async Task Changes_that_come_faster_than_they_are_applied_are_left_to_steps()
    {
        const int Many = 6_000;
        _environment.Insert(TableKit.Plain(1), Items(Many));
        var part = 0;
        await _environment.EvolveAsync(
            Evolved(), new SynchronousProgress<EvolveProgress>(_ => MoveAll(Many, $"part {part++ % 7}")),
            new EvolveOptions { FewestSortedRows = 1 }, Stop);
        MustBeSound();
    }

    [Fact]
    public async Task A_cancelled_build_begins_again() => await InEachPart(async part =>
    {
        using var cancel = new CancellationTokenSource();
        await _environment.Awaiting(_ => EvolveUntilAsync(at => At(at, part, cancel.Cancel), cancel.Token))
            .Should().ThrowAsync<OperationCanceledException>();
    });

    [Fact]
    public async Task A_closed_environment_ends_a_build_with_one_exception() => await InEachPart(async part =>
    {
        await _environment.Awaiting(_ => EvolveAsync(at => At(at, part, _environment.Dispose))).Should().ThrowAsync<ObjectDisposedException>();
        _environment = Open(_disk);
    });

    [Fact]
    public async Task An_index_that_is_dropped_ends_a_build() => await InEachPart(async part =>
    {
        await _environment.Awaiting(_ => EvolveAsync(at => At(at, part, () => _environment.DropIndexAsync("items", "source").AsTask().Wait())))
            .Should().ThrowAsync<SchemaMismatchException>();
    });

    [Fact]
    public async Task A_table_that_is_dropped_ends_a_build() => await InEachPart(async part =>
    {
        await _environment.Awaiting(_ => EvolveAsync(at => At(at, part, () => _environment.DropTableAsync("items").AsTask().Wait())))
            .Should().ThrowAsync<SchemaMismatchException>();
        _environment.Insert(TableKit.Plain(1), Items(Rows));
    });

    [Fact]
    public async Task A_build_leaves_another_table_of_the_same_name_alone() => await InEachPart(async part =>
    {
        await EvolveAsync(at => At(at, part, () =>
        {
            _environment.DropTableAsync("items").AsTask().Wait();
            _environment.Insert(Evolved(), Items(3));
        }));
        _environment.MustBeSound(Evolved(), 3);
    });

    [Fact]
    public async Task Two_calls_build_the_same_indexes() => await InEachPart(async part =>
        await EvolveAsync(at => At(at, part, () => EvolveAsync(_ => { }).Wait())));

    [Fact]
    public async Task Other_indexes_are_built_together_and_little_memory_suffices()
    {
        const int Many = 60_000;
        _environment.Insert(TableKit.Plain(1), Items(Many));
        var wanted = Evolved().Index("large", 1, static (in Item item, ref IndexKeys keys) => keys.Begin().Add(item.Size / 20_000).Add(new string('x', 90)));
        await _environment.EvolveAsync(wanted, options: new EvolveOptions { MemoryBytes = 1 << 20 }, cancellationToken: Stop);
        _environment.MustBeSound(wanted, Many);
    }

    [Fact]
    public async Task Each_call_of_the_disk_may_fail()
    {
        var failed = 0;
        for (var call = 0; ; call++)
        {
            using var disk = new SimulatedDisk();
            _environment.Dispose();
            _environment = Open(disk);
            _environment.Insert(TableKit.Plain(1), Items(Rows));
            var left = call;
            disk.FailNext(_ => left-- == 0, DiskError.Failed);
            var failure = await Record.ExceptionAsync(() => EvolveAsync(_ => { }));
            disk.ClearFaults();
            if (failure is EnvironmentPoisonedException)
                _environment = Reopen(disk);
            if (failure != null)
            {
                failed++;
                failure.Should().Match(error => error is StorageAccessException || error is EnvironmentPoisonedException);
            }

            await EvolveAsync(_ => { });
            MustBeSound();
            if (left >= 0)
                break;
        }

        failed.Should().BeGreaterThan(4);
    }

    // Calls it for each part of a build, from the same beginning.
    private async Task InEachPart(Func<int, Task> test)
    {
        _environment.Insert(TableKit.Plain(1), Items(Rows));
        var parts = await EvolveAsync(_ => { });
        for (var part = 0; part < parts; part++)
        {
            await ReplaceAsync();
            await test(part);
            await EvolveAsync(_ => { });
            MustBeSound();
        }
    }

    private void MoveAll(int rows, string section) => _environment.Write(writing =>
    {
        var table = writing.OpenTable(Evolved());
        for (var i = 0; i < rows; i++)
            table.TryUpdate($"i{i}", section, static (item, to) => item with { Section = to }, out _).Should().BeTrue();
    });

    private async Task ReplaceAsync()
    {
        await _environment.DropTableAsync("items", Stop);
        _environment.Insert(TableKit.Plain(1), Items(Rows));
    }

    private static void At(int now, int part, Action action)
    {
        if (now == part)
            action();
    }

    // Returns the number of parts.
    private Task<int> EvolveAsync(Action<int> atPart) => EvolveUntilAsync(atPart, Stop);

    private async Task<int> EvolveUntilAsync(Action<int> atPart, CancellationToken stop)
    {
        var part = 0;
        await _environment.EvolveAsync(Evolved(), new SynchronousProgress<EvolveProgress>(_ => atPart(part++)), Sorted, stop);
        return part;
    }

    private StorageEnvironment Reopen(SimulatedDisk disk)
    {
        _environment.Dispose();
        return Open(disk);
    }

    private void MustBeSound()
    {
        using var reading = _environment.BeginRead();
        _environment.MustBeSound(Evolved(), reading.OpenTable(Evolved()).Count);
    }

    private static StorageEnvironment Open(SimulatedDisk disk) => StorageEnvironment.Open(disk, FaultTestKit.Options());

    private static TableDefinition<string, Item> Evolved() => TableKit.Plain(2)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Source));

    private static Item[] Items(int count) => [.. Enumerable.Range(0, count).Select(i => new Item($"i{i}", $"s{i % 5}", i, $"src{i}"))];
}
