using Voron.Format;
using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>Places in the data file beyond which a number needs more bits, or the section map needs another page.</summary>
/// <remarks>
/// The pages in between are allocated without being written: the file is as sparse as a large one that has been emptied, and the case needs
/// neither memory nor disk space for it.
/// </remarks>
internal static class SpaceBoundaries
{
    private const string TreeName = "t";

    /// <summary>The number of pages freed in one transaction: each leaves a version until it is flushed.</summary>
    private const long FreedAtOnce = 50_000;

    public static IEnumerable<(string Name, Action Run)> All
    {
        get
        {
            foreach (var bits in new[] { 31, 32 })
            {
                foreach (var size in new[] { 4096, 65536 })
                    yield return ($"behind 2^{bits} bytes of the data file, pages of {size}", () => Behind(size, (1L << bits) / size));
            }
            var small = new SectionMapLayout(4096);
            foreach (var more in new[] { -3, -2, -1, 0, 1, 2 })
                yield return ($"the end of a group of sections and {more} pages", () => Behind(4096, small.PagesPerGroup + more));
            foreach (var more in new[] { -1, 0, 1 })
                yield return ($"the end of a section and {more} pages", () => Behind(4096, small.PagesPerSection + more));
            yield return ("several groups at once", () => Behind(4096, (5 * small.PagesPerGroup) - 2));
        }
    }

    /// <summary>Places all pages of a small tree around a page, changes the tree there, and returns the space.</summary>
    private static void Behind(int pageSize, long page)
    {
        using var place = new BoundaryPlace(pageSize);
        var entries = NewEntries();
        Put(place, entries, 0);
        long first = 0;
        long pages = 0;
        place.Write(writing =>
        {
            var writePages = writing.Body.WritePages;
            // Starts a few pages before the boundary, so that the next values lie on both sides of it.
            pages = page - writePages.State.PageCount - 4;
            if (pages > 0)
                first = writePages.AllocateUntouchedExtent(pages);
            writing.OpenTree(TreeName).Put([255], [1]);
            entries[[255]] = [1];
        });
        Put(place, entries, 1);
        Require(place.Environment.GetStatistics().PageCount > page, $"the file has not grown to page {page}");
        place.Environment.Flush();
        place.Reopen();
        Put(place, entries, 2);
        for (var at = first; at < first + pages; at += FreedAtOnce)
        {
            place.Write(writing => writing.Body.WritePages.FreeExtent(new Primitives.PageNumber(at), (int)Math.Min(FreedAtOnce, first + pages - at)));
            place.Environment.Flush();
        }
        place.Check(TreeName, entries);
        place.Environment.ReclaimSpace();
        place.Check(TreeName, entries);
        foreach (var key in entries.Keys.Where(key => key.Length > 1).ToList())
        {
            place.Write(writing => Require(writing.OpenTree(TreeName).Delete(key), "a key is missing"));
            entries.Remove(key);
        }
        place.Environment.Flush();
        place.Environment.ReclaimSpace();
        place.Check(TreeName, entries);
    }

    private static void Put(BoundaryPlace place, SortedDictionary<byte[], byte[]> entries, byte round)
    {
        int[] lengths = [10, 500, 3_000, 9_000, 20_000, 70_000, 150_000];
        place.Write(writing =>
        {
            var tree = writing.CreateTree(TreeName);
            for (var i = 0; i < lengths.Length * 4; i++)
            {
                byte[] key = [round, (byte)i];
                entries[key] = Value((round * 100) + i, lengths[i % lengths.Length]);
                tree.Put(key, entries[key]);
            }
        });
    }
}
