using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Torture.Damage;

/// <summary>
/// The bytes of a data file that something depends on: those of used pages that hold the newest content. If one of them changes, the
/// engine has to report it; an unreported change must be elsewhere.
/// </summary>
/// <remarks>
/// Elsewhere is: a free page; a page of which the journal or the journal snapshot has a newer version, as replay has found; bytes 8 to 15
/// of page 0, and bytes 24 to 31 of each page, which are outside its checksum; the bytes beyond the end of a large value in its last page.
/// </remarks>
internal sealed unsafe class NeededBytes
{
    private const int ChecksumBytes = 8;
    private const int HintOffset = 24;

    private readonly bool[] _isNeeded;
    private readonly HashSet<long> _large = [];

    private NeededBytes(long length) => _isNeeded = new bool[length];

    /// <summary>Returns the needed bytes of an undamaged environment that has a data file of the given length.</summary>
    public static NeededBytes Of(StorageEnvironment environment, long length)
    {
        var needed = new NeededBytes(length);
        using var reading = environment.BeginRead();
        var snapshot = reading.Body.Snapshot;
        foreach (var header in TreesOf(snapshot))
            needed.AddLargeValues(environment, snapshot, header);
        needed.AddPages(environment, snapshot);
        return needed;
    }

    /// <summary>Returns the first byte that something depends on and that has changed or is missing; -1 if there is none.</summary>
    /// <param name="before">The file as it was.</param>
    /// <param name="now">The file as it is.</param>
    /// <param name="ranges">The ranges to search.</param>
    public long FirstChanged(ReadOnlySpan<byte> before, ReadOnlySpan<byte> now, IReadOnlyList<(long Offset, long Length)> ranges)
    {
        foreach ((var offset, var length) in ranges)
        {
            for (var at = offset; at < Math.Min(offset + length, before.Length); at++)
            {
                if (_isNeeded[at] && (at >= now.Length || before[(int)at] != now[(int)at]))
                    return at;
            }
        }
        return -1;
    }

    private static List<TreeHeader> TreesOf(SnapshotPages snapshot)
    {
        var trees = new List<TreeHeader>();
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(snapshot.State.Catalog), snapshot);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount, snapshot.PageSize, snapshot.FilePath);
            if (header.Kind == TreeKind.Plain)
                trees.Add(header);
        }

        cursor.Close();
        return trees;
    }

    // Large values occupy pages without a header: the checksums beside the reference cover the value and nothing else.
    private void AddLargeValues(StorageEnvironment environment, SnapshotPages snapshot, TreeHeader header)
    {
        var pageSize = environment.Options.PageSizeOrDefault;
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(header), snapshot);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            if (LeafPage.Kind(cursor.Record) != ValueKind.LargeExtent)
                continue;
            var reference = *(LargeExtentReference*)LeafPage.InlineBytes(cursor.Record);
            Add(reference.FirstPage * pageSize, (reference.FirstPage * pageSize) + reference.Length);
            for (long page = 0; page * pageSize < reference.Length; page++)
                _large.Add(reference.FirstPage + page);
        }
        cursor.Close();
    }

    private void AddPages(StorageEnvironment environment, SnapshotPages snapshot)
    {
        var pageSize = environment.Options.PageSizeOrDefault;
        var bitmap = BitmapOf(snapshot);
        for (long page = 0; page < snapshot.State.PageCount; page++)
        {
            var isUsed = (bitmap[page / 8] & (1 << (int)(page % 8))) != 0;
            if (!isUsed || _large.Contains(page) || environment.Internals.Engine.Versions.Find(page, snapshot.Id, out _))
                continue;
            var header = (PageHeader*)snapshot.Read(new PageNumber(page));
            long pages = header->Kind == PageKind.Overflow ? header->ExtentPages : 1;
            Add(page * pageSize, (page * pageSize) + ChecksumBytes);
            Add((page * pageSize) + (page == 0 ? 2 * ChecksumBytes : ChecksumBytes), (page * pageSize) + HintOffset);
            Add((page * pageSize) + PageHeader.UnjournaledBytes, (page + pages) * pageSize);
            page += pages - 1;
        }
    }

    // The root names the directory, which names the map; see the file format. These environments have one section.
    private static byte* BitmapOf(SnapshotPages snapshot)
    {
        var directory = *(long*)(snapshot.Read(new PageNumber(0)) + PageHeader.Size);
        var map = *(long*)(snapshot.Read(new PageNumber(directory)) + PageHeader.Size);
        return snapshot.Read(new PageNumber(map)) + PageHeader.Size;
    }

    private void Add(long from, long end)
    {
        for (var at = from; at < Math.Min(end, _isNeeded.Length); at++)
            _isNeeded[at] = true;
    }
}
