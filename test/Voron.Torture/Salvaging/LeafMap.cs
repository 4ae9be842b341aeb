using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Torture.Damage;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Torture.Salvaging;

/// <summary>
/// Which entries of the newest state are lost with a page of the data file: those of the leaf, or of the value, that the page belongs to.
/// </summary>
internal sealed unsafe class LeafMap
{
    private static readonly ConditionalWeakTable<StoreImage, LeafMap> Maps = [];

    private readonly Dictionary<long, HashSet<(string Tree, string Key)>> _entries = [];

    private readonly HashSet<long> _catalog = [];

    public static LeafMap Of(StoreImage image) => Maps.GetValue(image, static made => new LeafMap(made));

    private LeafMap(StoreImage image)
    {
        var disk = new ImageDisk(image.Files, isLent: true) { IsReadOnly = true };
        try
        {
            using var environment = StorageEnvironment.Open(disk, StoreMaker.Options(image.Form, readOnly: true));
            using var reading = environment.BeginRead();
            var pages = environment.Internals.Engine.Snapshots;
            var snapshot = new Voron.Snapshots.SnapshotPages(pages);
            snapshot.Begin();
            Walk(snapshot, "", snapshot.State.Catalog.RootPage);
            _catalog.UnionWith(_entries.Keys);
            _entries.Clear();
            foreach (var name in reading.GetTreeNames())
            {
                var catalog = new Voron.Trees.TreeState(snapshot.State.Catalog);
                Voron.Trees.Catalog.TryFind(catalog, snapshot, System.Text.Encoding.UTF8.GetBytes(name), out var header);
                if (header.RootPage != 0)
                    Walk(snapshot, name, header.RootPage);
            }

            foreach (var (name, header) in reading.GetSystemTrees())
            {
                if (header.RootPage != 0)
                    Walk(snapshot, Voron.Trees.SystemTree.Describe(name), header.RootPage);
            }

            snapshot.End();
            snapshot.Retire();
        }
        finally
        {
            disk.Free();
        }
    }

    public IReadOnlySet<(string Tree, string Key)> EntriesOf(long page) =>
        _entries.TryGetValue(page, out var entries) ? entries : new HashSet<(string, string)>();

    /// <summary>Returns whether a page is a leaf of the catalog.</summary>
    public bool IsOfCatalog(long page) => _catalog.Contains(page);

    private void Walk(PageReader pages, string tree, long page)
    {
        var bytes = pages.Read(new(page));
        if (((PageHeader*)bytes)->Kind == PageKind.Array)
        {
            WalkArray(pages, tree, page, bytes);
            return;
        }

        for (var i = 0; i < SlottedPage.Count(bytes); i++)
        {
            if (((PageHeader*)bytes)->Kind == PageKind.Branch)
            {
                Walk(pages, tree, BranchPage.Child(bytes, i).Value);
                continue;
            }

            var record = SlottedPage.Record(bytes, i);
            if (LeafPage.Kind(record) == ValueKind.Extended)
            {
                AddSet(pages, tree, page, record);
                continue;
            }

            var entry = (tree, Convert.ToHexString(LeafPage.Key(record)));
            Add(page, 1, entry);
            if (LeafPage.Kind(record) == ValueKind.Overflow)
            {
                var value = *(OverflowReference*)LeafPage.InlineBytes(record);
                Add(value.FirstPage, TreeLimits.OverflowPages(pages.PageSize, value.Length), entry);
            }
            else if (LeafPage.Kind(record) == ValueKind.LargeExtent)
            {
                var value = *(LargeExtentReference*)LeafPage.InlineBytes(record);
                Add(value.FirstPage, LargeValues.PageCount(pages.PageSize, value.Length), entry);
                if (!value.IsOneChunk)
                    Add(value.ChecksumPage, TreeLimits.OverflowPages(pages.PageSize, LargeValues.ChunkCount(value.Length) * sizeof(ulong)), entry);
            }
        }
    }

    // An id is lost with its page, with any page above it, and with the leaf.
    private void AddSet(PageReader pages, string tree, long leaf, byte* record)
    {
        var key = LeafPage.Key(record).ToArray();
        var behind = LeafPage.InlineBytes(record);
        if (*(ExtendedForm*)behind == ExtendedForm.IdSet)
        {
            var set = *(IdSetReference*)behind;
            WalkSet(pages, set.Root, set.Depth, [leaf], (tree, key));
            return;
        }

        var ids = stackalloc long[IdBlock.MaxIds];
        var payloads = stackalloc byte[IdBlock.MaxIds];
        var count = InlineIds.Unpack(pages, behind, LeafPage.InlineLength(record), ids, payloads);
        for (var i = 0; i < count; i++)
            Add(leaf, 1, (tree, Convert.ToHexString(IdEntries.Join(key, ids[i]))));
    }

    private void WalkSet(PageReader pages, long page, int depth, long[] above, (string Tree, byte[] Key) owner)
    {
        long[] way = [.. above, page];
        var bytes = pages.Read(new(page));
        if (depth > 1)
        {
            var layout = ArrayLayout.OfBranches(pages.PageSize);
            for (var i = 0; i < ArrayPage.Count(bytes); i++)
                WalkSet(pages, ArrayPage.Child(bytes, layout, i).Value, depth - 1, way, owner);
            return;
        }

        var ids = stackalloc long[IdBlock.MaxIds];
        for (var block = 0; block < IdPage.Count(bytes); block++)
        {
            var count = IdPage.Unpack(pages, bytes, block, ids);
            for (var i = 0; i < count; i++)
            {
                foreach (var lost in way)
                    Add(lost, 1, (owner.Tree, Convert.ToHexString(IdEntries.Join(owner.Key, ids[i]))));
            }
        }
    }

    private void WalkArray(PageReader pages, string tree, long page, byte* bytes)
    {
        var layout = new ArrayLayout(pages.PageSize, ArrayPage.ValueSize(bytes));
        for (var i = 0; i < ArrayPage.Count(bytes); i++)
        {
            if (ArrayPage.IsBranch(bytes))
                Walk(pages, tree, ArrayPage.Child(bytes, layout, i).Value);
            else
                Add(page, 1, (tree, Convert.ToHexString(ArrayKey.ToBytes(ArrayPage.Key(bytes, layout, i)))));
        }
    }

    private void Add(long first, int pages, (string, string) entry)
    {
        for (var page = first; page < first + pages; page++)
        {
            if (!_entries.TryGetValue(page, out var entries))
                _entries[page] = entries = [];
            entries.Add(entry);
        }
    }
}
