using System.Diagnostics;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>One background verification: checks everything that the data file holds, in slices with a snapshot each.</summary>
/// <remarks>
/// <code>
///   catalog, by name ─▶ each tree, by key; a long value by chunk ─▶ section maps, by group ─▶ done
/// </code>
/// A slice begins where the previous one ended, in a newer snapshot. Data that has changed in between was written since the pass began;
/// unchanged data is read and checked. A slice checks the checksum and structure of each page, its place in the tree, and that it is marked
/// as used; the checksums of values; and the counts of the section maps. The counts of a tree are compared with its header if no transaction
/// committed in between. Checking that each used page has exactly one owner requires a single snapshot of everything: <see cref="Verifier"/>.
/// </remarks>
internal sealed unsafe class ScrubPass(ReadingEngine engine, ScrubPace pace) : ITreeCheckHost
{
    private readonly ProblemList _problems = new();
    private byte[] _name = new byte[TreeLimits.MaxNameBytes];
    private CheckedPages? _pages;
    private SectionMap? _space;
    private TreeChecker? _trees;
    private string _owner = "";
    private Phase _phase;
    private bool _isInTree;
    private bool _isDropped;
    private int _nameLength;
    private uint _treeId;
    private long _treeBeganAt;
    private long _group;
    private bool _knowsMaps = true;
    private long _mappedGroup;
    private byte* _map;
    private int _treeCount;
    private long _entries;
    private long _usedPages;
    private long _freePages;
    private long _lastId;

    private enum Phase
    {
        Catalog,
        Trees,
        Space,
        Done,
    }

    /// <summary>The findings. The counts come from several snapshots; the transaction is that of the last one.</summary>
    public VerificationReport Report => new(_lastId, _treeCount, _entries, _usedPages, _freePages, _problems.All);

    int ITreeCheckHost.PageSize => engine.PageSize;

    long ITreeCheckHost.PageLimit => _pages!.PageCount;

    bool ITreeCheckHost.IsOver => pace.IsSliceOver;

    /// <summary>Continues the pass until the slice is over.</summary>
    /// <returns>True when the pass is done.</returns>
    /// <exception cref="OperationCanceledException">The pass must stop.</exception>
    public bool RunSlice(SnapshotPages snapshot)
    {
        Debug.Assert(snapshot.Id >= _lastId, "A slice must have a newer snapshot than the slice before, or the same.");
        Debug.Assert(_pages == null, "One slice at a time must run.");
        _lastId = snapshot.Id;
        _pages = new CheckedPages(engine, snapshot, pace, Add);
        _space = new SectionMap(engine.Layout, new SnapshotSpace(snapshot));
        _mappedGroup = -1;
        pace.BeginSlice();
        try
        {
            while (_phase != Phase.Done && RunPhase(snapshot))
            {
            }
        }
        catch (VoronException problem)
        {
            // The path to the rest of this phase cannot be read.
            _owner = "";
            Debug.Assert(_phase < Phase.Done, "A pass that is done reads nothing more.");
            Add($"{(_phase == Phase.Space ? "section map" : "catalog")}: {problem.Message}");
            _phase++;
            _isInTree = false;
        }
        finally
        {
            _pages = null;
        }

        return _phase == Phase.Done;
    }

    /// <summary>Continues the phase. Returns false when the slice is over.</summary>
    private bool RunPhase(SnapshotPages snapshot)
    {
        switch (_phase)
        {
            case Phase.Catalog:
                (_owner, _isDropped) = ("catalog", false);
                if (!RunTree(snapshot, snapshot.State.Catalog, out var isSound))
                    return false;
                Debug.Assert(_treeCount == 0 && _group == 0, "The catalog must come first.");
                _phase = isSound ? Phase.Trees : Phase.Space;
                break;
            case Phase.Trees:
                if (!TryFindTree(snapshot, out var header))
                    _phase = Phase.Space;
                else if (!RunTree(snapshot, header, out _))
                    return false;
                else
                    CountTree();
                break;
            default:
                if (!RunGroup())
                    _phase = Phase.Done;
                break;
        }

        return !pace.IsSliceOver;
    }

    /// <summary>Begins or continues a tree. Returns false when the slice is over.</summary>
    private bool RunTree(SnapshotPages snapshot, in TreeHeader header, out bool isSound)
    {
        _trees ??= new TreeChecker(this);
        isSound = true;
        if (!_isInTree)
        {
            _trees.Begin();
            _treeBeganAt = snapshot.Id;
            _isInTree = true;
        }

        if (!_trees.Run(header))
            return false;
        _isInTree = false;
        _usedPages += _trees.Pages;
        isSound = _treeBeganAt == snapshot.Id || PlantedFault.CountOverSnapshots
            ? _trees.CompareCounts(header, countsEntries: !_isDropped)
            : _trees.IsClean;
        return true;
    }

