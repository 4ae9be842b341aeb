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
/// <remarks>The caller keeps the flusher out, so that the data file holds still.</remarks>
internal sealed unsafe class Verifier
{
    private const int MaxProblems = 1000;

    private readonly EngineContext _context;
    private readonly ReadSnapshot _snapshot;
    private readonly SectionMapLayout _layout;
    private readonly List<string> _problems = [];
    private readonly Dictionary<long, string> _owners = [];
    private readonly List<long> _ownedRuns = [];
    private readonly HashSet<long> _largeRuns = [];
    private long _entries;
    private int _trees;

    private Verifier(EngineContext context, ReadSnapshot snapshot)
    {
        _context = context;
        _snapshot = snapshot;
        _layout = context.Layout;
    }

    public static VerificationReport Run(EngineContext context, ReadSnapshot snapshot) => new Verifier(context, snapshot).Run();

    private VerificationReport Run()
    {
        var pageCount = _snapshot.State.PageCount;
        if (pageCount > _context.DataFile.CapacityPages)
            Report($"the state has {pageCount} pages, the data file {_context.DataFile.CapacityPages}");

        Guard("catalog", CheckTrees);
        var free = 0L;
        Guard("section map", () => free = CheckSpace(pageCount));
        CheckPages();
        return new VerificationReport(_snapshot.Id, _trees, _entries, _owners.Count, free, _problems);
    }

    private void CheckTrees()
    {
        var header = _snapshot.State.Catalog;
        if (!CheckTree("catalog", header))
            return;

        var catalog = new TreeState(header);
        var cursor = new TreeCursor();
        cursor.Open(catalog, _snapshot);
        var ids = new HashSet<uint>();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var name = Catalog.Decode(cursor.Key);
            var tree = Catalog.ToHeader(cursor.Key, cursor.Value);
            if (!ids.Add(tree.TreeId) || tree.TreeId >= _snapshot.State.NextTreeId)
                Report($"tree '{name}': its id {tree.TreeId} is taken or not below {_snapshot.State.NextTreeId}");
            _trees++;
            _entries += tree.EntryCount;
            if (CheckTree($"tree '{name}'", tree))
                Guard($"tree '{name}'", () => CheckLargeValues(name, tree));
        }

        cursor.Close();
    }

    private bool CheckTree(string name, TreeHeader header) => TreeChecker.Check(
        _snapshot, header, _snapshot.State.PageCount, problem => Report($"{name}: {problem}"), (first, pages) => Own(first.Value, pages, name));

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
            Guard($"tree '{name}', value at page {reference.FirstPage}", () => LargeValues.Verify(
                _context.DataFile, reference.FirstPage, reference.Length,
                LargeValueReader.Checksums(_snapshot, reference), 0, reference.Length, always: true));
        }

        cursor.Close();
    }

    private void Own(long first, int pages, string owner)
    {
        for (var page = first; page < first + pages; page++)
        {
            if (!_owners.TryAdd(page, owner))
                Report($"page {page} is owned by {_owners[page]} and by {owner}");
        }

        _ownedRuns.Add(first);
    }

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
        }
    }

    private long CheckSpace(long pageCount)
    {
        var map = new SectionMap(_layout, new SnapshotSpace(_snapshot));
        Own(SectionMapLayout.RootPage.Value, 1, "section map");
        for (var group = 0L; group <= _layout.GroupOf(pageCount - 1); group++)
        {
            Own(map.MapPage(group), 1, "section map");
            if (group % _layout.NumbersPerPage == 0)
                Own(map.DirectoryPage(group), 1, "section map");
        }

        var free = 0L;
        for (var section = 0L; section < map.SectionCount; section++)
        {
            var bitmap = map.ReadBitmap(section);
            var used = 0;
            for (var bit = 0; bit < _layout.PagesPerSection; bit++)
            {
                var page = section * _layout.PagesPerSection + bit;
                var isUsed = Bitmap.IsSet(bitmap, bit);
                used += isUsed ? 1 : 0;
                if (isUsed && page >= pageCount)
                    Report($"page {page} is marked as used, and there are {pageCount} pages");
                else if (isUsed && !_owners.ContainsKey(page))
                    Report($"page {page} is marked as used, and nobody owns it");
                else if (!isUsed && page < pageCount && _owners.TryGetValue(page, out var owner))
                    Report($"page {page} is marked as free, and is owned by {owner}");
                else if (!isUsed && page < pageCount)
                    free++;
            }

            if (used != map.UsedPages(section))
                Report($"section {section} says that {map.UsedPages(section)} pages are used; its bitmap has {used}");
        }

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

        public void EnsureBlocks(long firstPage, long pages) => throw new InvalidOperationException("A snapshot does not change.");

        public WritablePage ModifyPage(long page) => throw new InvalidOperationException("A snapshot does not change.");

        public WritablePage AddPage(long page, PageKind kind) => throw new InvalidOperationException("A snapshot does not change.");

        public bool HasVersion(long page) => false;
    }
}
