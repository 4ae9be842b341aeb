using Voron.Format;
using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Maintenance;

/// <summary>
/// Walks one snapshot: every tree, every value and the section maps. Each page must be intact and have one owner.
/// </summary>
/// <remarks>
/// No other work has to stop. The snapshot is held until the end, because only a single state shows whether each page has one owner; the scrubber
/// omits this check, see <see cref="ScrubPass"/>. Memory: one bit per page. Closing the environment ends the verification at the next page.
/// </remarks>
internal sealed unsafe class Verifier : ITreeCheckHost
{
    private readonly ReadingEngine _engine;
    private readonly SnapshotPages _snapshot;
    private readonly SectionMapLayout _layout;
    private readonly CheckedPages _pages;
    private readonly ProblemList _problems = new();
    private readonly TreeChecker _trees;
    private readonly ulong[] _owned;
    private bool _isDropped;
    private string _owner = "";
    private long _ownedPages;
    private long _entries;
    private int _treeCount;

    private Verifier(ReadingEngine engine, SnapshotPages snapshot, CancellationToken stop)
    {
        _engine = engine;
        _snapshot = snapshot;
        _layout = engine.Layout;
        _pages = new CheckedPages(engine, snapshot, ScrubPace.Unlimited(stop), Report);
        _trees = new TreeChecker(this);
        _owned = new ulong[_pages.PageCount / (PlantedFault.ListOwnedPages ? 1 : 64) + 1];
    }

    /// <summary>Verifies a snapshot.</summary>
    /// <exception cref="OperationCanceledException">The verification was stopped.</exception>
    public static VerificationReport Run(ReadingEngine engine, SnapshotPages snapshot, CancellationToken stop) =>
        new Verifier(engine, snapshot, stop).Run();

    public int PageSize => _engine.PageSize;

    public long PageLimit => _pages.PageCount;

    public bool IsOver => false;

    public void Report(string problem) => _problems.Add(_owner.Length == 0 ? problem : $"{_owner}: {problem}");

    public byte* Read(PageNumber page, bool again) => _pages.Read(page.Value, again);

    // The dictionaries of a dropped tree are gone.
    public string? FindFault(byte* record, uint treeId) => _isDropped ? null : _pages.FindFault(record, treeId);

    public bool CheckValue(in LargeExtentReference reference, ref long chunk) => _pages.CheckValue(reference, ref chunk);

    public bool Own(long first, int pages, bool isValue)
    {
        // Compared by subtraction: a damaged number must not overflow.
        if (first < 0 || first > PageLimit - pages)
        {
            Report($"page {(first < 0 || first >= PageLimit ? first : PageLimit)} has an owner, but the snapshot has {PageLimit} pages");
            return false;
        }

        var isFirst = true;
        for (var page = first; page < first + pages; page++)
        {
            var bit = 1UL << (int)(page & 63);
            if ((_owned[page >> 6] & bit) != 0)
            {
                Report($"page {page} has more than one owner");
                isFirst = false;
            }
            else
            {
                _ownedPages++;
            }

            _owned[page >> 6] |= bit;
        }

        return isFirst;
    }

    private VerificationReport Run()
    {
        if (PageLimit > _engine.DataFile.CapacityPages)
            Report($"the state has {PageLimit} pages, but '{_engine.DataFile.File.Path}' has only {_engine.DataFile.CapacityPages}");

        Guard("catalog", CheckTrees);
        _owner = "";
        var free = 0L;
        Guard("section map", () => free = CheckSpace());
        return new VerificationReport(_snapshot.Id, _treeCount, _entries, _ownedPages, free, _problems.All);
    }

    private void CheckTrees()
    {
        var header = _snapshot.State.Catalog;
        if (!CheckTree("catalog", header))
            return;

        var catalog = new TreeState(header);
        var cursor = new TreeCursor();
        cursor.Open(catalog, _snapshot, canChange: false);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            _owner = Catalog.Describe(cursor.Key);
            var tree = Catalog.ToHeader(cursor.Key, cursor.Value, PageLimit, PageSize, _snapshot.FilePath);
            _isDropped = SystemTree.IsDropped(cursor.Key);
            var isClean = CheckTree(_owner, tree, countsEntries: !_isDropped);
            if (SystemTree.IsUnknown(cursor.Key))
                Report($"{_owner} in the catalog is of a kind that this engine does not know");
            var feature = TreeKinds.Feature(tree) | SystemTree.Feature(cursor.Key);
            if (!_engine.Format.Has(feature))
                Report($"it is {TreeKinds.Of(tree.Kind).Description}, but the header of the environment does not name the feature {feature}");
            if (_isDropped)
                continue;
            CheckValueSets(cursor.Key, tree, isClean);
            _treeCount++;
            _entries += tree.EntryCount;
        }

        cursor.Close();
        _owner = "";
        new TreeIdChecker(_snapshot, Report).Run();
    }

    private void CheckValueSets(ReadOnlySpan<byte> name, in TreeHeader tree, bool isClean)
    {
        var verifier = new ValueSetVerifier(_snapshot, _pages, Report);
        try
        {
            if (SystemTree.IsLargeSets(name))
                verifier.CheckCompanion(name);
            else if (TreeKinds.Of(tree.Kind).HasCompanion && isClean)
                verifier.Run(tree);
        }
        catch (VoronException problem)
        {
            Report($"its sets cannot be compared with their values: {problem.Message}");
        }
    }

    private bool CheckTree(string owner, TreeHeader header, bool countsEntries = true)
    {
        _owner = owner;
        _trees.Begin();
        _trees.Run(header);
        return _trees.CompareCounts(header, countsEntries);
    }

    private long CheckSpace()
    {
        _owner = "section map";
        var map = new SectionMap(_layout, new SnapshotSpace(_snapshot));
        var sections = new SectionChecker(_layout, problem => _problems.Add(problem));
        var groups = _layout.GroupOf(PageLimit - 1) + 1;
        Enter(SectionMapLayout.RootPage.Value);
        for (var group = 0L; group < groups; group++)
        {
            if (group % _layout.NumbersPerPage == 0)
                Enter(map.DirectoryPage(group));
            Enter(map.MapPage(group));
        }

        var free = 0L;
        for (var group = 0L; group < groups; group++)
            free += sections.Check(_snapshot.Read(new PageNumber(map.MapPage(group))), group, PageLimit, _owned);
        return free;
    }

    private void Enter(long page)
    {
        if (Own(page, 1, isValue: false))
            _pages.Read(page, again: false);
    }

    private void Guard(string what, Action check)
    {
        try
        {
            check();
        }
        catch (VoronException e)
        {
            _problems.Add($"{what}: {e.Message}");
        }
    }
}
