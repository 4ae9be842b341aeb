using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>Throws for page numbers that lead nowhere, and for pages that claim more than there can be. The tree is then damaged.</summary>
internal static class PageErrors
{
    [DoesNotReturn]
    public static void ThrowBeyond(long page, long pageCount) =>
        throw new CorruptionException($"A reference leads to page {page}, but the environment has only {pageCount} pages.");

    [DoesNotReturn]
    public static void ThrowFreed(long page, VersionFlags flags) =>
        throw new CorruptionException($"A reference leads to page {page}, which is {((flags & VersionFlags.InsideExtent) != 0 ? "inside an overflow extent" : "free")}.");

    [DoesNotReturn]
    public static void ThrowExtentBeyond(PageNumber page, uint pages, long pageCount) =>
        throw new CorruptionException($"The overflow extent at page {page} has {pages} pages, but there are {pageCount} pages in all.");

    [DoesNotReturn]
    public static void ThrowChildren(PageNumber page, int children) =>
        throw new CorruptionException($"Page {page} claims {children} children, which a branch of this size cannot have.");
}
