using System.Numerics;
using Voron.Format;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>Reads values that are stored in the data file without headers, through their descriptors.</summary>
/// <param name="pages">Reads the checksums of values with several chunks.</param>
/// <param name="file">The data file.</param>
/// <param name="always">Whether to verify chunks again that have been verified before.</param>
internal readonly unsafe struct LargeValueReader(PageReader pages, DataFile file, bool always)
{
    /// <summary>Returns a part of a value, and verifies the chunks that it touches.</summary>
    /// <param name="map">The address at which the data file is mapped.</param>
    /// <param name="pageCount">The number of pages that exist.</param>
    /// <param name="reference">The value.</param>
    /// <param name="offset">The offset of the part in the value.</param>
    /// <param name="count">The length of the part in bytes.</param>
    /// <exception cref="CorruptionException">The part is damaged, or the reference is invalid.</exception>
    public ReadOnlySpan<byte> Read(byte* map, long pageCount, scoped in LargeExtentReference reference, long offset, int count)
    {
        var length = reference.Length;
        var runPages = LargeValues.PageCount(file.PageSize, Math.Clamp(length, 0, int.MaxValue));
        if (length is < 0 or > int.MaxValue || reference.FirstPage <= 0 || reference.FirstPage > pageCount - runPages)
        {
            throw new CorruptionException(
                $"A value of {length} bytes should start at page {reference.FirstPage} of '{file.File.Path}', but does not fit into its {pageCount} pages.");
        }

        ArgumentOutOfRangeException.ThrowIfGreaterThan(offset + count, length);
        var shift = BitOperations.Log2((uint)file.PageSize);
        file.ReadAhead?.Fetch(map + (reference.FirstPage << shift) + offset, count);
        LargeValues.Verify(file, reference, Checksums(pages, reference), offset, count, always);
        return new ReadOnlySpan<byte>(map + (reference.FirstPage << shift) + offset, count);
    }

    /// <summary>Returns the checksums of a value's chunks.</summary>
    public static ReadOnlySpan<ulong> Checksums(PageReader pages, in LargeExtentReference reference)
    {
        if (reference.IsOneChunk)
            return new ReadOnlySpan<ulong>(in reference.Checksums);
        var descriptor = (PageHeader*)pages.Read(new PageNumber(reference.ChecksumPage));
        var chunks = LargeValues.ChunkCount(reference.Length);
        if (descriptor->Kind != PageKind.Overflow || descriptor->ExtentBytes != chunks * sizeof(ulong))
        {
            throw new CorruptionException(
                $"Page {reference.ChecksumPage} of '{pages.FilePath}' should hold {chunks} checksums, but is of kind {descriptor->Kind} " +
                $"and holds {descriptor->ExtentBytes} bytes.");
        }

        if (descriptor->ExtentPages > pages.PageCount - reference.ChecksumPage)
            PageErrors.ThrowExtentBeyond(pages, new PageNumber(reference.ChecksumPage), descriptor->ExtentPages);
        return new ReadOnlySpan<ulong>(descriptor + 1, (int)chunks);
    }
}
