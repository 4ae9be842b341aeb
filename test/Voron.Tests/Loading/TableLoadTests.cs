using Voron.Feeds;
using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Loading;

/// <summary>A table that was loaded in bulk answers as one whose rows were inserted, and continues as one.</summary>
public sealed class TableLoadTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(DuplicateKeys.LastWins, false, false)]
    [InlineData(DuplicateKeys.FirstWins, false, false)]
    [InlineData(DuplicateKeys.LastWins, true, false)]
    [InlineData(DuplicateKeys.FirstWins, true, false)]
    [InlineData(DuplicateKeys.LastWins, false, true)]
    [InlineData(DuplicateKeys.FirstWins, false, true)]
    [InlineData(DuplicateKeys.LastWins, true, true)]
    [InlineData(DuplicateKeys.FirstWins, true, true)]
    public async Task Rows_are_stored_as_transactions_store_them(DuplicateKeys duplicates, bool isSorted, bool hasRows)
    {
        await CompareAsync(TableLoadKit.Texts, duplicates, isSorted, hasRows);
        await CompareAsync(TableLoadKit.Numbers, duplicates, isSorted, hasRows);
    }

    [Fact]
    public async Task Without_duplicates_row_ids_are_those_of_insertions()
    {
        await CompareIdsAsync(TableLoadKit.Texts);
        await CompareIdsAsync(TableLoadKit.Numbers);

        async Task CompareIdsAsync<TKey>(TableDefinition<TKey, Item> definition)
        {
            var random = new Random(TestSeed.Choose());
            var items = Enumerable.Range(0, 2_000).Select(id => TableLoadKit.Draw(random, id) with { Size = 0 }).ToArray();
            random.Shuffle(items);
            using var loaded = TableLoadKit.Open(_directory, $"{definition.Name} loaded");
            using var inserted = TableLoadKit.Open(_directory, $"{definition.Name} inserted");

            // Row ids that were used before are not used again.
            foreach (var environment in new[] { loaded, inserted })
            {
                environment.Write(writing => writing.CreateTable(definition).InsertMany(items.AsSpan(0, 10)));
                environment.Write(writing =>
                {
                    foreach (var item in items[..10])
                        writing.OpenTable(definition).Delete(TableLoadKit.KeyOf<TKey>(item));
                });
            }

            (await loaded.BulkLoadAsync(definition, items, null, Token)).IsAtomic.Should().BeTrue();
            inserted.Write(writing => writing.OpenTable(definition).InsertMany(items));
            foreach (var environment in new[] { loaded, inserted })
                environment.Write(writing => writing.OpenTable(definition).Insert(TableLoadKit.Draw(new Random(1), 5_000)));
            TableLoadKit.Dump(loaded, definition, withIds: true).Should().Equal(TableLoadKit.Dump(inserted, definition, withIds: true));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_codec_may_take_the_key_of_a_row_from_its_id(bool hasRows)
    {
        using var environment = TableLoadKit.Open(_directory);
        var definition = TableDefinition.CreateWithRowIds("lines", 1, new LineCodec(), static (Line line) => line.Number);
        if (hasRows)
            environment.Write(writing => writing.CreateTable(definition).Insert(new Line(5, "five")));
        var report = await environment.BulkLoadAsync(definition, [new Line(7, "seven"), new Line(2, "two")], null, Token);
        report.IsAtomic.Should().Be(!hasRows);
        using var reading = environment.BeginRead();
        reading.OpenTable(definition).TryGet(2, out var line).Should().BeTrue();
        line.Should().Be(new Line(2, "two"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_complete_load_is_durable_even_if_commits_are_lazy(bool hasRows)
    {
        var options = TableLoadKit.Options();
        (options.Durability, options.LazyInterval) = (Durability.Lazy, TimeSpan.FromMinutes(30));
        using var environment = StorageEnvironment.Open(_directory.Path, options);
        if (hasRows)
        {
            environment.Write(writing => writing.CreateTable(TableLoadKit.Texts).Insert(TableLoadKit.Draw(new Random(1), 1)));
            environment.Write(writing => writing.CreateTree("t").Put("a"u8, "b"u8));
        }

        await environment.BulkLoadAsync(TableLoadKit.Texts, [TableLoadKit.Draw(new Random(2), 2)], null, Token);
        AllIsDurable();
        await environment.BulkLoadAsync("t", [("c"u8.ToArray(), "d"u8.ToArray())], null, Token);
        AllIsDurable();

        void AllIsDurable()
        {
            var statistics = environment.GetStatistics();
            statistics.DurableTransactionId.Should().Be(statistics.PublishedTransactionId);
        }
    }

    [Fact]
    public async Task Loads_survive_in_backups_and_after_reopening()
    {
        var random = new Random(TestSeed.Choose());
        var items = Enumerable.Range(0, 3_000).Select(_ => TableLoadKit.Draw(random, random.Next(2_000))).ToArray();
        var (full, increment) = (Path.Combine(_directory, "full"), Path.Combine(_directory, "increment"));
        List<string> expected;
        using (var environment = TableLoadKit.Open(_directory))
        {
            var id = (await environment.BackupAsync(full, null, Token)).BackupId;
            await environment.BulkLoadAsync(TableLoadKit.Texts, items, new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
            await environment.BackupAsync(increment, new BackupOptions { Since = id }, Token);
            expected = TableLoadKit.Dump(environment, TableLoadKit.Texts);
        }

        await BackupFile.RestoreAsync([full, increment], Path.Combine(_directory, "restored"), null, Token);
        foreach (var place in new[] { "store", "restored" })
        {
            using var environment = TableLoadKit.Open(_directory, place);
            TableLoadKit.Dump(environment, TableLoadKit.Texts).Should().Equal(expected);
            environment.VerifyTable(TableLoadKit.Texts).Problems.Should().BeEmpty();
            environment.Verify().Problems.Should().BeEmpty();
        }
    }

    [Fact]
    public async Task Rows_longer_than_the_memory_can_sort_are_loaded()
    {
        var items = Enumerable.Range(0, 60)
            .Select(id => TableLoadKit.Draw(new Random(id), 60 - id) with { Size = 0, Text = new string('x', id * 5_000) })
            .Append(TableLoadKit.Draw(new Random(1), 7) with { Size = 0, Text = new string('y', 5 << 20) }).ToArray();
        using var environment = TableLoadKit.Open(_directory);
        var options = new BulkLoadOptions { MemoryBytes = 1 << 20 };
        foreach (var isAtomic in new[] { true, false })
        {
            if (!isAtomic)
                environment.Write(writing => writing.OpenTable(TableLoadKit.Numbers).Delete(7));
            (await environment.BulkLoadAsync(TableLoadKit.Numbers, items, options, Token)).IsAtomic.Should().Be(isAtomic);
            environment.MustBeSound(TableLoadKit.Numbers, 60);
            using var reading = environment.BeginRead();
            reading.OpenTable(TableLoadKit.Numbers).TryGet(7, out var longest).Should().BeTrue();
            longest!.Text.Should().Be(new string('y', 5 << 20));
        }
    }

    [Theory]
    [InlineData("recorded")]
    [InlineData("shared")]
    [InlineData("building")]
    public async Task Tables_that_no_commit_can_adopt_are_filled_by_transactions(string why)
    {
        using var environment = TableLoadKit.Open(_directory);
        environment.Write(writing =>
        {
            writing.CreateTable(TableLoadKit.Texts);
            if (why == "recorded")
            {
                writing.CreateFeed("feed");
                writing.RecordTable("feed", "texts");
            }

            if (why == "shared")
                writing.CreateTable(TableLoadKit.Numbers).Insert(TableLoadKit.Draw(new Random(1), 1) with { Size = 0 });
        });
        if (why == "building")
        {
            // An index that is left to be built, as after a crash.
            environment.Write(writing => SetBuilding(writing));
        }

        var items = Enumerable.Range(0, 500).Select(id => TableLoadKit.Draw(new Random(id), id) with { Size = 0 });
        var report = await environment.BulkLoadAsync(TableLoadKit.Texts, items, null, Token);
        (report.IsAtomic, report.EntriesStored).Should().Be((false, 500));
        if (why != "building")
            environment.MustBeSound(TableLoadKit.Texts, 500);
        using var reading = environment.BeginRead();
        reading.OpenTable(TableLoadKit.Texts).Count.Should().Be(500);

        static void SetBuilding(WriteTransaction writing)
        {
            var bound = BoundTable.Open(new SystemTreeAccess(writing), TableLoadKit.Texts.Functions)!;
            bound.Save(bound.Schema.With(bound.Schema.Find("tags")! with { State = IndexState.Building, Limit = 1 }));
        }
    }

    [Fact]
    public async Task No_row_has_the_version_of_one_that_was_deleted_meanwhile()
    {
        using var environment = TableLoadKit.Open(_directory);
        var item = TableLoadKit.Draw(new Random(1), 7) with { Size = 0 };
        environment.Write(writing => writing.CreateTable(TableLoadKit.Numbers));
        using var load = await environment.BeginBulkLoadAsync(TableLoadKit.Numbers, null, Token);
        load.Put(item);
        var deleted = default(RowVersion);
        using (var writing = environment.BeginWrite())
        {
            var table = writing.OpenTable(TableLoadKit.Numbers);
            deleted = table.Insert(item);
            table.Delete(7);
            writing.Commit();
        }

        await load.CompleteAsync(Token);
        using var reading = environment.BeginRead();
        reading.OpenTable(TableLoadKit.Numbers).TryGetVersion(7, out var version).Should().BeTrue();
        version.Should().NotBe(deleted);
        version.Should().NotBe(RowVersion.None);
    }

    [Fact]
    public async Task An_expired_row_counts_as_none()
    {
        using var environment = TableLoadKit.Open(_directory);
        Item Of(string id, string text, int minutes = 0) => new(id, Size: minutes, Source: $"source {id}") { Text = text };
        Item[] items = [Of("1", "a"), Of("1", "b", 10), Of("2", "a", 10), Of("2", "b"), Of("3", "a", 10), Of("4", "a", 51)];
        foreach (var (duplicates, expected) in new[] { (DuplicateKeys.LastWins, new[] { "2", "4" }), (DuplicateKeys.FirstWins, ["1", "2", "4"]) })
        {
            await CheckAsync(TableLoadKit.Texts, duplicates, expected);
            await CheckAsync(TableLoadKit.Numbers, duplicates, expected);
        }

        // Those that are expired do not come several times.
        var refusing = new BulkLoadOptions { Duplicates = DuplicateKeys.Refuse };
        await environment.Awaiting(at => at.BulkLoadAsync(TableLoadKit.Texts, items, refusing, Token)).Should().NotThrowAsync();

        async Task CheckAsync<TKey>(TableDefinition<TKey, Item> definition, DuplicateKeys duplicates, string[] expected)
        {
            var report = await environment.BulkLoadAsync(definition, items, new BulkLoadOptions { Duplicates = duplicates }, Token);
            (report.EntriesTaken, report.EntriesStored, report.IsAtomic).Should().Be((6, expected.Length, true));
            environment.MustBeSound(definition, expected.Length);
            using (var reading = environment.BeginRead())
                TableKit.Ids(reading.OpenTable(definition).Scan()).Should().Equal(expected);
            environment.Write(writing => writing.DeleteTable(definition.Name));
        }
    }

    private async Task CompareAsync<TKey>(TableDefinition<TKey, Item> definition, DuplicateKeys duplicates, bool isSorted, bool hasRows)
    {
        var random = new Random(TestSeed.Choose());
        var items = Enumerable.Range(0, 2_500).Select(_ => TableLoadKit.Draw(random, random.Next(1_800))).ToArray();
        if (isSorted)
            items = [.. items.OrderBy(item => typeof(TKey) == typeof(string) ? item.Id : item.Id.PadLeft(9, '0'), StringComparer.Ordinal)];
        using var loaded = TableLoadKit.Open(_directory, $"{definition.Name} loaded");
        using var inserted = TableLoadKit.Open(_directory, $"{definition.Name} inserted");
        var before = Enumerable.Range(0, hasRows ? 300 : 0).Select(i => TableLoadKit.Draw(random, 6 * i)).ToArray();
        foreach (var environment in new[] { loaded, inserted })
            environment.Write(writing => writing.CreateTable(definition).InsertMany(before));
        var options = new BulkLoadOptions { MemoryBytes = 1 << 20, Duplicates = duplicates, Sorted = isSorted };
        var report = await loaded.BulkLoadAsync(definition, items, options, Token);
        (report.EntriesTaken, report.IsAtomic).Should().Be((2_500, !hasRows));
        inserted.Write(writing =>
        {
            foreach (var item in items)
                TableLoadKit.Store(writing.OpenTable(definition), item, duplicates);
        });
        if (!hasRows)
        {
            using var reading = loaded.BeginRead();
            reading.OpenTable(definition).Count.Should().Be(report.EntriesStored);
        }

        // A row that replaces another one keeps its id in a transaction, and a slice has the order of the keys.
        var hasOrder = !hasRows && duplicates == DuplicateKeys.FirstWins;
        Compare();
        for (var round = 0; round < 3; round++)
        {
            var changes = Enumerable.Range(0, 300).Select(_ => TableLoadKit.Draw(random, random.Next(2_000))).ToArray();
            foreach (var environment in new[] { loaded, inserted })
                environment.Write(writing => Change(writing.OpenTable(definition), changes));
            hasOrder = false;
            Compare();
        }

        void Compare()
        {
            var (one, other) = (TableLoadKit.Dump(loaded, definition), TableLoadKit.Dump(inserted, definition));
            if (!hasOrder)
            {
                one.Sort(StringComparer.Ordinal);
                other.Sort(StringComparer.Ordinal);
            }

            one.Should().Equal(other);
            loaded.VerifyTable(definition).Problems.Should().BeEmpty();
            loaded.Verify().Problems.Should().BeEmpty();
        }
    }

    private static void Change<TKey>(WriteTable<TKey, Item> table, Item[] changes)
    {
        foreach (var item in changes)
        {
            if (item.Text.Length % 3 == 0)
                table.Delete(TableLoadKit.KeyOf<TKey>(item));
            else
                table.Upsert(item);
        }
    }

    private sealed record Line(long Number, string Text);

    private sealed class LineCodec : IRowCodec<Line>
    {
        public void Write(in Line row, ref RowWriter writer) => writer.WriteString(row.Text);

        public Line Read(ref RowReader reader) => new(reader.RowId, reader.ReadString());
    }
}
