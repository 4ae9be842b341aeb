using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Throws the exceptions for damaged sets.</summary>
internal static unsafe class IdSetErrors
{
    [DoesNotReturn]
    public static void ThrowBlock(PageReader reader, byte* page, int index, in IdBlockEntry entry) =>
        throw new CorruptionException(
            $"Block {index} in page {((PageHeader*)page)->PageNumber} of '{reader.FilePath}' is malformed: its {entry.Count} ids from {entry.First} on, " +
            $"with gaps of {entry.GapWidth} bits, exceed its capacity of {entry.Capacity} bytes, reach the next block, or are above {long.MaxValue}.");

    [DoesNotReturn]
    public static void ThrowKind(PageReader reader, byte* page, PageNumber number, PageKind expected) =>
        throw new CorruptionException(
            $"Page {number} of '{reader.FilePath}' should be of kind {expected} according to a link in a set of ids, " +
            $"but is of kind {((PageHeader*)page)->Kind} and names itself page {((PageHeader*)page)->PageNumber}.");

    [DoesNotReturn]
    public static void ThrowBounds(PageReader reader, PageNumber page, long lowest, long highest) =>
        throw new CorruptionException(
            $"Page {page} of '{reader.FilePath}' is linked to a set of ids for the range {lowest} to {highest}, but has ids outside that range.");

    [DoesNotReturn]
    public static void ThrowDepth(PageReader reader, int depth) =>
        throw new CorruptionException($"A set of ids in '{reader.FilePath}' claims {depth} levels, but can have at most {IdSetReference.MaxDepth}.");

    [DoesNotReturn]
    public static void ThrowCount(PageReader reader, long ids, long pages) =>
        throw new CorruptionException($"A set of ids in '{reader.FilePath}' claims {ids} ids and {pages} pages, but its actual counts differ.");

    /// <summary>Checks the counts claimed by the record of a set against the tree's totals for all sets.</summary>
    /// <param name="reader">The source of the record, for messages.</param>
    /// <param name="claimed">The ids and pages of the set.</param>
    /// <param name="all">The ids and pages of all sets.</param>
    /// <exception cref="CorruptionException">The set claims more than all sets have together.</exception>
    public static void CheckClaims(PageReader reader, (long Ids, long Pages) claimed, (long Ids, long Pages) all)
    {
        if (claimed.Ids <= all.Ids && claimed.Pages <= all.Pages)
            return;
        throw new CorruptionException(
            $"A set of ids in '{reader.FilePath}' claims {claimed.Ids} ids and {claimed.Pages} pages, but all sets of its tree have {all.Ids} and {all.Pages}.");
    }

    /// <summary>Checks the shape claimed by the record of a set, before its pages are walked.</summary>
    /// <exception cref="CorruptionException">The set claims no level or too many, or more pages than the file has.</exception>
    public static void CheckShape(PageReader reader, in IdSetReference set)
    {
        if (set.Depth is 0 or > IdSetReference.MaxDepth)
            ThrowDepth(reader, set.Depth);
        if (set.Pages > reader.PageCount)
            throw new CorruptionException($"A set of ids in '{reader.FilePath}' claims {set.Pages} pages, but there are {reader.PageCount}.");
    }

    [DoesNotReturn]
    public static void ThrowOwner(PageReader reader, PageNumber page) =>
        throw new CorruptionException($"Page {page} of '{reader.FilePath}' is linked to a set of ids, but belongs to another set or tree.");

    [DoesNotReturn]
    public static void ThrowInline(PageReader reader, in FewIdsHeader header) =>
        throw new CorruptionException(
            $"A record in a leaf of '{reader.FilePath}' is malformed: its {header.Count} ids from {header.First} on, with gaps of {header.GapWidth} bits, " +
            $"do not fit into the record, or are above {long.MaxValue}.");

    [DoesNotReturn]
    public static void ThrowLost() => throw new InvalidOperationException(
        "The cursor has lost its place: the move before this call failed. Seek again before moving on.");

    [DoesNotReturn]
    public static void ThrowShared(PageReader reader, PageNumber page) =>
        throw new CorruptionException($"Page {page} of '{reader.FilePath}' is linked twice in a set of ids.");
}
