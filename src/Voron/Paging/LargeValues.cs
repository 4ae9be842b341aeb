using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

/// <summary>Verifies values that are stored in the data file without page headers, with a checksum for each 64 KiB chunk.</summary>
internal static unsafe class LargeValues
{
    /// <summary>The number of bytes of a value that share a checksum.</summary>
    public const int ChunkBytes = LargeExtentReference.ChunkBytes;

    public static long ChunkCount(long length) => (length + ChunkBytes - 1) / ChunkBytes;

    /// <summary>Returns the number of pages of the extent of a value, which has no header.</summary>
    public static int PageCount(int pageSize, long length) => checked((int)((length + pageSize - 1) / pageSize));

    /// <summary>Returns the page where a chunk starts; it represents the chunk where chunks are marked as verified.</summary>
    public static long ChunkPage(long firstPage, long chunk, int pageShift) => firstPage + chunk * (ChunkBytes >> pageShift);

    /// <summary>Reads the beginning of a chunk that was written moments ago, and compares it with its checksum.</summary>
    /// <param name="file">The data file.</param>
    /// <param name="page">The first page of the chunk.</param>
    /// <param name="bytes">Receives the bytes.</param>
    /// <param name="checksum">The checksum of the bytes that were written.</param>
    /// <exception cref="CorruptionException">The chunk does not hold the bytes that were written.</exception>
    /// <exception cref="StorageAccessException">The chunk cannot be read.</exception>
    public static void ReadBack(DataFile file, long page, Span<byte> bytes, ulong checksum)
    {
        try
        {
            file.File.Read(page * file.PageSize, bytes);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"A value could not be read back: {e.Message}", e);
        }

        var actual = Checksum.Compute(bytes, file.Seed(page));
        if (actual != checksum)
        {
            throw new CorruptionException(
                $"A value that is being written to '{file.File.Path}' is damaged at page {page}: its checksum should be {checksum:X16}, " +
                $"but is {actual:X16}.");
        }
    }

    /// <summary>Verifies the chunks that a range of the value touches, except those already verified since opening.</summary>
    /// <param name="file">The data file.</param>
    /// <param name="value">The place and the length of the value.</param>
    /// <param name="checksums">One for each chunk of the value.</param>
    /// <param name="from">The first byte of the range.</param>
    /// <param name="count">The number of bytes of the range.</param>
    /// <param name="always">Whether to verify chunks again that have been verified before.</param>
    /// <exception cref="CorruptionException">A chunk does not hold the bytes that were written.</exception>
    /// <exception cref="StorageAccessException">A chunk cannot be read.</exception>
    public static void Verify(
        DataFile file, in LargeExtentReference value, ReadOnlySpan<ulong> checksums, long from, long count, bool always)
    {
        if (count <= 0)
            return;
        var pageShift = BitOperations.Log2((uint)file.PageSize);
        for (var chunk = from / ChunkBytes; chunk <= (from + count - 1) / ChunkBytes; chunk++)
        {
            if (always || !file.IsChunkVerified(ChunkPage(value.FirstPage, chunk, pageShift)))
                VerifyChunk(file, value.FirstPage, value.Length, checksums, chunk, pageShift);
        }
    }

    private static void VerifyChunk(DataFile file, long firstPage, long length, ReadOnlySpan<ulong> checksums, long chunk, int pageShift)
    {
        if (chunk >= checksums.Length)
            throw new CorruptionException($"The value at page {firstPage} of '{file.File.Path}' has {length} bytes, but checksums for only {checksums.Length} chunks.");

        var page = ChunkPage(firstPage, chunk, pageShift);
        var bytes = (int)Math.Min(ChunkBytes, length - chunk * ChunkBytes);
        var buffer = (byte*)EngineMemory.AllocateAligned(ChunkBytes, 4096);
        try
        {
            file.File.Read(page << pageShift, new Span<byte>(buffer, bytes));
            var actual = Checksum.Compute(buffer, (nuint)bytes, file.Seed(page));
            if (actual != checksums[(int)chunk] && !PlantedFault.BelieveChunks)
            {
                throw new CorruptionException(
                    $"Chunk {chunk} of the value at page {firstPage} of '{file.File.Path}' is damaged: its checksum should be " +
                    $"{checksums[(int)chunk]:X16}, but is {actual:X16}.");
            }
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Page {page} of '{file.File.Path}' cannot be read: {e.Message}", e);
        }
        finally
        {
            EngineMemory.FreeAligned(buffer);
        }

        file.MarkChunk(page, isVerified: true);
    }
}
