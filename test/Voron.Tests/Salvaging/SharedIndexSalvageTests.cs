using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Tables;
using Voron.Trees;

namespace Voron.Tests.Salvaging;

/// <summary>Salvages of an index that two tables share: each of them finds in it the rows that are left of it.</summary>
public sealed class SharedIndexSalvageTests : IDisposable
{
    private const int Rows = 2_000;

    private static readonly SharedIndex Tags = new("tags", 1);
    private static readonly TableDefinition<string, Item> First = Define("first");
    private static readonly TableDefinition<string, Item> Second = Define("second");

    private readonly TestDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    public void Dispose() => _place.Dispose();

    [Fact]
    public async Task A_sound_index_comes_over_as_it_is()
    {
        Make();
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.HasLosses.Should().BeFalse();
        report.Tables.Should().OnlyContain(table => table.IndexesToBuild.Count == 0);
        report.Trees.Should().ContainSingle(tree => tree.Name == "shared index 'tags' version 1");
        MustFind(Rows, Rows);
    }

    [Fact]
    public async Task A_table_that_has_lost_rows_builds_its_part_again()
    {
        Make();
        var lost = LeafDamage.Do(Source, SystemTree.RowsName(1));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Tables.Single(table => table.Name == "first").IndexesToBuild.Should().Equal("tags");
        report.Tables.Single(table => table.Name == "second").IndexesToBuild.Should().BeEmpty();
        using (var environment = StorageEnvironment.Open(Target, FaultTestKit.Options()))
        {
            using (var reading = environment.BeginRead())
            {
                TableKit.Ids(reading.OpenTable(Second).From("tags")).Should().HaveCount(Rows);
                FluentActions.Invoking(() => reading.QuerySharedIndex(Tags)).Should().Throw<IndexNotReadyException>()
                    .Which.TableName.Should().Be("first");
            }

            await environment.EvolveAsync(First, cancellationToken: Token);
        }

        MustFind(Rows - lost, Rows);
    }

    [Fact]
    public async Task All_tables_build_an_index_again_that_has_lost_a_page()
    {
        Make();
        LeafDamage.Do(Source, SystemTree.IndexName(2, 1, isUnique: false));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Tables.Should().HaveCount(2).And.OnlyContain(table => table.IndexesToBuild.Count == 1);
        using (var environment = StorageEnvironment.Open(Target, FaultTestKit.Options()))
        {
            await environment.EvolveAsync(First, cancellationToken: Token);
            await environment.EvolveAsync(Second, cancellationToken: Token);
        }

        MustFind(Rows, Rows);
    }

    [Fact]
    public async Task A_table_can_enter_an_index_that_was_salvaged()
    {
        Make();
        LeafDamage.Do(Source, SystemTree.IndexName(2, 1, isUnique: false));
        await Salvage.RunAsync(Source, Target, null, Token);
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        await environment.EvolveAsync(First, cancellationToken: Token);
        await environment.EvolveAsync(Second, cancellationToken: Token);
        environment.Insert(Define("third"), Of(1));
        (await environment.DropTableAsync("first", Token)).Should().BeTrue();
        using var reading = environment.BeginRead();
        reading.QuerySharedIndex(Tags).Count().Should().Be(Rows + 1);
        environment.MustBeSound(Second, Rows);
        environment.MustBeSound(Define("third"), 1);
    }

    [Fact]
    public async Task Another_table_does_not_get_the_number_of_an_index_whose_tree_is_lost()
    {
        Make();
        using (var environment = StorageEnvironment.Open(Source, FaultTestKit.Options()))
        {
            environment.Write(static writing =>
            {
                // Of the tables, "first" is left, with the number 1. The index has the number 2.
                writing.DeleteTable("second").Should().BeTrue();
                writing.DeleteSystemTree(SystemTree.IndexName(2, 1, isUnique: false)).Should().BeTrue();
                writing.FindSystemTree(SystemTree.Schemas)!.Value.Delete(SchemaKeys.NextTable).Should().BeTrue();
            });
        }

        await Salvage.RunAsync(Source, Target, null, Token);
        using var target = StorageEnvironment.Open(Target, FaultTestKit.Options());
        await target.EvolveAsync(First, cancellationToken: Token);
        var own = TableDefinition.Create("own", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
            .Index("tags", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Tags[0]));
        target.Insert(own, Of(1));
        target.MustBeSound(own, 1);
        target.MustBeSound(First, Rows);
    }

    [Fact]
    public async Task An_index_of_which_all_tables_are_lost_is_there_no_more()
    {
        Make();
        using (var environment = StorageEnvironment.Open(Source, FaultTestKit.Options()))
        {
            environment.Write(static writing =>
            {
                var schemas = writing.FindSystemTree(SystemTree.Schemas)!.Value;
                schemas.Delete(SchemaKeys.Table("first")).Should().BeTrue();
                schemas.Delete(SchemaKeys.Table("second")).Should().BeTrue();
            });
        }

        await Salvage.RunAsync(Source, Target, null, Token);
        using var target = StorageEnvironment.Open(Target, FaultTestKit.Options());
        using (var reading = target.BeginRead())
            FluentActions.Invoking(() => reading.QuerySharedIndex(Tags)).Should().Throw<KeyNotFoundException>();
        target.Insert(First, Of(1));
        target.MustBeSound(First, 1);
    }

    private static TableDefinition<string, Item> Define(string name) =>
        TableDefinition.Create(name, 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
            .Index(Tags, static (in Item item, ref IndexKeys keys) => keys.Add(item.Tags[0]));

    private static Item Of(int i) => new($"{i:D5}") { Tags = [$"tag {i % 300}"], Text = new string('t', 50) };

    private void Make()
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        environment.Insert(First, [.. Enumerable.Range(0, Rows).Select(Of)]);
        environment.Insert(Second, [.. Enumerable.Range(0, Rows).Select(Of)]);
    }

    private void MustFind(int first, int second)
    {
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.MustBeSound(First, first);
        environment.MustBeSound(Second, second);
        using var reading = environment.BeginRead();
        reading.QuerySharedIndex(Tags).Count().Should().Be(first + second);
        reading.GetTables()[0].Indexes.Single(index => index.IsShared).RowIds.Should().Be(first + second);
    }
}
