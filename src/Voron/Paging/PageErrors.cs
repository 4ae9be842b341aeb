using System.Diagnostics.CodeAnalysis;

namespace Voron.Paging;

/// <summary>Throws for page numbers that lead nowhere. The tree is then damaged, because no sound tree names such a page.</summary>
internal static class PageErrors
{
    [DoesNotReturn]
    public static void ThrowBeyond(long page, long pageCount) =>
        throw new CorruptionException($"Page {page} is named, and the environment has {pageCount} pages.");

    [DoesNotReturn]
    public static void ThrowFreed(long page, VersionFlags flags) =>
        throw new CorruptionException($"Page {page} is named, and it is {((flags & VersionFlags.InsideExtent) != 0 ? "inside an overflow run" : "free")}.");
}
