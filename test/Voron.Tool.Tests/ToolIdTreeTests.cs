using System.Text;
using Voron.Format;
using Voron.Maintenance;
using Voron.Tests.Faults;

namespace Voron.Tool.Tests;

/// <summary>What the tool shows of trees of id sets, and what it refuses.</summary>
public sealed class ToolIdTreeTests : IDisposable
{
    private const int PageSize = 4096;
    private const int Large = 60_000;
    private const int Few = 50;
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    private string DataFile => Path.Combine(Store, "voron.data");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Every_page_of_a_set_is_described_with_its_place()
    {
        Fill();
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
        var pages = DescribeAll(environment, OwnerSearchMode.Always);
        pages.Should().OnlyContain(page => page.Fault == null).And.NotContain(page => page.Content == PageContent.Unknown);
        var ofSets = pages.Where(page => page.Header is { OwnerHash: not 0 } && page.IsUsed == true).ToList();
        using var reading = environment.BeginRead();
        ofSets.Should().HaveCount((int)reading.OpenIdTree("words").GetStatistics().NestedPages);
        ofSets.Should().OnlyContain(page => page.Tree!.Name == "words" && page.Owner!.Tree == "words" && page.Set!.Level >= 0);
        foreach (var set in ofSets.GroupBy(page => Encoding.ASCII.GetString(page.Set!.Key)))
        {
            set.Key.Should().BeOneOf("large", "later");
            set.Where(page => page.Content == PageContent.Ids).Sum(page => page.Blocks.Sum(block => block.Ids)).Should().Be(Large);
            set.Should().ContainSingle(page => page.Set!.Parent == 0).Which.Set!.Level.Should().Be(set.First().Set!.Depth - 1);
            foreach (var branch in set.Where(page => page.Content == PageContent.Branch))
                branch.Entries.Should().OnlyContain(entry => pages[(int)entry.Page!.Value].Set!.Parent == branch.Page);
        }

        var large = ofSets.Where(page => Encoding.ASCII.GetString(page.Set!.Key) == "large");
        var blocks = large.SelectMany(page => page.Blocks).OrderBy(block => block.FirstId).ToList();
        blocks.Zip(blocks.Skip(1)).Should().OnlyContain(pair => pair.First.LastId < pair.Second.FirstId);
        var entries = pages.Where(page => page.Content == PageContent.Leaf && page.Tree!.Name == "words").SelectMany(page => page.Entries).ToList();
        entries.Select(entry => (Encoding.ASCII.GetString(entry.Key), entry.Form, entry.Ids)).Should().Equal(
            ("few", ExtendedForm.FewIds, Few), ("large", ExtendedForm.IdSet, Large), ("later", ExtendedForm.IdSet, Large),
            ("one", ExtendedForm.OneId, 1));
    }

    [Fact]
    public async Task A_page_of_ids_is_shown_with_its_blocks_and_its_key_on_request()
    {
        Fill();
        PageDescription shown, leaf;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
        {
            var pages = DescribeAll(environment, OwnerSearchMode.WhenUnclear);
            shown = pages.First(page => page.Content == PageContent.Ids);
            leaf = pages.First(page => page.Content == PageContent.Leaf && page.Tree!.Name == "words");
        }

        var quick = (await ToolRun.Done("page", Store, $"{shown.Page}", "-o", "json")).Json;
        quick.GetProperty("content").GetString().Should().Be("ids");
        quick.GetProperty("kindInHeader").GetString().Should().Be("ids");
        quick.GetProperty("tree").GetString().Should().Be("words");
        quick.GetProperty("blocks").GetArrayLength().Should().Be(shown.Blocks.Count);
        quick.GetProperty("blocks")[0].GetProperty("firstId").GetInt64().Should().Be(shown.Blocks[0].FirstId);
        quick.GetProperty("fill").GetDouble().Should().BeInRange(0.1, 1);
        foreach (var unknown in (string[])["reached", "setKey", "reachedInSet"])
            quick.GetProperty(unknown).ValueKind.Should().Be(System.Text.Json.JsonValueKind.Null);
        var slow = (await ToolRun.Done("page", Store, $"{shown.Page}", "--owner", "-o", "json")).Json;
        slow.GetProperty("setKey").GetString().Should().BeOneOf("large", "later");
        slow.GetProperty("setIds").GetInt64().Should().Be(Large);
        slow.GetProperty("reachedInSet").GetBoolean().Should().BeTrue();
        (await ToolRun.Done("page", Store, $"{shown.Page}")).Output.Should().Contain("first id");
        var entries = (await ToolRun.Done("page", Store, $"{leaf.Page}", "-o", "json")).Json.GetProperty("entries");
        entries.EnumerateArray().Select(entry => entry.GetProperty("kind").GetString()).Should().Equal("few ids", "id set", "id set", "one id");
    }

