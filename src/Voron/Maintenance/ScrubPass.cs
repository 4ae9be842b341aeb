using Voron.Format;
using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Maintenance;

/// <summary>One verification in the background: everything that the data file holds, in slices with a snapshot each.</summary>
/// <remarks>
/// <code>
///   catalog, by names ─▶ each tree, by keys; a long value by chunks ─▶ section maps, by groups ─▶ done
/// </code>
/// A slice begins where the one before ended, in a newer snapshot. What has changed in between was written since the pass began; what
/// has not is read and checked. Within a slice: checksums and structure of each page, its place in the tree, that it is marked as used;
/// the checksums of values; the counts of the section maps. The counts of a tree are held against its header when no transaction came
/// in between. Whether used pages have an owner, and only one, takes a snapshot of everything: <see cref="Verifier"/>.
/// </remarks>
internal sealed unsafe class ScrubPass(Engine context, ScrubPace pace) : ITreeCheckHost
{
    private readonly ProblemList _problems = new();
    private byte[] _name = new byte[TreeLimits.MaxNameBytes];
    private CheckedPages? _pages;
    private SectionMap? _space;
    private TreeChecker? _trees;
    private string _owner = "";
    private Phase _phase;
    private bool _isInTree;
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

    /// <summary>What was found; the counts are of several snapshots, the transaction is that of the last one.</summary>
    public VerificationReport Report => new(_lastId, _treeCount, _entries, _usedPages, _freePages, _problems.All);

    int ITreeCheckHost.PageSize => context.PageSize;

    long ITreeCheckHost.PageLimit => _pages!.PageCount;

    bool ITreeCheckHost.IsOver => pace.IsSliceOver;

    /// <summary>Goes on until the slice is over.</summary>
    /// <returns>True when the pass is done.</returns>
    /// <exception cref="OperationCanceledException">The pass is to stop.</exception>
    public bool RunSlice(SnapshotPages snapshot)
    {
        _lastId = snapshot.Id;
        _pages = new CheckedPages(context, snapshot, pace, Add);
        _space = new SectionMap(context.Layout, new SnapshotSpace(snapshot));
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
            // What leads to the rest of this phase cannot be read.
            _owner = "";
            Add($"{(_phase == Phase.Space ? "section map" : "catalog")}: {problem.Message}");
            _phase++;
        }
        finally
        {
            _pages = null;
        }

        return _phase == Phase.Done;
    }

    /// <summary>Goes on with the phase. False when the slice is over.</summary>
    private bool RunPhase(SnapshotPages snapshot)
    {
        switch (_phase)
        {
            case Phase.Catalog:
                _owner = "catalog";
                if (!RunTree(snapshot, snapshot.State.Catalog, out var isSound))
                    return false;
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

    /// <summary>Goes on with a tree, or begins it. False when the slice is over.</summary>
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
        isSound = _treeBeganAt == snapshot.Id || PlantedFault.CountOverSnapshots ? _trees.CompareCounts(header) : _trees.IsClean;
        return true;
    }

    private void CountTree()
    {
        _treeCount++;
        _entries += _trees!.Entries;
    }

    /// <summary>The tree that the pass is in, or else the one behind the last one. False when there is none.</summary>
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
                header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount);

                // Another tree of the same name was written since the pass came by.
                if (_isInTree && header.TreeId == _treeId)
                    return true;
                found = cursor.MoveNext();
            }

            for (_isInTree = false; found; found = cursor.MoveNext())
            {
                // Longer than a name can be: it is reported, and passed over.
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
            header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount);
            _owner = $"tree '{Catalog.Decode(cursor.Key)}'";
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

    /// <summary>Checks the map page of the next group; false when there is none.</summary>
    private bool RunGroup()
    {
        var layout = context.Layout;
        _owner = "the section map";
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

    bool ITreeCheckHost.CheckValue(in LargeExtentReference reference, ref long chunk) => _pages!.CheckValue(reference, ref chunk);

    /// <summary>A page that is in use and marked as free would be given out again: that is seen without knowing all owners.</summary>
    bool ITreeCheckHost.Own(long first, int pages)
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
        var layout = context.Layout;
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
            // The walk over the section maps will say so.
            _knowsMaps = false;
            return true;
        }
    }

    private void Add(string problem) => _problems.Add(_owner.Length == 0 ? problem : $"{_owner}: {problem}");
}
