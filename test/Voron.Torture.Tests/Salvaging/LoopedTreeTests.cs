using System.Text;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;
using Voron.Tests.Faults;
using Voron.Torture.Damage;
using Voron.Trees.Pages;

namespace Voron.Torture.Tests.Salvaging;

/// <summary>
/// Salvages of trees and catalogs whose branches form loops, with checksums that are right: they end soon, report the loop, and bring every entry,
/// because no leaf is damaged.
/// </summary>
public sealed class LoopedTreeTests : IDisposable
{
    private const string Large = "large";
    private const string Small = "small";
    private const int Trees = 160;
    private const int Entries = 900;

    private readonly TemporaryDirectory _place = new();

    public static TheoryData<string, int, bool> Cases
    {
        get
        {
            var cases = new TheoryData<string, int, bool>();
            foreach (var loop in Loops.Keys)
            {
                foreach (var version in new[] { 1, 2 })
                {
                    cases.Add(loop, version, true);
                    cases.Add(loop, version, false);
                }
            }

            return cases;
        }
    }

    /// <summary>The loops: each changes children of branches.</summary>
    private static Dictionary<string, Action<Forged>> Loops { get; } = new()
    {
        ["a branch names itself"] = forged => forged.SetChild(forged.Inner(0), 1, forged.Inner(0)),
        ["a branch names itself first"] = forged => forged.SetChild(forged.Inner(0), 0, forged.Inner(0)),
        ["a branch names its parent"] = forged => forged.SetChild(forged.Inner(1), 2, forged.Root),
        ["a root names itself"] = forged => forged.SetChild(forged.Root, 1, forged.Root),
        ["a root names itself everywhere"] = forged => forged.SetAll(forged.Root, forged.Root),
        ["two branches name each other"] = forged =>
        {
            forged.SetChild(forged.Inner(0), 1, forged.Inner(1));
            forged.SetChild(forged.Inner(1), 1, forged.Inner(0));
        },
        ["two branches that nothing else names name each other"] = forged =>
        {
            var (one, other) = (forged.Inner(0), forged.Inner(1));
            forged.SetChild(forged.Root, 0, forged.Root);
            forged.SetChild(forged.Root, 1, forged.Root);
            forged.SetChild(one, 1, other);
            forged.SetChild(other, 1, one);
        },
        ["a branch that nothing else names names itself"] = forged =>
        {
            var inner = forged.Inner(0);
            forged.SetChild(forged.Root, 0, forged.Root);
            forged.SetChild(inner, 1, inner);
        },
        ["the catalog names itself"] = forged => forged.SetChild(forged.Catalog, 1, forged.Catalog),
        ["the catalog names itself everywhere"] = forged => forged.SetAll(forged.Catalog, forged.Catalog),
        ["the catalog and a tree name each other"] = forged =>
        {
            forged.SetChild(forged.Catalog, 1, forged.Root);
            forged.SetChild(forged.Root, 1, forged.Catalog);
        },
    };

    public void Dispose() => _place.Dispose();

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task A_loop_ends_no_salvage_and_costs_no_entry(string loop, int version, bool hasHeader)
    {
        var disk = Make(version, out var content);
        var image = EnvironmentImage.Read(disk);
        var store = new ForgedStore(new StoreFiles(FaultTestKit.Bytes(disk)));
        var forged = new Forged(store, image);
        Loops[loop](forged);
        store.Seal();
        var source = Path.Combine(_place.Path, "source");
        Directory.CreateDirectory(source);
        foreach (var (name, bytes) in store.Files.All.Where(file => hasHeader || file.Key != ForgedStore.HeaderFile))
            await File.WriteAllBytesAsync(Path.Combine(source, name), bytes, TestContext.Current.CancellationToken);

        using var stop = new CancellationTokenSource(TestWait.Limit);
        var target = Path.Combine(_place.Path, "target");
        var report = await Salvage.RunAsync(source, target, null, stop.Token);
        TestContext.Current.TestOutputHelper?.WriteLine($"{report}: {string.Join("; ", report.Damage.Take(4).Select(damage => damage.Message))}");
        report.DamageCount.Should().BePositive();
        if (hasHeader)
            report.Damage.Should().Contain(damage => damage.Page != null && forged.Changed.Concat(forged.Named).Contains(damage.Page.Value));

        using var salvaged = StorageEnvironment.Open(target);
        salvaged.Verify().Problems.Should().BeEmpty();
        var found = BackupTestKit.ContentOf(salvaged);

        if (version == 1)
            CheckWithoutTrees(found, content);
        else
            found.Should().BeEquivalentTo(content);
    }

