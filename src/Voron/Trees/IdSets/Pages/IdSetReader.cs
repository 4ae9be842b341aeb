using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Searches, copies and scans sets with pages of their own.</summary>
internal static unsafe class IdSetReader
{
    /// <summary>Returns whether a set contains an id, and the payload of that id.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="id">The id.</param>
    /// <param name="ids">Scratch space for the ids of a block.</param>
    /// <param name="payloads">Scratch space for the payloads of a block.</param>
    /// <param name="payload">The payload; 0 if the set does not contain the id.</param>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public static bool TryFind(PageReader reader, in IdSetReference set, long id, long* ids, byte* payloads, out byte payload)
    {
        payload = 0;
        var path = new IdSetPath();
        path.Descend(reader, ArrayLayout.OfBranches(reader.PageSize), set, id);
        var page = path.ReadIds(reader);
        var block = IdPage.FindBlock(page, id);
        var at = new ReadOnlySpan<long>(ids, IdPage.Unpack(reader, page, block, ids)).BinarySearch(id);
        if (at < 0)
            return false;
        IdPage.UnpackPayloads(reader, page, block, payloads);
        payload = payloads[at];
        return true;
    }

    /// <summary>Copies all ids and payloads of a set with fewer than <paramref name="most"/> ids, and returns their number.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="ids">Receives the ids; has room for <paramref name="most"/> ids and one more block.</param>
    /// <param name="payloads">Receives the payloads; has room for as many.</param>
    /// <param name="most">The limit.</param>
    /// <exception cref="CorruptionException">The set does not have the number of ids that it claims, or is damaged.</exception>
    public static int ReadAll(PageReader reader, in IdSetReference set, long* ids, byte* payloads, int most)
    {
        var layout = ArrayLayout.OfBranches(reader.PageSize);
        var path = new IdSetPath();
        path.DescendToEdge(reader, layout, set, first: true);
        var count = 0;
        do
        {
            var page = path.ReadIds(reader);
            for (var block = 0; block < IdPage.Count(page); block++)
            {
                if (count >= most)
                    IdSetErrors.ThrowCount(reader, set.Ids, set.Pages);
                var added = IdPage.Unpack(reader, page, block, ids + count);
                if (count > 0 && ids[count] <= ids[count - 1])
                    IdSetErrors.ThrowBlock(reader, page, block, IdPage.Entries(page)[block]);
                IdPage.UnpackPayloads(reader, page, block, payloads + count);
                count += added;
            }
        }
        while (path.TryStep(reader, layout, 1));

        if (count != set.Ids)
            IdSetErrors.ThrowCount(reader, set.Ids, set.Pages);
        return count;
    }

    /// <summary>Returns whether a set has a page numbered <paramref name="first"/> or higher. Reads array pages only.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="first">The lowest page number of interest.</param>
    /// <param name="passed">Receives the number of pages of the set that were examined.</param>
    /// <exception cref="CorruptionException">The set has more pages than it claims, or is damaged.</exception>
    public static bool HasPagesFrom(PageReader reader, in IdSetReference set, long first, out long passed)
    {
        IdSetErrors.CheckShape(reader, set);
        var left = (long)set.Pages;
        var isFound = HasPagesFrom(reader, ArrayLayout.OfBranches(reader.PageSize), new PageNumber(set.Root), set.Depth, ref left, first);
        passed = set.Pages - left;
        return isFound;
    }

    private static bool HasPagesFrom(
        PageReader reader, in ArrayLayout layout, PageNumber page, int depth, ref long left, long first)
    {
        if (--left < 0)
            IdSetErrors.ThrowShared(reader, page);
        if (page.Value >= first)
            return true;
        if (depth == 1)
            return false;
        var branch = IdSetPath.ReadBranch(reader, page);
        for (var i = 0; i < ArrayPage.Count(branch); i++)
        {
            if (HasPagesFrom(reader, layout, ArrayPage.Child(branch, layout, i), depth - 1, ref left, first))
                return true;
        }

        return false;
    }
}
