using System.Runtime.InteropServices;
using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Paging;
using Voron.Snapshots;
using Voron.Transactions;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>Describes one page of a snapshot, however damaged it is: trusts none of its bytes, and no page that leads to it.</summary>
/// <remarks>
/// A used page whose bytes do not verify is either damaged or a page without a header: then the page before it, and the trees, decide. While the
/// snapshot is registered, no flush writes a page of the data file that has no version for it.
/// </remarks>
internal sealed unsafe class PageDescriber
{
    private readonly ReadingEngine _engine;
    private readonly SnapshotPages _snapshot;
    private readonly SectionMap _map;
    private readonly long _page;
    private readonly CancellationToken _stop;

    private PageDescriber(ReadingEngine engine, SnapshotPages snapshot, long page, CancellationToken stop)
    {
        _engine = engine;
        _snapshot = snapshot;
        _map = new SectionMap(engine.Layout, new SnapshotSpace(snapshot));
        _page = page;
        _stop = stop;
    }

    private int PageSize => _engine.PageSize;

    /// <summary>Describes a page, which must be one of the snapshot.</summary>
    /// <exception cref="OperationCanceledException">The call was stopped.</exception>
    public static PageDescription Describe(
        ReadingEngine engine, SnapshotPages snapshot, long page, OwnerSearchMode mode, CancellationToken stop)
    {
        var describer = new PageDescriber(engine, snapshot, page, stop);
        var description = describer.AddUse(describer.Begin());
        description = engine.Versions.Find(page, snapshot.Id, out var version)
            ? describer.AddVersion(description, version)
            : describer.AddDataFilePage(description);
        if (mode == OwnerSearchMode.Always || (description.Fault != null && description.IsUsed != false))
            description = describer.AddOwner(description);
        if (description.Bytes.Length > 0)
            description = describer.AddEntries(description);
        return description.IsOwnerSearched ? describer.AddSet(description) : description;
    }

    private PageDescription Begin() => new()
    {
        Page = _page,
        StateTransactionId = _snapshot.Id,
        Place = PagePlace.DataFile,
        Section = _engine.Layout.SectionOf(_page),
    };

    private PageDescription AddUse(PageDescription description)
    {
        try
        {
            return description with { IsUsed = _map.IsUsed(_page), SectionUsedPages = _map.UsedPages(description.Section) };
        }
        catch (VoronException e)
        {
            return description with { MapFault = e.Message };
        }
    }

    private PageDescription AddVersion(PageDescription description, in PageVersion version)
    {
        description = description with { Place = PagePlace.Journal, VersionTransactionId = version.TransactionId };
        var (first, node) = (_page, version);
        if ((version.Flags & VersionFlags.InsideExtent) != 0)
        {
            while (first > 0 && (node.Flags & VersionFlags.InsideExtent) != 0)
            {
                first--;
                if (!_engine.Versions.Find(first, _snapshot.Id, out node))
                    return description with { Fault = $"Page {_page} is inside an overflow extent whose first page is not in the journal." };
            }
        }

        if (node.Frame == null)
            return description with { Place = PagePlace.Nowhere, Content = PageContent.Free };
        if (first + node.Pages <= _page)
            return description with { Fault = $"Page {_page} is inside an overflow extent, but the one at page {first} has only {node.Pages} pages." };
        description = description with { Bytes = new ReadOnlySpan<byte>(node.Frame + (_page - first) * PageSize, PageSize).ToArray() };
        if (node.Pages > 1 || ((PageHeader*)node.Frame)->Kind == PageKind.Overflow)
            description = description with { Extent = (first, node.Pages) };
        if (first < _page)
            return description with { Content = PageContent.InsideOverflow };
        var malformed = PageStructure.FindFault(node.Frame, node.Pages, _page, PageSize);
        return description with
        {
            Header = *(PageHeader*)node.Frame,
            Content = ContentOf(*(PageHeader*)node.Frame),
            Fault = malformed == null ? null : $"Page {_page} is malformed in the journal: {malformed}.",
        };
    }

