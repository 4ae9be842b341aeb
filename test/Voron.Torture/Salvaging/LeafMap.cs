using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Torture.Damage;
using Voron.Trees.Arrays;
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