    // Leaves of version 1 do not name their tree: entries of what nothing leads to come into trees without a name, and so do those of the catalog.
    private static void CheckWithoutTrees(Dictionary<string, string> found, Dictionary<string, string> content)
    {
        (found, content) = (WithoutTrees(found), WithoutTrees(content));
        content.Should().OnlyContain(entry => found.GetValueOrDefault(entry.Key) == entry.Value);
        found.Keys.Except(content.Keys).Where(key => key != Large && !key.StartsWith(Small, StringComparison.Ordinal)).Should().BeEmpty();
    }

    private static Dictionary<string, string> WithoutTrees(Dictionary<string, string> content) =>
        content.ToDictionary(entry => entry.Key[(entry.Key.LastIndexOf('/') + 1)..], entry => entry.Value);

    // A tree of three levels, whose keys differ at their ends so that branches have few children, and as many others as give the catalog two. No
    // key occurs twice.
    private static SimulatedDisk Make(int version, out Dictionary<string, string> content)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, BackupTestKit.Options(version));
        environment.Write(writing =>
        {
            var tree = writing.CreateTree(Large);
            for (var i = 0; i < Entries; i++)
                tree.Put(Encoding.ASCII.GetBytes($"{new string('k', 300)}{i:D6}"), FaultTestKit.Value(i, 60));
            for (var i = 0; i < Trees; i++)
            {
                var small = writing.CreateTree($"{Small} {new string('n', 100)} {i:D4}");
                small.Put(Encoding.ASCII.GetBytes($"only {i}"), FaultTestKit.Value(i, 40));
            }
        });
        content = BackupTestKit.ContentOf(environment);
        return disk;
    }

    /// <summary>The branches of the store, which the loops change.</summary>
    private sealed unsafe class Forged
    {
        private readonly ForgedStore _store;
        private readonly List<long> _inner;

        public Forged(ForgedStore store, EnvironmentImage image)
        {
            _store = store;
            Catalog = image.Header.State.Catalog.RootPage;
            var branches = image.UsedPages.Where(page => page != Catalog && image.HeaderOf(page).Kind == PageKind.Branch).ToList();
            Root = branches.Single(page => !branches.Exists(other => Children(other).Contains(page)));
            _inner = Children(Root);
            image.HeaderOf(Catalog).Kind.Should().Be(PageKind.Branch);
            _inner.Should().HaveCountGreaterThan(2).And.OnlyContain(page => branches.Contains(page));
        }

        /// <summary>The root of the catalog.</summary>
        public long Catalog { get; }

        /// <summary>The root of the tree.</summary>
        public long Root { get; }

        /// <summary>The pages that have been changed.</summary>
        public HashSet<long> Changed { get; } = [];

        /// <summary>The pages that they name.</summary>
        public HashSet<long> Named { get; } = [];

        /// <summary>Returns a branch below the root.</summary>
        public long Inner(int index) => _inner[index];

        public void SetAll(long branch, long child)
        {
            for (var i = Children(branch).Count - 1; i >= 0; i--)
                SetChild(branch, i, child);
        }

        public void SetChild(long branch, int index, long child)
        {
            Changed.Add(branch);
            Named.Add(child);
            fixed (byte* page = _store.ChangePage(branch))
            {
                (index < SlottedPage.Count(page)).Should().BeTrue();
                ((BranchRecordHeader*)SlottedPage.Record(page, index))->Child = child;
            }
        }

        private List<long> Children(long branch)
        {
            var children = new List<long>();
            fixed (byte* page = _store.PageBytes(branch))
            {
                for (var i = 0; i < SlottedPage.Count(page); i++)
                    children.Add(BranchPage.Child(page, i).Value);
            }

            return children;
        }
    }
}
