using Voron.Tests.Faults;
using Voron.Tool;

namespace Voron.Tests.Tool;

/// <summary>What the tool shows of trees of id sets, and what it refuses.</summary>
public sealed class ToolIdTreeTests : IDisposable
{
    private const int Large = 60_000;
    private const int Few = 50;
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Lists_and_figures_name_the_kind_and_count_the_pages_of_sets()
    {
        Fill();
        TreeStatistics size;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
        using (var reading = environment.BeginRead())
            size = reading.OpenIdTree("words").GetStatistics();
        size.NestedPages.Should().BeGreaterThan(20);
        var trees = (await ToolRun.Done("trees", Store, "-o", "json")).Json.GetProperty("trees").EnumerateArray().ToList();
        trees.Select(tree => tree.GetProperty("kind").GetString()).Should().Equal("fixed-size", "ordinary", "id sets");
        trees[2].GetProperty("nestedPages").GetInt64().Should().Be(size.NestedPages);
        trees[2].GetProperty("ids").GetInt64().Should().Be(2 * Large + Few + 1);
        trees[1].GetProperty("ids").ValueKind.Should().Be(System.Text.Json.JsonValueKind.Null);
        (await ToolRun.Done("stats", Store, "-o", "json")).Json.GetProperty("nestedPages").GetInt64().Should().Be(size.NestedPages);
        var html = Path.Combine(_directory.Path, "page.html");
        await ToolRun.Done("stats", Store, "--html", html);
        File.ReadAllText(html).Should().Contain("class=\"nested\"").And.Contain("words");
    }

    [Fact]
    public async Task Keys_are_scanned_and_the_ids_of_one_are_shown()
    {
        Fill();
        var lines = new[] { $"few\t{Few} ids", $"large\t{Large} ids", $"later\t{Large} ids", "one\t1 ids" };
        (await ToolRun.Done("scan", Store, "words")).Lines.Should().Equal(lines);
        (await ToolRun.Done("scan", Store, "words", "--prefix", "la", "--reverse")).Lines.Should().Equal(lines[2], lines[1]);
        (await ToolRun.Done("scan", Store, "words", "--from", "large", "--to", "later", "-o", "json")).Lines
            .Should().Equal($"{{\"k\":\"large\",\"ids\":{Large}}}");
        (await ToolRun.Done("scan", Store, "words", "--to", "later", "--reverse", "--limit", "1")).Lines.Should().Equal(lines[1]);
        (await ToolRun.Done("scan", Store, "words", "--from", new string('x', 9_000))).Lines.Should().BeEmpty();
        (await ToolRun.Done("scan", Store, "words", "--to", "")).Lines.Should().BeEmpty();
        (await ToolRun.Done("scan", Store, "words", "--to", "", "--reverse")).Lines.Should().BeEmpty();
        (await ToolRun.Done("get", Store, "words", "one")).Lines.Should().Equal($"{long.MaxValue}\t7");
        (await ToolRun.Done("get", Store, "words", "one", "-o", "json")).Lines.Should().Equal($"{{\"id\":{long.MaxValue},\"payload\":7}}");
        (await ToolRun.Done("get", Store, "words", "large")).Lines.Should().HaveCount(Large).And.StartWith("5\t0");
        (await ToolRun.Of("get", Store, "words", "none")).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("get", Store, "none", "none")).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("get", Store, "words", "one", "--raw")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Done("get", Store, "plain", "a")).Lines.Should().Equal("b");
    }

    [Fact]
    public async Task Commands_for_values_refuse_a_tree_of_id_sets_by_its_name_and_kind()
    {
        Fill();
        var dump = Path.Combine(_directory.Path, "dump");
        ShouldBeRefused(await ToolRun.Of("dump", Store, "words", "--file", dump));
        File.Exists(dump).Should().BeFalse();
        await ToolRun.Done("dump", Store, "plain", "--file", dump);
        ShouldBeRefused(await ToolRun.Of("load", Store, dump, "--tree", "words", "--write")).Should().Contain("Nothing was loaded");
        ShouldBeRefused(await ToolRun.Of("put", Store, "words", "k", "v", "--write"));
        ShouldBeRefused(await ToolRun.Of("delete", Store, "words", "one", "--write"));
        (await ToolRun.Done("get", Store, "words", "one")).Lines.Should().ContainSingle();
    }

    private static string ShouldBeRefused(ToolRun run)
    {
        run.Code.Should().Be(ExitCode.Problems);
        run.Error.Should().Contain("'words'").And.Contain("a tree of id sets");
        return run.Error;
    }

    // Two sets with pages of their own, one with few ids, one with one id; and trees of other kinds.
    private void Fill()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        var random = new Random(1);
        var ids = new long[Large];
        ids[0] = 5;
        for (var i = 1; i < Large; i++)
            ids[i] = ids[i - 1] + random.Next(1, 100_000);
        environment.Write(writing =>
        {
            var words = writing.CreateIdTree("words");
            words.AddMany("large"u8, ids);
            words.AddMany("later"u8, ids, [.. ids.Select(id => (byte)id)]);
            words.AddMany("few"u8, ids.AsSpan(0, Few));
            words.Add("one"u8, long.MaxValue, 7);
            writing.CreateTree("plain").Put("a"u8, "b"u8);
            writing.CreateFixedTree("lengths", 8).Put(1, new byte[8]);
        });
        environment.Flush();
    }
}
