using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Tests.Faults;

namespace Voron.Tests.Salvaging;

/// <summary>Salvages of fixed-size trees: pages are found with their parents and without them.</summary>
public sealed class FixedTreeSalvageTests : IDisposable
{
    private const int PageSize = 4096;
    private const int Entries = 30_000;

    private readonly TestDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    public void Dispose() => _place.Dispose();

    [Theory]
    [InlineData("")]
    [InlineData("voron.header")]
    public async Task A_sound_tree_comes_over_as_it_is(string missing)
    {
        Make();
        if (missing.Length > 0)
            File.Delete(Path.Combine(Source, missing));
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        report.Trees.Single(tree => tree.Name == "numbers").Found.Should().Be(Entries);
        Check("numbers", Entries, Entries);
    }

    [Fact]
    public async Task Only_the_entries_of_a_damaged_leaf_are_lost()
    {
        Make();
        var lost = Damage(header => header.Kind == PageKind.Array && header.Flags != 0 && (header.Flags & ArrayLayout.BranchFlag) == 0);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "numbers");
        tree.LostRanges.Should().ContainSingle();
        tree.Found.Should().Be(Entries - lost);
        Check("numbers", Entries - lost, Entries);
    }

    [Fact]
    public async Task Leaves_below_a_damaged_branch_are_found_without_it()
    {
        Make();
        Damage(header => header.Kind == PageKind.Array && (header.Flags & ArrayLayout.BranchFlag) != 0);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Name == "numbers");
        (tree.Proven + tree.Current).Should().Be(Entries);
        Check("numbers", Entries, Entries);
    }

    [Fact]
    public async Task A_tree_whose_name_is_lost_keeps_its_kind()
    {
        Make();
        Damage(header => header.Kind == PageKind.Leaf && header.TreeMark == 1);
        var report = await Salvage.RunAsync(Source, Target, null, Token);
        var tree = report.Trees.Single(one => one.Found == Entries);
        tree.Name.Should().StartWith("lost+found/tree-");
        Check(tree.Name, Entries, Entries);
    }

    private void Make()
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateFixedTree<long>("numbers");
            var random = new Random(1);
            foreach (var i in Enumerable.Range(0, Entries).OrderBy(_ => random.Next()))
                tree.Put(i - 1_000, i * 3L);
            for (var i = 0; i < 100; i++)
                writing.CreateTree("other").Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
            writing.Commit();
        }
    }

    // Returns the number of entries of the page.
    private int Damage(Predicate<PageHeader> isWanted)
    {
        var path = Path.Combine(Source, "voron.data");
        var file = File.ReadAllBytes(path);
        for (var start = 0; start < file.Length; start += PageSize)
        {
            var header = MemoryMarshal.Read<PageHeader>(file.AsSpan(start));
            if (header.PageNumber != start / PageSize || !isWanted(header))
                continue;
            file[start + 100]++;
            File.WriteAllBytes(path, file);
            return header.EntryCount;
        }

        throw new InvalidOperationException("There is no such page.");
    }

    private void Check(string name, int count, int most)
    {
        using var environment = StorageEnvironment.Open(Target, FaultTestKit.Options());
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        var tree = reading.OpenFixedTree<long>(name);
        tree.Count.Should().Be(count);
        var found = 0;
        for (var i = 0; i < most; i++)
        {
            if (!tree.TryGet(i - 1_000, out var value))
                continue;
            value.Should().Be(i * 3L);
            found++;
        }

        found.Should().Be(count);
        if (name == "numbers")
            reading.OpenTree("other").Count.Should().Be(100);
    }
}