    [Fact]
    public async Task The_key_of_a_page_is_found_behind_leaves_that_cannot_be_read()
    {
        using (var environment = StorageEnvironment.Open(Store, FaultTestKit.Options()))
        {
            environment.Write(writing =>
            {
                var words = writing.CreateIdTree("words");
                for (var i = 0; i < 3_000; i++)
                    words.Add(Encoding.ASCII.GetBytes($"{i:D4}{new string('.', 40)}"), i);
                words.AddMany("large"u8, [.. Enumerable.Range(0, 20_000).Select(i => 3L * i)]);
            });
        }

        List<PageDescription> pages;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
            pages = DescribeAll(environment, OwnerSearchMode.WhenUnclear);
        var shown = pages.Last(page => page.Content == PageContent.Ids).Page;
        var leaves = pages.Where(page => page.Content == PageContent.Leaf && page.Tree!.Name == "words").ToList();
        var bytes = File.ReadAllBytes(DataFile);
        foreach (var leaf in leaves.Where(leaf => leaf.Entries[0].Key[0] is >= (byte)'0' and <= (byte)'2').Take(3))
            bytes[leaf.Page * PageSize + PageSize - 1] ^= 1;
        File.WriteAllBytes(DataFile, bytes);
        var found = (await ToolRun.Done("page", Store, $"{shown}", "--owner", "-o", "json")).Json;
        found.GetProperty("setKey").GetString().Should().Be("large");
        found.GetProperty("reachedInSet").GetBoolean().Should().BeTrue();
        (found.GetProperty("unreadLeaves").GetInt64(), found.GetProperty("unreadBranches").GetInt64()).Should().Be((3, 0));
        var lines = (await ToolRun.Done("page", Store, $"{shown}", "--owner")).Lines;
        lines.Should().Contain(line => line.Contains("unread leaves") && line.Contains('3'));

        // Without the branch above them, there is nothing to search.
        var branch = pages.First(page => page.Content == PageContent.Branch && page.Tree!.Name == "words" && page.Tree.Parent == 0 && page.Set == null
            && page.Header!.Value.OwnerHash == 0);
        bytes[branch.Page * PageSize + PageSize - 1] ^= 1;
        File.WriteAllBytes(DataFile, bytes);
        found = (await ToolRun.Of("page", Store, $"{shown}", "--owner", "-o", "json")).Json;
        found.GetProperty("setKey").ValueKind.Should().Be(System.Text.Json.JsonValueKind.Null);
        (found.GetProperty("unreadLeaves").GetInt64(), found.GetProperty("unreadBranches").GetInt64()).Should().Be((0, 1));
    }

    [Fact]
    public async Task A_damaged_page_of_ids_is_shown_as_far_as_it_can_be_read()
    {
        Fill();
        long page;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
            page = DescribeAll(environment, OwnerSearchMode.WhenUnclear).First(page => page.Content == PageContent.Ids).Page;
        var bytes = File.ReadAllBytes(DataFile);

        // The place of the second block, and the number of ids of the third.
        var directory = (int)page * PageSize + PageHeader.Size;
        bytes.AsSpan(directory + IdBlockEntry.Size + 8, 2).Fill(0xF0);
        bytes[directory + 2 * IdBlockEntry.Size + 11] = 0xFF;
        File.WriteAllBytes(DataFile, bytes);
        var run = await ToolRun.Of("page", Store, $"{page}", "-o", "json");
        run.Code.Should().Be(ExitCode.Problems);
        run.Json.GetProperty("tree").GetString().Should().Be("words");
        run.Json.GetProperty("problem").GetString().Should().Contain("checksum");
        var problems = run.Json.GetProperty("blocks").EnumerateArray().Select(block => block.GetProperty("problem").GetString()).ToList();
        problems[0].Should().BeNull();
        problems[1].Should().Contain("not inside the page");
        problems[2].Should().Contain("256 ids do not fit");
    }

    [Fact]
    public void No_bytes_make_a_description_of_a_set_fail()
    {
        Fill();
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var sound = File.ReadAllBytes(DataFile);
        var kinds = new HashSet<PageContent>();
        for (var i = 0; i < 6; i++)
        {
            var bytes = sound.ToArray();
            for (var page = 3; page < bytes.Length / PageSize; page++)
            {
                // A few bytes of a directory or a heap leave more to be believed than a page full of them.
                if (random.Next(3) == 0)
                    random.NextBytes(bytes.AsSpan(page * PageSize + PageHeader.Size + random.Next(2_000), random.Next(1, 2_000)));
                else if (random.Next(20) == 0)
                    random.NextBytes(bytes.AsSpan(page * PageSize + 40, 24));
            }

            File.WriteAllBytes(DataFile, bytes);
            using var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
            for (var page = 0L; page < environment.GetStatistics().PageCount; page++)
            {
                var mode = page % 8 == 0 ? OwnerSearchMode.Always : OwnerSearchMode.WhenUnclear;
                kinds.Add(environment.Internals.DescribePage(page, mode, TestContext.Current.CancellationToken)!.Content);
            }
        }

        kinds.Should().Contain([PageContent.Ids, PageContent.Branch, PageContent.Leaf], $"seed {seed}");
    }

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
    public async Task A_dump_of_another_kind_of_tree_is_refused_by_name_and_kind()
    {
        Fill();
        var dump = Path.Combine(_directory.Path, "dump");
        await ToolRun.Done("dump", Store, "plain", "--file", dump);
        var run = await ToolRun.Of("load", Store, dump, "--tree", "words", "--write", "--resume");
        run.Code.Should().Be(ExitCode.Problems);
        run.Error.Should().Contain("'words'").And.Contain("a tree of id sets").And.Contain("Nothing was loaded");
        (await ToolRun.Of("put", Store, "words", "k", "v", "--write")).Error.Should().Contain("'v' is no whole number");
        (await ToolRun.Done("get", Store, "words", "one")).Lines.Should().ContainSingle();
    }

    private static List<PageDescription> DescribeAll(StorageEnvironment environment, OwnerSearchMode mode) =>
    [
        .. Enumerable.Range(0, (int)environment.GetStatistics().PageCount)
            .Select(page => environment.Internals.DescribePage(page, mode, TestContext.Current.CancellationToken)!),
    ];

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