    private PageDescription AddDataFilePage(PageDescription description)
    {
        var bytes = new byte[PageSize];
        try
        {
            _engine.DataFile.File.Read(_page * PageSize, bytes);
        }
        catch (DiskException e)
        {
            return description with { Fault = $"Page {_page} of '{_snapshot.FilePath}' cannot be read: {e.Message}" };
        }

        var header = MemoryMarshal.Read<PageHeader>(bytes);
        description = description with { Bytes = bytes, Header = header };
        var fault = _engine.DataFile.TryVerify(_page, _stop, out var pages, out _);
        if (description.IsUsed == false)
        {
            // Leftover bytes are shown if they verify, whatever they are.
            return description with
            {
                Content = PageContent.Free,
                Header = fault == null ? header : null,
                ComputedChecksum = fault == null ? header.Checksum : null,
            };
        }

        description = description with { ComputedChecksum = ComputeChecksum(bytes, pages) };
        if (fault != null && FindExtentBefore() is { } extent)
            return description with { Content = PageContent.InsideOverflow, Extent = extent, Header = null, ComputedChecksum = null };
        return description with
        {
            Content = header.PageNumber == _page ? ContentOf(header) : PageContent.Unknown,
            Extent = header.Kind == PageKind.Overflow && header.PageNumber == _page ? (_page, header.ExtentPages) : null,
            Fault = fault,
        };
    }

    private ulong? ComputeChecksum(byte[] bytes, long pages)
    {
        fixed (byte* page = bytes)
        {
            try
            {
                return pages == 1
                    ? _engine.DataFile.ComputeChecksum(_page, page, PageSize)
                    : _engine.DataFile.ReadExtentChecksum(_page, page, pages, _stop);
            }
            catch (DiskException)
            {
                return null;
            }
        }
    }

    // An extent is used as a whole, and no page of a tree is inside it. Bytes inside a value verify neither as an extent nor as a page.
    private (long First, long Pages)? FindExtentBefore()
    {
        var bytes = new byte[PageSize];
        for (var first = _page - 1; first > 0 && IsUsedAndOnDisk(first); first--)
        {
            _stop.ThrowIfCancellationRequested();
            try
            {
                _engine.DataFile.File.Read(first * PageSize, bytes);
            }
            catch (DiskException)
            {
                return null;
            }

            var header = MemoryMarshal.Read<PageHeader>(bytes);
            if (header.PageNumber != first)
                continue;
            if (_engine.DataFile.TryVerify(first, _stop, out var pages, out _) == null)
                return header.Kind == PageKind.Overflow && first + pages > _page ? (first, pages) : null;
        }

        return null;
    }

    private bool IsUsedAndOnDisk(long page)
    {
        try
        {
            return _map.IsUsed(page) && !_engine.Versions.Find(page, _snapshot.Id, out _);
        }
        catch (VoronException)
        {
            return false;
        }
    }

    private PageDescription AddOwner(PageDescription description)
    {
        if (FindMapRole() is { } role)
            return description with { IsOwnerSearched = true, Content = role };
        var found = PageOwnerSearch.Run(_engine, _snapshot, _page, _stop);
        description = description with { IsOwnerSearched = true, Owner = found.Owner };
        return found.Owner switch
        {
            { IsValue: true } => description with
            {
                Content = PageContent.Value,
                Extent = (found.Owner.First, found.Owner.Pages),
                Header = null,
                ComputedChecksum = null,
                Fault = found.ValueFault,
            },
            null when description.IsUsed == true => description with
            {
                Fault = (description.Fault == null ? "" : description.Fault + " ") + $"Page {_page} is marked as used, but no tree and no map owns it.",
            },
            { First: var first } when first < _page => description with
            {
                Content = PageContent.InsideOverflow,
                Extent = (first, found.Owner.Pages),
                Header = null,
                ComputedChecksum = null,
                Fault = description.Fault == null ? null : DescribeExtent(first),
            },
            _ => description,
        };
    }

