using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>Throws for page numbers that lead nowhere, and for pages that claim more than there can be. The tree is then damaged.</summary>
internal static class PageErrors
{
    [DoesNotReturn]
    public static void ThrowBeyond(PageReader pages, long page) => throw new CorruptionException(
        $"'{pages.FilePath}' is damaged: a reference leads to page {page}, but the environment has only {pages.PageCount} pages.");

    [DoesNotReturn]
    public static void ThrowFreed(PageReader pages, long page, VersionFlags flags) => throw new CorruptionException(
        $"'{pages.FilePath}' is damaged: a reference leads to page {page}, which is " +
        $"{((flags & VersionFlags.InsideExtent) != 0 ? "inside an overflow extent" : "free")}.");

    [DoesNotReturn]
    public static void ThrowExtentBeyond(PageReader pages, PageNumber first, uint count) => throw new CorruptionException(
        $"'{pages.FilePath}' is damaged: the overflow extent at page {first} has {count} pages, but there are {pages.PageCount} pages in all.");

    [DoesNotReturn]
    public static void ThrowChildren(PageNumber page, int children) =>
        throw new CorruptionException($"Page {page} claims {children} children, which a branch of this size cannot have.");
}
