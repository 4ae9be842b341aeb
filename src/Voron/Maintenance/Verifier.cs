using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Maintenance;

/// <summary>
/// Walks one snapshot: every tree, every value, the section maps; each page has to be owned once, and to be as it was written.
/// </summary>
/// <remarks>
/// Nothing else has to stop. A page that has no version for the snapshot is not overwritten in the data file while the snapshot
/// is registered: no flush goes beyond the oldest reader.
/// </remarks>
internal sealed unsafe class Verifier
{
    private const int MaxProblems = 1000;

    private readonly EngineContext _context;
    private readonly ReadSnapshot _snapshot;
    private readonly SectionMapLayout _layout;
    private readonly VerificationPace _pace;
    private readonly long _pageCount;
    private readonly List<string> _problems = [];
    private readonly List<long> _ownedRuns = [];
    private readonly HashSet<long> _largeRuns = [];
    private readonly ulong[] _owned;
    private long _ownedPages;
    private long _entries;
    private int _trees;

    private Verifier(EngineContext context, ReadSnapshot snapshot, VerificationPace pace)
    {
        _context = context;
        _snapshot = snapshot;
        _layout = context.Layout;
        _pace = pace;
        _pageCount = snapshot.State.PageCount;
        _owned = new ulong[_pageCount / 64 + 1];
    }

    public static VerificationReport Run(EngineContext context, ReadSnapshot snapshot, VerificationPace pace) =>
        new Verifier(context, snapshot, pace).Run();

    private VerificationReport Run()
    {
        if (_pageCount > _context.DataFile.CapacityPages)
            Report($"the state has {_pageCount} pages, the data file {_context.DataFile.CapacityPages}");

        Guard("catalog", CheckTrees);
        var free = 0L;
        Guard("section map", () => free = CheckSpace());
        return new VerificationReport(_snapshot.Id, _trees, _entries, _ownedPages, free, _problems);
    }

    private void CheckTrees()
    {
        var header = _snapshot.State.Catalog;
        if (!CheckTree("catalog", header))
            return;

        CheckPages();
        var catalog = new TreeState(header);
        var cursor = new TreeCursor();
        cursor.Open(catalog, _snapshot);
        var ids = new HashSet<uint>();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var name = Catalog.Decode(cursor.Key);
            var tree = Catalog.ToHeader(cursor.Key, cursor.Value, _pageCount);
            if (!ids.Add(tree.TreeId) || tree.TreeId >= _snapshot.State.NextTreeId)
                Report($"tree '{name}': its id {tree.TreeId} is taken or not below {_snapshot.State.NextTreeId}");
            _trees++;
            _entries += tree.EntryCount;
            if (CheckTree($"tree '{name}'", tree))
                Guard($"tree '{name}'", () => CheckLargeValues(name, tree));
            CheckPages();
        }