    // The page itself has no checksum.
    private string DescribeExtent(long first) =>
        $"Page {_page} is inside an overflow extent that is damaged. {_engine.DataFile.TryVerify(first, _stop, out _, out _)}";

    private PageContent? FindMapRole()
    {
        if (_page == SectionMapLayout.RootPage.Value)
            return PageContent.MapRoot;
        var groups = _engine.Layout.GroupOf(_snapshot.PageCount - 1) + 1;
        for (var group = 0L; group < groups; group++)
        {
            try
            {
                if (_map.DirectoryPage(group) == _page)
                    return PageContent.MapDirectory;
                if (_map.LocateMapPage(group) == _page)
                    return PageContent.SectionMap;
            }
            catch (VoronException)
            {
                // The maps beyond the damage cannot be found.
            }
        }

        return null;
    }

    private PageContent ContentOf(in PageHeader header) => header.Kind switch
    {
        PageKind.Ids => PageContent.Ids,
        PageKind.Overflow => PageContent.Overflow,
        PageKind.SectionMap => FindMapRole() ?? PageContent.SectionMap,
        _ => PageStructure.IsLeaf(header) switch { true => PageContent.Leaf, false => PageContent.Branch, null => PageContent.Unknown },
    };

    private PageDescription AddEntries(PageDescription description)
    {
        fixed (byte* page = description.Bytes)
        {
            var content = description.Content == PageContent.Free && description.Header is { } left ? ContentOf(left) : description.Content;
            switch (content)
            {
                case PageContent.Leaf or PageContent.Branch:
                    var isArray = ((PageHeader*)page)->Kind == PageKind.Array;
                    var entries = isArray ? ArrayEntryReader.Read(page, PageSize) : PageEntryReader.Read(page, PageSize);
                    return AddTree(description with { Entries = entries });
                case PageContent.Ids:
                    return AddTree(description with { Blocks = IdBlockReader.Read(page, PageSize) });
                case PageContent.MapRoot or PageContent.MapDirectory:
                    return description with { Numbers = ReadNumbers((long*)(page + PageHeader.Size)) };
                case PageContent.SectionMap:
                    return description with { Numbers = ReadCounts(page) };
                default:
                    return description;
            }
        }
    }

    private PageDescription AddTree(PageDescription description) => description.Content == PageContent.Free || description.Header is not { } header
        ? description
        : description with { Tree = TreePlaceFinder.Find(_snapshot, header, _page, description.Entries) };

    // A branch is found by the key of any child but the first, whose key is below all ids.
    private PageDescription AddSet(PageDescription description)
    {
        if (description is not { Tree: not null, Header: { Kind: PageKind.Ids or PageKind.Array, OwnerHash: not 0 } header })
            return description;
        var child = description.Entries.Skip(1).FirstOrDefault(entry => entry.Fault == null);
        long? id = child == null ? null : ArrayKey.FromBytes(child.Key);
        if (description.Blocks.Count > 0)
            id = description.Blocks[0].FirstId;
        var found = SetPlaceFinder.Run(_snapshot, header, _page, id, _stop);
        return description with { Set = found?.Place, Unread = found?.Unread };
    }

    private List<(long Index, long Number)> ReadNumbers(long* numbers)
    {
        var named = new List<(long, long)>();
        for (var i = 0; i < _engine.Layout.NumbersPerPage; i++)
        {
            if (numbers[i] != 0)
                named.Add((i, numbers[i]));
        }

        return named;
    }

    // The map does not name its group.
    private List<(long Index, long Number)> ReadCounts(byte* map)
    {
        var layout = _engine.Layout;
        var sections = new List<(long, long)>();
        for (var section = 0; section < layout.SectionsPerGroup; section++)
        {
            int used = *(ushort*)(map + layout.CountOffset(section));
            if (used > 0)
                sections.Add((section, used));
        }

        return sections;
    }
}