    private void CountTree()
    {
        if (_isDropped)
            return;
        _treeCount++;
        _entries += _trees!.Entries;
    }

    /// <summary>Finds the tree that the pass is in, or else the one after the last one. Returns false when there is none.</summary>
    private bool TryFindTree(SnapshotPages snapshot, out TreeHeader header)
    {
        header = default;
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
        try
        {
            var found = _nameLength == 0 ? cursor.SeekFirst() : cursor.Seek(_name.AsSpan(0, _nameLength));
            if (found && _nameLength > 0 && cursor.Key.SequenceEqual(_name.AsSpan(0, _nameLength)))
            {
                header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount, snapshot.PageSize, snapshot.FilePath);

                // A different id belongs to another tree of the same name, created after the pass read the earlier one.
                if (_isInTree && header.TreeId == _treeId)
                    return true;
                found = cursor.MoveNext();
            }

            for (_isInTree = false; found; found = cursor.MoveNext())
            {
                // A key may be longer than a name can be: it is reported and skipped.
                _nameLength = cursor.Key.Length;
                if (_nameLength > _name.Length)
                    _name = new byte[_nameLength];
                cursor.Key.CopyTo(_name);
                if (TryReadHeader(cursor, snapshot, out header))
                    return true;
            }

            return false;
        }
        finally
        {
            cursor.Close();
        }
    }

    private bool TryReadHeader(TreeCursor cursor, SnapshotPages snapshot, out TreeHeader header)
    {
        try
        {
            header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount, snapshot.PageSize, snapshot.FilePath);
            _owner = Catalog.Describe(cursor.Key);
            _isDropped = SystemTree.IsDropped(cursor.Key);
            if (SystemTree.IsUnknown(cursor.Key))
                _problems.Add($"catalog: {_owner} is of a kind that this engine does not know");
            _treeId = header.TreeId;
            return true;
        }
        catch (VoronException problem)
        {
            _problems.Add($"catalog: {problem.Message}");
            header = default;
            return false;
        }
    }

    /// <summary>Checks the map page of the next group. Returns false when there is none.</summary>
    private bool RunGroup()
    {
        var layout = engine.Layout;
        Debug.Assert(_phase == Phase.Space && !_isInTree, "The section maps must come after all trees.");
        _owner = "section map";
        if (_group * layout.PagesPerGroup >= _pages!.PageCount)
            return false;
        if (_group == 0)
            ReadMap(SectionMapLayout.RootPage.Value);
        if (_group % layout.NumbersPerPage == 0)
            ReadMap(_space!.DirectoryPage(_group));
        var group = _group++;
        var bytes = ReadMap(_space!.LocateMapPage(group));
        if (bytes != null)
            _freePages += new SectionChecker(layout, problem => _problems.Add(problem)).Check(bytes, group, _pages.PageCount, default);
        return true;
    }

    private byte* ReadMap(long page)
    {
        _usedPages++;
        return _pages!.Read(page, again: false);
    }

    void ITreeCheckHost.Report(string problem) => Add(problem);

    byte* ITreeCheckHost.Read(PageNumber page, bool again) => _pages!.Read(page.Value, again);

    // The dictionaries of a dropped tree are gone.
    string? ITreeCheckHost.FindFault(byte* record, uint treeId) => _isDropped ? null : _pages!.FindFault(record, treeId);

    bool ITreeCheckHost.CheckValue(in LargeExtentReference reference, ref long chunk) => _pages!.CheckValue(reference, ref chunk);

    /// <summary>
    /// Reports a page that is in use but marked as free, because it would be allocated again. This needs no knowledge of all owners.
    /// </summary>
    bool ITreeCheckHost.Own(long first, int pages, bool isValue)
    {
        for (var page = first; page < first + pages && _knowsMaps; page++)
        {
            if (!IsMarkedUsed(page))
            {
                Add($"page {page} is marked as free, but a tree or a map owns it");
                break;
            }
        }

        return true;
    }

    private bool IsMarkedUsed(long page)
    {
        var layout = engine.Layout;
        var group = layout.GroupOf(page);
        try
        {
            if (group != _mappedGroup)
            {
                _map = _pages!.Snapshot.Read(new PageNumber(_space!.LocateMapPage(group)));
                _mappedGroup = group;
            }

            return Bitmap.IsSet(_map + layout.BitmapOffset(layout.SectionOf(page)), (int)(page % layout.PagesPerSection));
        }
        catch (VoronException)
        {
            // The walk over the section maps will report it.
            _knowsMaps = false;
            return true;
        }
    }

    private void Add(string problem) => _problems.Add(_owner.Length == 0 ? problem : $"{_owner}: {problem}");
}
