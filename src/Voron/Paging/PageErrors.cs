using System.Diagnostics.CodeAnalysis;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>
/// Creates exceptions for unreadable pages, for page numbers that are invalid, and for pages that claim more than is possible. The tree is then
/// damaged.
/// </summary>
internal static class PageErrors
{
    /// <summary>
    /// Returns the exception for a fault of a page and its cause. A disk that cannot be read differs from one that holds wrong bytes. A file that
    /// ends too early has lost bytes.
    /// </summary>
    public static VoronException Failure(string fault, Exception? cause) => cause is DiskException { Error: not DiskError.EndOfFile }
        ? new StorageAccessException(fault, cause)
        : new CorruptionException(fault, cause);

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
