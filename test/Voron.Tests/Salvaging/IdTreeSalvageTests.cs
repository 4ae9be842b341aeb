using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Tests.Faults;

namespace Voron.Tests.Salvaging;

/// <summary>Salvages of trees of id sets: what is left of each set comes over, and what is lost is named.</summary>
public sealed class IdTreeSalvageTests : IDisposable
{
    private const int PageSize = 4096;
    private const int LargeIds = 400_000;
    private const int SmallSets = 2_000;

    private readonly TestDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    public void Dispose() => _place.Dispose();

    [Theory]
    [InlineData("")]
    [InlineData("voron.header")]
    public async Task Sound_sets_come_over_as_they_are(string missing)
    {
        Make();
        if (missing.Length > 0)
            File.Delete(Path.Combine(Source, missing));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "sets");
        (tree.Found, tree.HasLosses).Should().Be((SmallSets + 1, false));
        report.Trees.Should().HaveCount(2);
        Check("sets", SmallSets + 1, LargeIds);
    }

    [Fact]
    public async Task Only_the_ids_of_a_damaged_page_are_lost()
    {
        Make();
        var lost = Damage((header, _) => header.Kind == PageKind.Ids, page => IdsOf(page));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "sets");
        tree.Found.Should().Be(SmallSets + 1);
        var value = tree.LostValues.Should().ContainSingle().Which;
        value.Length.Should().Be(9L * lost);
        value.Reason.Should().Contain($"{LargeIds - lost} of its {LargeIds} ids were found");
        Check("sets", SmallSets + 1, LargeIds - lost);
    }

    [Fact]
    public async Task The_ids_below_a_damaged_branch_are_lost_and_nothing_else()
    {
        Make();
        Damage((header, _) => header.Kind == PageKind.Array, _ => 0);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "sets");
        tree.Found.Should().BeInRange(SmallSets, SmallSets + 1);
        tree.LostValues.Should().ContainSingle();
        report.Trees.Should().HaveCount(2);
        Check("sets", (int)tree.Found, LargeIds - (int)(tree.LostValues[0].Length / 9));
    }

    [Fact]
    public async Task Only_the_sets_of_a_damaged_leaf_are_lost()
    {
        Make();
        var mark = TreeMark("sets");
        var lost = Damage(
            (header, page) => header.Kind == PageKind.Leaf && header.TreeMark == mark && !HasLarge(page), page => Header(page).EntryCount);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "sets");
        tree.LostRanges.Should().ContainSingle();
        tree.Found.Should().Be(SmallSets + 1 - lost);
        Check("sets", SmallSets + 1 - lost, LargeIds);
    }

    [Fact]
    public async Task A_tree_whose_name_is_lost_keeps_its_sets()
    {
        Make();
        Damage((header, _) => header.Kind == PageKind.Leaf && header.TreeMark == 1, _ => 0);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Found == SmallSets + 1);
        tree.Name.Should().StartWith("lost+found/tree-");
        Check(tree.Name, SmallSets + 1, LargeIds);
    }

    [Fact]
    public async Task Pages_of_ids_identify_an_environment_of_which_one_leaf_is_left()
    {
        Make();
        var mark = TreeMark("sets");
        var left = -1;
        foreach (var file in Directory.GetFiles(Source).Where(file => Path.GetFileName(file) != "voron.data"))
            File.Delete(file);
        var path = Path.Combine(Source, "voron.data");
        var bytes = File.ReadAllBytes(path);
        for (var start = 0; start < bytes.Length; start += PageSize)
        {
            var header = Header(bytes.AsSpan(start));
            if (left < 0 && header.Kind == PageKind.Leaf && header.TreeMark == mark && !HasLarge(bytes.AsSpan(start, PageSize)))
                left = header.EntryCount;
            else if (header.Kind != PageKind.Ids)
                bytes.AsSpan(start + 100, 8).Fill(0xAB);
        }

        File.WriteAllBytes(path, bytes);

        // Without a map, a page is stale.
        var report = await Salvage.RunAsync(Source, Target, new SalvageOptions { IncludeStale = true }, Token);
        (report.HasLosses, report.Entries).Should().Be((true, left));
        Check(report.Trees.Single().Name, left, largeIds: 0);
    }

    private static PageHeader Header(ReadOnlySpan<byte> page) => MemoryMarshal.Read<PageHeader>(page);

    private static int IdsOf(ReadOnlySpan<byte> page)
    {
        var ids = 0;
        for (var i = 0; i < Header(page).EntryCount; i++)
            ids += MemoryMarshal.Read<IdBlockEntry>(page[(PageHeader.Size + i * IdBlockEntry.Size)..]).Count;
        return ids;
    }

    private static bool HasLarge(ReadOnlySpan<byte> page) => page.IndexOf("large"u8) >= 0;

    private void Make()
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateIdTree("sets");
        for (var i = 0; i < LargeIds; i++)
            tree.Add("large"u8, i * 3L, (byte)i);
        for (var set = 0; set < SmallSets; set++)
        {
            for (var i = 0; i <= set % 20; i++)
                tree.Add(BitConverter.GetBytes(set), set + i, 7);
        }

        for (var i = 0; i < 100; i++)
            writing.CreateTree("other").Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
        writing.Commit();
    }

    private uint TreeMark(string name)
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        using var reading = environment.BeginRead();
        _ = reading.GetTreeStatistics(name, out var header);
        return header.TreeId + 1;
    }

    // Returns what the page counted.
    private int Damage(Func<PageHeader, byte[], bool> isWanted, Func<byte[], int> count)
    {
        var path = Path.Combine(Source, "voron.data");
        var file = File.ReadAllBytes(path);
        for (var start = 0; start < file.Length; start += PageSize)
        {
            var page = file[start..(start + PageSize)];
            if (Header(page).PageNumber != start / PageSize || !isWanted(Header(page), page))
                continue;
            file[start + 100]++;
            File.WriteAllBytes(path, file);
            return count(page);
        }

        throw new InvalidOperationException("There is no such page.");
    }

    private void Check(string name, int keys, int largeIds)
    {
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        var tree = reading.OpenIdTree(name);
        (tree.Count, tree.CountOf("large"u8)).Should().Be((keys, largeIds));
        using var ids = tree.OpenIds("large"u8);
        while (ids.MoveNext())
        {
            if (ids.Id % 3 != 0 || ids.Payload != (byte)(ids.Id / 3))
                throw new InvalidOperationException($"id {ids.Id} was never added, or with another payload");
        }

        for (var set = 0; set < SmallSets; set++)
        {
            var count = tree.CountOf(BitConverter.GetBytes(set));
            if (count != 0)
                count.Should().Be(set % 20 + 1);
        }
    }
}