        cursor.Close();
    }

    private bool CheckTree(string name, TreeHeader header) => TreeChecker.Check(
        _snapshot, header, _pageCount, problem => Report($"{name}: {problem}"), (first, pages) => Own(first.Value, pages, name));

    private void CheckLargeValues(string name, TreeHeader header)
    {
        if (header.OverflowPages == 0)
            return;
        var tree = new TreeState(header);
        var cursor = new TreeCursor();
        cursor.Open(tree, _snapshot);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            if (LeafPage.Kind(cursor.Record) != ValueKind.LargeRun)
                continue;
            var reference = *(LargeRunReference*)LeafPage.InlineBytes(cursor.Record);
            _largeRuns.Add(reference.FirstPage);
            Guard($"tree '{name}', value at page {reference.FirstPage}", () => CheckLargeValue(reference));
            _pace.Read(reference.Length);
        }

        cursor.Close();
    }

    private void CheckLargeValue(in LargeRunReference reference)
    {
        var checksums = LargeValueReader.Checksums(_snapshot, reference);
        LargeValues.Verify(_context.DataFile, reference.FirstPage, reference.Length, checksums, 0, reference.Length, always: true);
    }

    private void Own(long first, int pages, string owner)
    {
        for (var page = first; page < first + pages; page++)
        {
            if (page < 0 || page >= _pageCount)
            {
                Report($"page {page} is owned by {owner}, and there are {_pageCount} pages");
                return;
            }

            if (IsOwned(page))
                Report($"page {page} is owned by {owner}, and has been owned before");
            else
                _ownedPages++;
            _owned[page >> 6] |= 1UL << (int)(page & 63);
        }

        _ownedRuns.Add(first);
    }

    private bool IsOwned(long page) => (_owned[page >> 6] & (1UL << (int)(page & 63))) != 0;

    // What stands in a run without headers has been verified with its value.
    private void CheckPages()
    {
        foreach (var page in _ownedRuns)
        {
            if (_largeRuns.Contains(page) || _context.Versions.Find(page, _snapshot.Id, out _))
                continue;
            var fault = _context.DataFile.TryVerify(page, out _);
            if (fault != null)
                Report(fault);
            _pace.Read(_context.PageSize);
        }

        _ownedRuns.Clear();
        _largeRuns.Clear();
    }

    private long CheckSpace()
    {
        var map = new SectionMap(_layout, new SnapshotSpace(_snapshot));
        Own(SectionMapLayout.RootPage.Value, 1, "the section map");
        for (var group = 0L; group <= _layout.GroupOf(_pageCount - 1); group++)
        {
            Own(map.MapPage(group), 1, "the section map");
            if (group % _layout.NumbersPerPage == 0)
                Own(map.DirectoryPage(group), 1, "the section map");
        }

        CheckPages();
        var free = 0L;
        for (var section = 0L; section < map.SectionCount; section++)
            free += CheckSection(map, section);
        return free;
    }

    private long CheckSection(SectionMap map, long section)
    {
        var bitmap = map.ReadBitmap(section);
        var used = 0;
        var free = 0L;
        for (var bit = 0; bit < _layout.PagesPerSection; bit++)
        {
            var page = section * _layout.PagesPerSection + bit;
            var isUsed = Bitmap.IsSet(bitmap, bit);
            used += isUsed ? 1 : 0;
            if (page >= _pageCount)
            {
                if (isUsed)
                    Report($"page {page} is marked as used, and there are {_pageCount} pages");
                continue;
            }

            free += isUsed ? 0 : 1;
            if (isUsed != IsOwned(page))
                Report($"page {page} is {(isUsed ? "marked as used, and nobody owns it" : "marked as free, and is owned")}");
        }

        if (used != map.UsedPages(section))
            Report($"section {section} says that {map.UsedPages(section)} pages are used; its bitmap has {used}");
        return free;
    }

    private void Guard(string what, Action check)
    {
        try
        {
            check();
        }
        catch (VoronException e)
        {
            Report($"{what}: {e.Message}");
        }
    }

    private void Report(string problem)
    {
        if (_problems.Count < MaxProblems)
            _problems.Add(problem);
    }

    /// <summary>The section maps of a snapshot, to be read.</summary>
    private sealed class SnapshotSpace(ReadSnapshot snapshot) : ISpacePages
    {
        public long PageCount
        {
            get => snapshot.State.PageCount;
            set => throw new InvalidOperationException("A snapshot does not grow.");
        }

        public byte* ReadPage(long page) => snapshot.Read(new PageNumber(page));

        public void EnsureCapacity(long pageCount) => throw new InvalidOperationException("A snapshot does not grow.");

        public WritablePage ModifyPage(long page) => throw new InvalidOperationException("A snapshot does not change.");

        public WritablePage AddPage(long page, PageKind kind) => throw new InvalidOperationException("A snapshot does not change.");

        public void EnsureBlocks(long firstPage, long pages) => throw new InvalidOperationException("A snapshot does not change.");

        public bool HasVersion(long page) => false;
    }
}
