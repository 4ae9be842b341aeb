using System.Text;
using Voron.Format;
using Voron.Maintenance;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tool.Tests;

/// <summary>What <c>voron page</c> says about pages, sound ones and damaged ones.</summary>
public sealed class ToolPageTests : IDisposable
{
    private const int PageSize = 4096;
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    private string DataFile => Path.Combine(Store, "voron.data");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task The_pages_of_a_fixed_size_tree_are_described_like_others()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        environment.Write(writing =>
        {
            var tree = writing.CreateFixedTree("numbers", 8);
            for (var i = 0; i < 1_000; i++)
                tree.Put(i * 7 % 1_000, new byte[8]);
        });
        environment.Flush();
        var pages = DescribeAll(environment);
        pages.Should().OnlyContain(page => page.Fault == null);
        var leaves = pages.Where(page => page.Content == PageContent.Leaf && page.Tree!.Name == "numbers").ToList();
        leaves.Sum(leaf => leaf.Entries.Count).Should().Be(1_000);
        var branch = pages.Single(page => page.Content == PageContent.Branch);
        branch.Entries.Select(entry => entry.Page).Should().BeEquivalentTo(leaves.Select(leaf => (long?)leaf.Page));
        leaves.Should().OnlyContain(leaf => leaf.Tree!.Level == 0 && leaf.Tree.Parent == branch.Page);
        environment.Dispose();
        var shown = (await ToolRun.Done("page", Store, $"{leaves[1].Page}", "-o", "json")).Json;
        shown.GetProperty("kindInHeader").GetString().Should().Be("array");
    }

    [Fact]
    public async Task Every_page_of_a_store_is_what_the_statistics_count()
    {
        Fill();
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
        var report = environment.Verify();
        var pages = DescribeAll(environment);
        pages.Should().OnlyContain(page => page.Fault == null && page.MapFault == null && page.IsUsed != null);
        pages.Count(page => page.IsUsed == true).Should().Be((int)report.UsedPages);
        pages.Count(page => page.Content == PageContent.Free).Should().Be((int)report.FreePages);
        pages.Should().NotContain(page => page.Content == PageContent.Unknown);
        using var reading = environment.BeginRead();
        var trees = reading.GetTreeNames().Select(name => reading.OpenTree(name).GetStatistics()).ToList();
        pages.Count(page => page.Content == PageContent.Leaf).Should().Be((int)trees.Sum(tree => tree.LeafPages) + 1, "the catalog has one");
        pages.Count(page => page.Content == PageContent.Branch).Should().Be((int)trees.Sum(tree => tree.BranchPages));
        pages.Count(page => page.Content is PageContent.Overflow or PageContent.InsideOverflow or PageContent.Value)
            .Should().Be((int)trees.Sum(tree => tree.OverflowPages));
        pages.Count(page => page.Content == PageContent.Value).Should().Be(400_000 / PageSize + 1);

        var leaves = pages.Where(page => page.Content == PageContent.Leaf && page.Tree!.Name == "numbers").ToList();
        leaves.Sum(leaf => leaf.Entries.Count).Should().Be(3_000);
        foreach (var leaf in leaves)
            (leaf.Tree!.Level, pages[(int)leaf.Tree.Parent].Content).Should().Be((0, PageContent.Branch));
        foreach (var branch in pages.Where(page => page.Content == PageContent.Branch))
            branch.Entries.Should().OnlyContain(entry => pages[(int)entry.Page!.Value].Tree!.Parent == branch.Page);
        environment.Dispose();

        var shown = (await ToolRun.Done("page", Store, $"{leaves[1].Page}", "-o", "json")).Json;
        shown.GetProperty("version").GetInt32().Should().Be(1);
        shown.GetProperty("checksum").GetString().Should().Be("valid");
        shown.GetProperty("tree").GetString().Should().Be("numbers");
        shown.GetProperty("use").GetString().Should().Be("used");
        shown.GetProperty("entries")[0].GetProperty("key").GetString().Should().Be(Encoding.ASCII.GetString(leaves[1].Entries[0].Key));
        shown.GetProperty("entries").GetArrayLength().Should().Be(leaves[1].Entries.Count);
        var raw = (await ToolRun.Done("page", Store, $"{leaves[1].Page}", "-o", "json", "--raw")).Json.GetProperty("bytes").GetString();
        Convert.FromHexString(raw!).Should().Equal(File.ReadAllBytes(DataFile).AsSpan((int)leaves[1].Page * PageSize, PageSize).ToArray());
        (await ToolRun.Done("page", Store, $"{leaves[1].Page}", "--raw")).Lines.Count(line => line.StartsWith("00", StringComparison.Ordinal))
            .Should().BeGreaterThanOrEqualTo(PageSize / 16);
    }

    [Fact]
    public async Task The_owner_is_found_for_every_used_page()
    {
        Fill();
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
        {
            for (var page = 0L; page < environment.GetStatistics().PageCount; page += 3)
            {
                var found = environment.Internals.DescribePage(page, OwnerSearchMode.Always, TestContext.Current.CancellationToken)!;
                var isMap = found.Content is PageContent.MapRoot or PageContent.MapDirectory or PageContent.SectionMap;
                (found.Owner != null || isMap).Should().Be(found.IsUsed == true, $"page {page}");
            }
        }

        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();
        var code = await Program.RunAsync(["page", Store, "5", "--owner"], TextWriter.Null, TextWriter.Null, cancelled.Token);
        code.Should().Be((int)ExitCode.Cancelled);
    }

    [Fact]
    public async Task Pages_that_only_the_journal_has_are_described_from_there()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, new byte[9_000]);
            environment.Flush();
            FaultTestKit.Put(environment, 2, new byte[9_000]);
            environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Delete(FaultTestKit.Key(1)));
            WriteFiles(FaultTestKit.Bytes(disk));
        }

        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
        {
            var pages = DescribeAll(environment);
            pages.Should().OnlyContain(page => page.Fault == null);
            pages.Where(page => page.Place == PagePlace.Nowhere).Should().NotBeEmpty().And.OnlyContain(page => page.IsUsed == false);
            pages.Where(page => page.Place == PagePlace.Journal && page.Content == PageContent.Leaf).Should().NotBeEmpty()
                .And.OnlyContain(page => page.VersionTransactionId > 0 && page.Tree!.Level == 0);
            pages.Count(page => page.Place == PagePlace.Journal && page.Content is PageContent.Overflow or PageContent.InsideOverflow)
                .Should().BeGreaterThanOrEqualTo(3);
        }

        var leaf = (await ToolRun.Done("page", Store, "3", "-o", "json")).Json;
        leaf.GetProperty("place").GetString().Should().Be("journal");
        leaf.GetProperty("storedChecksum").ValueKind.Should().Be(System.Text.Json.JsonValueKind.Null, "a page has none before it is flushed");
    }

    [Fact]
    public async Task A_damaged_page_is_described_with_its_fault()
    {
        Fill();
        var sound = (await ToolRun.Done("verify", Store, "-o", "json")).Json.GetProperty("problems").GetInt64();
        sound.Should().Be(0);
        long leaf, value, overflow;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true }))
        {
            var pages = DescribeAll(environment);
            leaf = pages.First(page => page.Content == PageContent.Leaf && page.Tree!.Name == "numbers").Page;
            value = pages.First(page => page.Content == PageContent.Value).Page + 20;
            overflow = pages.First(page => page.Content == PageContent.Overflow).Page;
        }

        Damage(leaf, 3_000);
        Damage(value, 3_000);
        Damage(overflow + 1, 3_000);
        var run = await ToolRun.Of("page", Store, $"{leaf}", "-o", "json");
        run.Code.Should().Be(ExitCode.Problems);
        run.Json.GetProperty("checksum").GetString().Should().Be("invalid");
        run.Json.GetProperty("content").GetString().Should().Be("leaf");
        run.Json.GetProperty("problem").GetString().Should().Contain("checksum");
        run.Json.GetProperty("entries").GetArrayLength().Should().BeGreaterThan(10);
        run.Json.GetProperty("computedChecksum").GetString().Should().NotBe(run.Json.GetProperty("storedChecksum").GetString());

        var inValue = await ToolRun.Of("page", Store, $"{value}", "-o", "json");
        inValue.Code.Should().Be(ExitCode.Problems);
        inValue.Json.GetProperty("content").GetString().Should().Be("large value");
        inValue.Json.GetProperty("problem").GetString().Should().Contain("Chunk");
        (await ToolRun.Of("page", Store, $"{value + 40}")).Code.Should().Be(ExitCode.Done, "another chunk is not damaged");

        foreach (var page in new[] { overflow, overflow + 1 })
            (await ToolRun.Of("page", Store, $"{page}")).Code.Should().Be(ExitCode.Problems);
        (await ToolRun.Of("page", Store, $"{overflow + 1}", "-o", "json")).Json.GetProperty("content").GetString().Should().Be("inside overflow");
    }

    /// <summary>
    /// Random bytes in the place of pages, their headers kept or not: nothing is followed out of a page, and nothing passes for sound.
    /// </summary>
    [Fact]
    public void No_bytes_make_a_description_fail()
    {
        Fill();
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var sound = File.ReadAllBytes(DataFile);
        var damagedAndUsed = 0;
        for (var i = 0; i < 12; i++)
        {
            var bytes = sound.ToArray();
            var damaged = new HashSet<long>();

            // The stamp in page 0 would keep the environment from opening.
            for (var page = 1; page < bytes.Length / PageSize; page++)
            {
                if (random.Next(4) != 0)
                    continue;
                damaged.Add(page);
                var from = random.Next(3) == 0 ? 0 : PageHeader.Size;
                random.NextBytes(bytes.AsSpan(page * PageSize + from, PageSize - from));
            }

            File.WriteAllBytes(DataFile, bytes);
            using var environment = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
            foreach (var page in DescribeAll(environment))
            {
                if (damaged.Contains(page.Page) && page.IsUsed == true)
                {
                    damagedAndUsed++;
                    page.Fault.Should().NotBeNull($"page {page.Page} is damaged (seed {seed}, case {i})");
                }
            }
        }

        damagedAndUsed.Should().BeGreaterThan(20);
    }

    [Fact]
    public async Task A_wrong_number_or_directory_has_its_exit_code()
    {
        (await ToolRun.Of("page", Store, "1")).Code.Should().Be(ExitCode.NothingThere);
        Fill();
        foreach (var number in (string[])["999999999", "-1", "9223372036854775807", "none", ""])
            (await ToolRun.Of("page", Store, number)).Code.Should().Be(ExitCode.Usage, number);
        (await ToolRun.Of("page", Store, "999999999")).Error.Should().MatchRegex(@"pages are 0 to \d+");
        using (StorageEnvironment.Open(Store))
            (await ToolRun.Of("page", Store, "1")).Code.Should().Be(ExitCode.InUse);
        File.WriteAllText(Path.Combine(Store, "voron.header"), new string('x', 10_000));
        (await ToolRun.Of("page", Store, "1")).Code.Should().Be(ExitCode.OtherFormat);
    }

    private static List<PageDescription> DescribeAll(StorageEnvironment environment) =>
    [
        .. Enumerable.Range(0, (int)environment.GetStatistics().PageCount).Select(page =>
            environment.Internals.DescribePage(page, OwnerSearchMode.WhenUnclear, TestContext.Current.CancellationToken)!),
    ];

    private void Damage(long page, int offset)
    {
        var bytes = File.ReadAllBytes(DataFile);
        bytes[page * PageSize + offset] ^= 0x10;
        File.WriteAllBytes(DataFile, bytes);
    }

    private void WriteFiles(SortedDictionary<string, byte[]> files)
    {
        Directory.CreateDirectory(Store);
        foreach (var (name, bytes) in files)
            File.WriteAllBytes(Path.Combine(Store, name), bytes);
    }

    // Leaves, branches, overflow extents, a value of several chunks without headers, and free pages.
    private void Fill()
    {
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var numbers = writing.CreateTree("numbers");
            for (var i = 0; i < 4_000; i++)
                numbers.Put(Encoding.ASCII.GetBytes($"{i:D5}"), Encoding.ASCII.GetBytes($"value {i} {new string('.', 40)}"));
            var values = writing.CreateTree("values");
            values.Put("overflow"u8, new byte[10_000]);
            values.Put("large"u8, FaultTestKit.Value(7, 400_000));
        });
        environment.Write(writing => writing.OpenTree("numbers").DeleteRange(KeyRange.From("03000"u8)));
    }
}
