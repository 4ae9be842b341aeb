using Voron.Format;
using Voron.IO;

namespace Voron.Salvaging;

/// <summary>
/// Finds, from the pages of a data file alone, the page size and the part of the checksum seeds that comes from the environment's id: each page
/// and its checksum yield one candidate, and only the right one is yielded by several pages.
/// </summary>
internal static unsafe class SeedSearch
{
    /// <summary>The number of pages that must agree. Two pages agree by chance once in 2^64.</summary>
    private const int MinPages = 2;

    /// <summary>The number of agreeing pages that ends the search.</summary>
    private const int EnoughPages = 64;

    /// <summary>The most candidates to remember: a file in which they all differ is not a data file.</summary>
    private const int MaxCandidates = 100_000;

    private static readonly int[] PageSizes = [4096, 8192, 16384, 32768, 65536];

    /// <summary>The part of the file that is searched first, for each page size: the rest is rarely needed.</summary>
    private const long FirstBytes = 16L << 20;

    /// <summary>Returns the page size and the seed base; null if no two pages agree.</summary>
    public static (int PageSize, ulong SeedBase)? Find(DiskFile file, CancellationToken stop) =>
        Find(file, Math.Min(file.Length, FirstBytes), stop) ?? (file.Length > FirstBytes ? Find(file, file.Length, stop) : null);

    private static (int PageSize, ulong SeedBase)? Find(DiskFile file, long bytes, CancellationToken stop)
    {
        ((int, ulong) Found, int Pages) best = default;
        foreach (var pageSize in PageSizes)
        {
            var (seedBase, count) = Find(file, bytes, pageSize, stop);
            if (count >= MinPages && count > best.Pages)
                best = ((pageSize, seedBase), count);
        }

        return best.Pages == 0 ? null : best.Found;
    }

    private static (ulong SeedBase, int Pages) Find(DiskFile file, long bytes, int pageSize, CancellationToken stop)
    {
        var counts = new Dictionary<ulong, int>();
        (ulong SeedBase, int Pages) best = default;
        using var buffer = new PageBuffer(pageSize);
        for (var page = 0L; page < bytes / pageSize && best.Pages < EnoughPages; page++)
        {
            stop.ThrowIfCancellationRequested();
            file.Read(page * pageSize, new Span<byte>(buffer.Bytes, pageSize));
            var header = buffer.Header;
            if (header->PageNumber != page || header->Checksum == Checksum.None
                || (PageStructure.IsLeaf(*header) == null && header->Kind != PageKind.SectionMap))
                continue;
            var length = (nuint)(pageSize - PageHeader.UnjournaledBytes);
            var candidate = Checksum.FindSeedBase(buffer.Bytes + PageHeader.UnjournaledBytes, length, page, header->Checksum);
            if (counts.Count == MaxCandidates)
                counts.Clear();
            var count = counts[candidate] = counts.GetValueOrDefault(candidate) + 1;
            if (count > best.Pages)
                best = (candidate, count);
        }

        return best;
    }
}
