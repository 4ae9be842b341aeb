using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Tables;
using Voron.Trees;

namespace Voron.Tests.Salvaging;

/// <summary>Salvages of tables: what is left of the rows can be read, and indexes that do not fit them are built again.</summary>
public sealed class TableSalvageTests : IDisposable
{
    private const int Rows = 3_000;

    private readonly TestDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    public void Dispose() => _place.Dispose();

    [Fact]
    public async Task A_sound_table_comes_over_as_it_is()
    {
        Make();
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        (report.HasLosses, report.IsProven).Should().Be((false, true));
        var table = report.Tables.Should().ContainSingle().Subject;
        (table.Name, table.Rows, table.KeysWithoutRow, table.RowsWithoutKey, table.IndexesToBuild.Count).Should().Be(("items", Rows, 0, 0, 0));
        report.Trees.Select(tree => tree.Name).Should().BeEquivalentTo(
            "other", "tree of table schemas", "rows of table 'items'", "primary key of table 'items'", "index 'section' of table 'items'",
            "index 'tags' of table 'items'", "index 'large' of table 'items'", "index 'source' of table 'items'");
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.MustBeSound(TableKit.Items, Rows);
        environment.Insert(TableKit.Items, new Item("new", "section 1"));
        environment.MustBeSound(TableKit.Items, Rows + 1);
    }

    [Fact]
    public async Task Indexes_of_a_state_that_is_not_proven_are_built_again()
    {
        Make();
        File.Delete(Path.Combine(Source, "voron.header"));
        File.Delete(Directory.GetFiles(Source, "journal-*").Order().First());
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.IsProven.Should().BeFalse();
        report.Tables.Should().ContainSingle().Which.IndexesToBuild.Should().Equal("section", "tags", "large", "source");
        await EvolveAsync(Rows);
    }

    [Fact]
    public async Task Where_rows_are_lost_their_keys_are_left_out_and_indexes_are_built_again()
    {
        Make();
        var lost = Damage(SystemTree.RowsName(1));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var table = report.Tables.Should().ContainSingle().Subject;
        (table.Rows, table.KeysWithoutRow, table.RowsWithoutKey).Should().Be((Rows - lost, lost, 0));
        table.IndexesToBuild.Should().Equal("section", "tags", "large", "source");
        report.Trees.Single(tree => tree.Name == "rows of table 'items'").LostRanges.Should().ContainSingle();
        var text = new StringWriter();
        report.WriteText(text);
        text.ToString().Should().Contain($"  table 'items': {Rows - lost} rows; {lost} primary keys of lost rows were left out; EvolveAsync builds these")
            .And.Contain("'rows of table 'items'': ");
        using var json = new MemoryStream();
        report.WriteJson(json);
        System.Text.Encoding.UTF8.GetString(json.ToArray()).Should().Contain("\"indexesToBuild\"").And.Contain($"\"keysWithoutRow\": {lost}");
        using (var environment = StorageEnvironment.Open(Target, FaultTestKit.Options()))
        {
            using var reading = environment.BeginRead();
            var items = reading.OpenTable(TableKit.Items);
            items.GetIndexState("section").Should().Be(IndexState.Building);
            FluentActions.Invoking(() => items.From("section")).Should().Throw<IndexNotReadyException>();
            foreach (var item in TableKit.Ids(items.Scan()))
                items.Contains(item).Should().BeTrue();
        }

        await EvolveAsync(Rows - lost);

        // The keys are free again, those of the unique index too, and the new rows have ids that no row has had.
        using var after = StorageEnvironment.Open(Target, FaultTestKit.Options());
        after.Write(writing =>
        {
            var items = writing.OpenTable(TableKit.Items);
            for (var i = 0; i < Rows; i++)
            {
                items.Upsert(Of(i));
                items.TryGetReader(Of(i).Id, out var row).Should().BeTrue();
                if (row.RowId != i)
                    row.RowId.Should().BeGreaterThanOrEqualTo(Rows);
            }
        });
        after.MustBeSound(TableKit.Items, Rows);
    }

    [Fact]
    public async Task The_id_of_a_lost_last_row_is_not_used_again()
    {
        Make();
        var lost = Damage(SystemTree.RowsName(1), isLast: true);
        await Salvage.RunAsync(Source, Target, null, Token);
        await EvolveAsync(Rows - lost);
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Insert(TableKit.Items, new Item("new"));
        using var reading = environment.BeginRead();
        reading.OpenTable(TableKit.Items).TryGetReader("new", out var row).Should().BeTrue();
        row.RowId.Should().Be(Rows);
    }

    [Theory]
    [InlineData(4, "source")]
    [InlineData(1, "section")]
    public async Task An_index_with_a_lost_page_is_built_again_and_the_others_stay(ushort index, string name)
    {
        Make();
        Damage(SystemTree.IndexName(1, index, isUnique: name == "source"));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var table = report.Tables.Should().ContainSingle().Subject;
        (table.Rows, table.KeysWithoutRow, table.RowsWithoutKey).Should().Be((Rows, 0, 0));
        table.IndexesToBuild.Should().Equal(name);
        await EvolveAsync(Rows);
    }

