using Voron.Format;
using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Maintenance;
using Voron.Trees;

namespace Voron.Tests.Tables;

/// <summary>Tables go wherever their environment goes: into backups, copies and compacted ones, through an upgrade, and into memory.</summary>
public sealed class TableSurroundingsTests : IDisposable
{
    private const int Rows = 2_000;

    /// <summary>With an index more, which is being built.</summary>
    private static readonly TableDefinition<string, Item> Newer =
        TableKit.Items.Index("size", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size));

    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Store => Path.Combine(_directory.Path, "store");

    private string Other => Path.Combine(_directory.Path, "other");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_backup_and_an_incremental_one_restore_tables()
    {
        var (first, second) = (Path.Combine(_directory.Path, "first"), Path.Combine(_directory.Path, "second"));
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { BackgroundFlush = false, TrackChanges = true }))
        {
            Fill(environment);
            var full = await environment.BackupAsync(first, null, Token);
            environment.Write(writing => writing.OpenTable(Newer).Upsert(Of(7) with { Section = "changed" }));
            environment.Insert(Newer, Of(Rows));
            await environment.BackupAsync(second, new BackupOptions { Since = full.BackupId }, Token);
        }

        await BackupFile.RestoreAsync([first, second], Other, null, Token);
        using var restored = StorageEnvironment.Open(Other, FaultTestKit.Options());
        await CheckAsync(restored, Rows + 1);
        using var reading = restored.BeginRead();
        TableKit.Ids(reading.OpenTable(TableKit.Items).FromRaw("section", KeyRange.Prefix(TableKit.Key("changed")))).Should().Equal(Of(7).Id);
    }

    [Fact]
    public async Task A_copy_has_tables()
    {
        using (var environment = StorageEnvironment.Open(Store, FaultTestKit.Options()))
        {
            Fill(environment);
            await environment.CopyToAsync(Other, null, Token);
        }

        using var copy = StorageEnvironment.Open(Other, FaultTestKit.Options());
        await CheckAsync(copy, Rows);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_compacted_copy_has_tables_but_no_dropped_ones(bool hasLarge)
    {
        IReadOnlyList<TableStatistics> before;
        using (var environment = StorageEnvironment.Open(Store, FaultTestKit.Options()))
        {
            Fill(environment);
            if (hasLarge)
                environment.Write(writing => writing.OpenTable(Newer).Upsert(Of(3) with { Text = new string('l', 20 << 20) }));
            DropHalf(environment);
            before = environment.GetTables();
            await environment.CompactToAsync(Other, null, Token);
            await CheckAsync(environment, Rows);
        }

        using var copy = StorageEnvironment.Open(Other, FaultTestKit.Options());
        using (var reading = copy.BeginRead())
            reading.GetDroppedTrees().Should().BeEmpty();
        var after = copy.GetTables().Should().ContainSingle().Subject;
        after.Indexes.Select(index => (index.Name, index.State, index.Keys, index.RowIds, index.Cursor, index.Limit))
            .Should().Equal(before[0].Indexes.Select(index => (index.Name, index.State, index.Keys, index.RowIds, index.Cursor, index.Limit)));
        after.Rows.Should().Be(Rows);
        await CheckAsync(copy, Rows);
    }

    [Fact]
    public async Task A_compaction_moves_the_pages_of_tables()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        Fill(environment);
        environment.Insert(Newer, [.. Enumerable.Range(Rows, 10_000).Select(Of)]);
        environment.Write(writing =>
        {
            var table = writing.OpenTable(Newer);
            for (var i = 0; i < Rows + 10_000; i++)
            {
                if (i % 6 != 0)
                    table.Delete(Of(i).Id);
            }
        });
        environment.Flush();
        var report = await environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore / 2);
        await CheckAsync(environment, Rows);
    }

    [Fact]
    public async Task Verification_and_scrub_know_the_trees_of_tables()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        Fill(environment);
        DropHalf(environment);
        environment.Flush();
        var report = environment.Verify();
        report.Problems.Should().BeEmpty();

        // Two trees of the user, the tree of schemas, the rows, the primary key and five indexes.
        report.Trees.Should().Be(10);
        ScrubTestKit.ScrubAll(environment, Token).Problems.Should().BeEmpty();
        await CheckAsync(environment, Rows);
    }

    [Fact]
    public async Task The_first_table_upgrades_an_environment_of_version_1()
    {
        var options = FaultTestKit.Options();
        options.FormatVersion = (int)JournalFormat.Version1;
        using (var environment = StorageEnvironment.Open(Store, options))
        {
            environment.Write(writing => writing.CreateTree("old").Put("key"u8, "value"u8));
            environment.Internals.Engine.Format.IsVersion1.Should().BeTrue();
            environment.GetTables().Should().BeEmpty();
            Fill(environment);
            environment.Internals.Engine.Format.Has(FormatFeatures.Tables).Should().BeTrue();
        }

        using var reopened = StorageEnvironment.Open(Store, FaultTestKit.Options());
        await CheckAsync(reopened, Rows);
    }

    [Fact]
    public async Task Tables_of_an_environment_that_is_open_for_reading_are_read_only()
    {
        using (var environment = StorageEnvironment.Open(Store, FaultTestKit.Options()))
            Fill(environment);
        using var readOnly = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
        using (var reading = readOnly.BeginRead())
            reading.OpenTable(TableKit.Items).Count.Should().Be(Rows);
        readOnly.VerifyTable(TableKit.Items).IsSound.Should().BeTrue();
        readOnly.GetTables().Should().ContainSingle();
        var evolve = async () => await readOnly.EvolveAsync(TableKit.Items, cancellationToken: Token);
        await evolve.Should().ThrowAsync<InvalidOperationException>();
        var drop = async () => await readOnly.DropTableAsync("items", Token);
        await drop.Should().ThrowAsync<InvalidOperationException>();
        var recompress = async () => await readOnly.RecompressTableAsync("items", Token);
        (await recompress.Should().ThrowAsync<InvalidOperationException>()).WithMessage("RecompressTableAsync is not possible: *");
    }

    [Fact]
    public async Task Tables_work_in_memory()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        Fill(environment);
        await CheckAsync(environment, Rows);
        (await environment.DropTableAsync("items", Token)).Should().BeTrue();
        environment.GetTables().Should().BeEmpty();
    }

    private static Item Of(int i) =>
        new($"{i:D6}", $"section {i % 10}", i, $"source {i}") { Tags = [$"tag {i % 50}", "all"], Text = new string('t', 200) };

    // A table, an index of which is being built, and trees.
    private static void Fill(StorageEnvironment environment)
    {
        environment.Insert(TableKit.Items, [.. Enumerable.Range(0, Rows).Select(Of)]);
        environment.Write(writing => _ = SchemaPlan.Apply(writing, Newer.Functions, []));
        var options = new EvolveOptions { MaxBytes = 10_000 };
        environment.Write(writing =>
            IndexBuilder.Step(BoundTable.Open(new SystemTreeAccess(writing), Newer.Functions)!, options, TimeSpan.FromMinutes(1)));
        environment.Write(writing => writing.CreateTree("plain").Put("key"u8, "value"u8));
        environment.Write(writing => writing.CreateIdTree("sets").AddMany("key"u8, [1, 2, 3]));
    }

    // As a process that was killed in the midst of a drop leaves it.
    private static void DropHalf(StorageEnvironment environment)
    {
        var dropped = TableDefinition.Create("dropped", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id);
        environment.Insert(dropped, [.. Enumerable.Range(0, Rows).Select(Of)]);
        environment.Write(writing => TableCreation.Delete(
            writing, "dropped", static (transaction, tree) => _ = transaction.Body.DropTree(tree, fewPages: 0)));
        using var reading = environment.BeginRead();
        reading.GetDroppedTrees().Should().NotBeEmpty();
    }

    private static async Task CheckAsync(StorageEnvironment environment, long rows)
    {
        environment.GetTables().Should().ContainSingle().Which.Indexes[^1].State.Should().BeOneOf(IndexState.Building, IndexState.Ready);
        await environment.EvolveAsync(Newer, cancellationToken: Token);
        environment.MustBeSound(Newer, rows);
        using var reading = environment.BeginRead();
        reading.OpenTree("plain").Count.Should().Be(1);
        reading.OpenIdTree("sets").ValueCount.Should().Be(3);
        reading.GetSystemTrees().Should().Contain(tree => tree.Name.SequenceEqual(SystemTree.RowsName(1)));
    }
}
