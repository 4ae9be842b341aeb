using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

// The verification of pages by calls that can fail with an error, as a read of the map cannot.
internal sealed unsafe partial class DataFile
{
    private const int ExtentPieceBytes = 64 << 10;

    /// <summary>
    /// Reads a page that has not been used since the environment was opened, with a call that can fail with an error, and checks its
    /// number, its checksum and its structure. The first page of an extent represents the whole extent.
    /// </summary>
    /// <exception cref="CorruptionException">The page does not hold the bytes that were written.</exception>
    /// <exception cref="StorageAccessException">The page cannot be read.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Verify(long page)
    {
        var fault = TryVerify(page, out var cause);
        if (fault != null)
            throw PageErrors.Failure(fault, cause);
        MarkVerified(page);
    }

    /// <summary>Checks a page on disk. Returns null when it is as it was written, otherwise a sentence that describes the fault.</summary>
    public string? TryVerify(long page, out Exception? cause) => TryVerify(page, CancellationToken.None, out _, out cause);

    /// <inheritdoc cref="TryVerify(long, out Exception?)"/>
    /// <param name="page">The page, or the first page of an extent, which is checked as a whole.</param>
    /// <param name="stop">Stops the reading of a long extent.</param>
    /// <param name="pages">The number of pages that were read.</param>
    /// <param name="cause">The disk failure, if there was one.</param>
    /// <exception cref="OperationCanceledException">The check was stopped.</exception>
    [SkipLocalsInit]
    public string? TryVerify(long page, CancellationToken stop, out long pages, out Exception? cause)
    {
        cause = null;
        pages = 1;
        if (page < 0 || page >= CapacityPages)
            return $"Page {page} is beyond the end of '{File.Path}', which has {CapacityPages} pages of {PageSize} bytes.";

        try
        {
            var buffer = stackalloc byte[PageSize];
            File.Read(page << _pageShift, new Span<byte>(buffer, PageSize));
            var header = (PageHeader*)buffer;
            var claimed = header->Kind == PageKind.Overflow ? header->ExtentPages : 1L;
            if (claimed > 1 && claimed << _pageShift <= int.MaxValue && page + claimed <= CapacityPages)
                pages = claimed;
            var expected = header->Checksum;
            var actual = pages == 1 ? ComputeChecksum(page, buffer, PageSize) : ReadExtentChecksum(page, buffer, pages, stop);
            if (expected != actual && !PlantedFault.BelievePages)
                return $"Page {page} of '{File.Path}' is damaged: its checksum should be {expected:X16}, but is {actual:X16}.";
            if (PageHeader.HasSpareBytes(buffer, page, !Format.IsVersion1) && !PlantedFault.BelieveSpareBytes)
                return $"Page {page} of '{File.Path}' is damaged: bytes before its number, which no checksum covers, should be zero, but are not.";
            return PageStructure.FindFault(buffer, pages, page, PageSize) is { } malformed && !PlantedFault.BelievePageStructure
                ? $"Page {page} of '{File.Path}' is malformed, although its checksum is right: {malformed}."
                : null;
        }
        catch (DiskException e)
        {
            cause = e;
            return $"Page {page} of '{File.Path}' cannot be read: {e.Message}";
        }
    }

    /// <summary>Computes the checksum that an extent on disk must carry. Reads it in pieces, because it may be as large as memory.</summary>
    /// <param name="page">The first page of the extent.</param>
    /// <param name="first">The bytes of that page.</param>
    /// <param name="pages">The number of pages.</param>
    /// <param name="stop">Stops the reading.</param>
    /// <exception cref="DiskException">The extent cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The reading was stopped.</exception>
    public ulong ReadExtentChecksum(long page, byte* first, long pages, CancellationToken stop)
    {
        var stream = new Checksum.Stream();
        stream.Add(first + PageHeader.UnjournaledBytes, (nuint)(PageSize - PageHeader.UnjournaledBytes));
        var buffer = (byte*)EngineMemory.AllocateAligned(ExtentPieceBytes, 4096);
        try
        {
            var end = (page + pages) << _pageShift;
            for (var offset = (page + 1) << _pageShift; offset < end; offset += ExtentPieceBytes)
            {
                stop.ThrowIfCancellationRequested();
                var piece = new Span<byte>(buffer, (int)Math.Min(ExtentPieceBytes, end - offset));
                File.Read(offset, piece);
                stream.Add(buffer, (nuint)piece.Length);
            }

            return stream.Finish(Seed(page));
        }
        finally
        {
            EngineMemory.FreeAligned(buffer);
        }
    }
}