    [Fact]
    public async Task Rows_whose_primary_keys_are_lost_are_counted()
    {
        Make();
        var lost = Damage(SystemTree.IndexName(1, IndexSchema.PrimaryKey, isUnique: true));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var table = report.Tables.Should().ContainSingle().Subject;
        (table.Rows, table.KeysWithoutRow, table.RowsWithoutKey, table.IndexesToBuild.Count).Should().Be((Rows, 0, lost, 0));
        table.ToString().Should().Be($"table 'items': {Rows} rows; {lost} rows have lost their primary keys: RebuildKeysAsync gives them back");
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        using (var reading = environment.BeginRead())
            TableKit.Ids(reading.OpenTable(TableKit.Items).Scan()).Should().HaveCount(Rows);
        environment.VerifyTable(TableKit.Items).IsSound.Should().BeFalse();
        await environment.Awaiting(e => e.EvolveAsync(TableKit.Items, cancellationToken: Token).AsTask())
            .Should().ThrowAsync<IndexMismatchException>().WithMessage("*RebuildKeysAsync*");
        var rebuilt = await environment.RebuildKeysAsync(TableKit.Items, Token);
        (rebuilt.RowsRead, rebuilt.KeysAdded, rebuilt.ProblemCount).Should().Be((Rows, lost, 0));
        await environment.EvolveAsync(TableKit.Items, cancellationToken: Token);
        environment.MustBeSound(TableKit.Items, Rows);
        (await environment.RebuildKeysAsync(TableKit.Items, Token)).KeysAdded.Should().Be(0);
    }

    [Fact]
    public async Task Rows_whose_keys_cannot_be_given_back_are_named()
    {
        var key = "k";
        var definition = TableDefinition.Create("doubles", 1, new ItemCodec(), KeyCodec.Utf8, (Item item) => key + item.Id);
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Insert(definition, new Item("1"), new Item("2"), new Item("bad"));
        var changed = TableDefinition.Create("doubles", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id switch
        {
            "1" => "k2",
            "bad" => throw new FormatException("No key."),
            _ => "new",
        });
        var report = await environment.RebuildKeysAsync(changed, Token);
        (report.RowsRead, report.KeysAdded, report.KeysRemoved, report.ProblemCount).Should().Be((3, 2, 2, 1));
        report.Problems.Select(problem => (problem.RowId, problem.IndexName, problem.OtherRowId)).Should().Equal((2, "", null));
        (await environment.CheckAsync(changed, Token)).Problems.Should().ContainSingle().Which.RowId.Should().Be(2);
        var same = TableDefinition.Create("doubles", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id == "bad" ? "kbad" : "same");
        report = await environment.RebuildKeysAsync(same, Token);
        (report.KeysAdded, report.KeysRemoved, report.ProblemCount).Should().Be((1, 2, 1));
        report.Problems.Select(problem => (problem.RowId, problem.IndexName, problem.OtherRowId)).Should().Equal((1, "", 0));
        await environment.Awaiting(e => e.RebuildKeysAsync(TableKit.Items, Token).AsTask()).Should().ThrowAsync<KeyNotFoundException>();
    }

    [Fact]
    public async Task Trees_of_a_lost_schema_become_ordinary_ones_and_no_table_gets_their_number()
    {
        Make();
        Damage(SystemTree.Schemas);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.HasLosses.Should().BeTrue();
        report.Tables.Should().BeEmpty();
        report.Trees.Single(tree => tree.Name == "lost+found/tree of the rows of table 1").Found.Should().Be(Rows);
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Verify().Problems.Should().BeEmpty();
        environment.Insert(TableKit.Items, new Item("new"));
        environment.MustBeSound(TableKit.Items, 1);
        using var reading = environment.BeginRead();
        reading.GetSystemTrees().Should().Contain(tree => tree.Name.SequenceEqual(SystemTree.RowsName(2)))
            .And.NotContain(tree => tree.Name.SequenceEqual(SystemTree.RowsName(1)));
        reading.OpenTree("lost+found/tree of the rows of table 1").Count.Should().Be(Rows);
        reading.OpenIdTree("lost+found/index 1 of table 1").ValueCount.Should().Be(Rows);
    }

    [Fact]
    public async Task Where_the_catalog_is_lost_all_rows_come_to_lost_and_found()
    {
        Make();
        LeafDamage.Do(Source, treeMark: 1);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Tables.Should().BeEmpty();
        report.Trees.Should().Contain(tree => tree.Name.StartsWith("lost+found/tree-") && tree.Found == Rows);
    }

    private static Item Of(int i) => new($"{i:D5}", $"section {i % 10}", i, $"source {i}") { Tags = [$"tag {i % 100}"], Text = new string('t', 100) };

    private void Make()
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        environment.Insert(TableKit.Items, [.. Enumerable.Range(0, Rows).Select(Of)]);
        environment.Write(writing => writing.CreateTree("other").Put("key"u8, "value"u8));
    }

    // Builds what is to be built.
    private async Task EvolveAsync(long rows)
    {
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Verify().Problems.Should().BeEmpty();
        await environment.EvolveAsync(TableKit.Items, cancellationToken: Token);
        environment.MustBeSound(TableKit.Items, rows);
    }

    private int Damage(ReadOnlySpan<byte> tree, bool isLast = false) => LeafDamage.Do(Source, tree, isLast);
}
