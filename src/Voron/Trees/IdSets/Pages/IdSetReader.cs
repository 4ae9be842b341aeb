using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Reads sets with pages of their own as a whole.</summary>
internal static unsafe class IdSetReader
{
    /// <summary>Returns whether a set has an id, and its payload.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="id">The id.</param>
    /// <param name="ids">Has room for a block.</param>
    /// <param name="payloads">Has room for a block.</param>
    /// <param name="payload">The payload; 0 if the set does not have the id.</param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
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

    /// <summary>Copies the ids and payloads of a set that has fewer than <paramref name="most"/>, and returns their number.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="ids">Has room for that many ids, and for a block more.</param>
    /// <param name="payloads">Has room for as many payloads.</param>
    /// <param name="most">The limit.</param>
    /// <exception cref="CorruptionException">The set has another number of ids than it claims, or is damaged.</exception>
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

    /// <summary>Returns whether a set has a page from one on. Reads array pages only.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="set">The set.</param>
    /// <param name="first">The first page of interest.</param>
    /// <param name="passed">Receives the number of pages of the set that were looked at.</param>
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
