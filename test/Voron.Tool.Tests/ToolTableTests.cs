using System.Text.Json;
using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Tables;

namespace Voron.Tool.Tests;

/// <summary>What the tool shows of tables and their indexes.</summary>
public sealed class ToolTableTests : IDisposable
{
    private const int Rows = 500;
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Tables_and_their_indexes_are_listed_with_sizes_and_states()
    {
        var tables = Fill();
        var items = tables.Single(table => table.Name == "items");
        var json = (await ToolRun.Done("trees", Store, "-o", "json")).Json;
        json.GetProperty("trees").EnumerateArray().Select(tree => tree.GetProperty("name").GetString()).Should().Equal("plain");
        var listed = json.GetProperty("tables").EnumerateArray().ToList();
        listed.Select(table => table.GetProperty("table").GetString()).Should().Equal("items", "numbers");
        listed[0].GetProperty("rows").GetInt64().Should().Be(Rows);
        listed[0].GetProperty("rowPages").GetInt64().Should().Be(items.RowPages).And.BeGreaterThan(2);
        listed[0].GetProperty("rowBytes").GetInt64().Should().Be(items.RowPages * 4096);
        listed.Select(table => table.GetProperty("keys").GetString()).Should().Equal("utf8", "row ids");
        listed.Select(table => table.GetProperty("indexes").GetInt32()).Should().Equal(6, 0);

        var indexes = json.GetProperty("indexes").EnumerateArray().ToList();
        indexes.Select(index => index.GetProperty("index").GetString()).Should().Equal("(primary key)", "section", "tags", "large", "source", "size");
        indexes.Select(index => index.GetProperty("unique").GetBoolean()).Should().Equal(true, false, false, false, true, false);
        indexes.Select(index => index.GetProperty("keys").GetInt64()).Should().Equal(Rows, 7, 0, Rows - 100, Rows, 0);
        indexes.Select(index => index.GetProperty("rowIds").GetInt64()).Should().Equal(Rows, Rows, 0, Rows - 100, Rows, 0);
        indexes.Select(index => index.GetProperty("pages").GetInt64()).Should().Equal(items.Indexes.Select(index => index.Pages));
        indexes.Select(index => index.GetProperty("state").GetString()).Should().Equal("ready", "ready", "ready", "ready", "ready", "building");
        indexes[5].GetProperty("cursor").GetInt64().Should().Be(0);
        indexes[5].GetProperty("limit").GetInt64().Should().Be(Rows);
        indexes[0].GetProperty("cursor").ValueKind.Should().Be(JsonValueKind.Null);
        var text = (await ToolRun.Done("trees", Store)).Output;
        text.Should().Contain("items").And.Contain("(primary key)").And.Contain("building").And.Contain("row pages");
    }

    [Fact]
    public async Task Figures_have_the_space_of_tables_in_their_sums()
    {
        var tables = Fill();
        var stats = (await ToolRun.Done("stats", Store, "-o", "json")).Json;
        stats.GetProperty("trees").GetInt32().Should().Be(1);
        stats.GetProperty("tables").GetInt32().Should().Be(2);
        stats.GetProperty("rows").GetInt64().Should().Be(Rows + 1);

        // The tree of schemas has one page more.
        stats.GetProperty("pagesOfTables").GetInt64().Should().Be(tables.Sum(table => table.Pages) + 1);
        var all = new[] { "leafPages", "branchPages", "overflowPages", "nestedPages" }.Sum(name => stats.GetProperty(name).GetInt64());
        all.Should().Be(stats.GetProperty("pagesOfTables").GetInt64() + 1);
        (await ToolRun.Done("info", Store, "-o", "json")).Json.GetProperty("tables").GetInt32().Should().Be(2);
        var html = Path.Combine(_directory.Path, "page.html");
        await ToolRun.Done("stats", Store, "--html", html);
        File.ReadAllText(html).Should().Contain("rows of table &#39;items&#39;").And.Contain("index &#39;section&#39; of table &#39;items&#39;")
            .And.Contain("<b>2</b><span>tables</span>").And.Contain("<b>501</b><span>rows</span>").And.Contain("<b>1</b><span>tree</span>");
    }

    [Fact]
    public async Task A_page_of_an_environment_of_tables_alone_counts_rows_and_no_trees()
    {
        using (var environment = StorageEnvironment.Open(Store, FaultTestKit.Options()))
            environment.Insert(TableKit.Items, new Item("a"));
        var html = Path.Combine(_directory.Path, "page.html");
        await ToolRun.Done("stats", Store, "--html", html);
        File.ReadAllText(html).Should().Contain("<b>1</b><span>table</span>").And.Contain("<b>1</b><span>row</span>")
            .And.NotContain("<span>trees</span>").And.NotContain("<span>entries</span>");
    }

    [Fact]
    public void A_list_of_tables_is_that_of_its_snapshot()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        environment.GetTables().Should().BeEmpty();
        environment.Insert(TableKit.Items, new Item("a"));
        using var before = environment.BeginRead();
        environment.Insert(TableKit.Items, new Item("b") { Tags = ["x", "y"] });
        before.GetTables().Should().ContainSingle().Which.Rows.Should().Be(1);
        var now = environment.GetTables().Should().ContainSingle().Subject;
        (now.Name, now.Version, now.KeyKind, now.Rows).Should().Be(("items", 1, "utf8", 2));
        var tags = now.Indexes.Single(index => index.Name == "tags");
        (tags.Keys, tags.RowIds, tags.State, tags.IsUnique, tags.Cursor, tags.Limit).Should().Be((2, 2, IndexState.Ready, false, null, null));
        tags.ToString().Should().Be("index 'tags' version 1: Ready, 2 keys, 2 row ids, 1 pages");
        now.ToString().Should().StartWith("table 'items' version 1: 2 rows, 5 indexes, ");
        now.Pages.Should().Be(now.RowPages + now.Indexes.Sum(index => index.Pages));
        environment.Write(writing => writing.DeleteTable("items"));
        environment.GetTables().Should().BeEmpty();
        before.GetTables().Should().HaveCount(1);
    }

    // A table with all kinds of indexes, one of which is being built, and one whose keys are row ids.
    private IReadOnlyList<TableStatistics> Fill()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        environment.Write(writing => writing.CreateTree("plain").Put("a"u8, "b"u8));
        environment.Insert(
            TableKit.Items, [.. Enumerable.Range(0, Rows).Select(i => new Item($"{i:D4}", $"section {i % 7}", i, $"source {i}"))]);
        var numbers = TableDefinition.CreateWithRowIds("numbers", 3, new ItemCodec(), static item => item.Size);
        environment.Write(writing => writing.CreateTable(numbers).Insert(new Item("n", Size: 5)));
        var sizes = TableKit.Items.Index("size", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size));
        environment.Write(writing => _ = SchemaPlan.Apply(writing, sizes.Functions, []));
        environment.Flush();
        return environment.GetTables();
    }
}
