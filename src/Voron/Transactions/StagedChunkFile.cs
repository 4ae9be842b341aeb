using System.Numerics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Transactions;

/// <summary>Writes the chunks of staged values to reserved pages of the data file, without the writer. Threads may use it concurrently.</summary>
/// <remarks>
/// Each call is independent and counts as a user of the environment: closing waits for a running write, but not for the next one. Where the data
/// file is written past the page cache, so are staged values, through memory that is allocated for the call only. Otherwise, a sync for another
/// value would first have to write back all uploaded bytes.
/// </remarks>
internal sealed unsafe class StagedChunkFile(ReadingEngine engine) : IChunkFile
{
    private readonly int _pageShift = BitOperations.Log2((uint)engine.PageSize);

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    public ulong WriteChunk(long firstPage, long chunk, ReadOnlySpan<byte> bytes)
    {
        engine.Users.AddCall();
        try
        {
            engine.Poison.ThrowIfPoisoned();
            var page = LargeValues.ChunkPage(firstPage, chunk, _pageShift);
            var pages = LargeValues.PageCount(engine.PageSize, bytes.Length);
            engine.Distrust(page, pages);
            var checksum = Write(page, bytes);
            engine.Distrust(page, pages);
            return checksum;
        }
        catch (DiskException e)
        {
            throw DataFile.WriteFailure("a value", e);
        }
        finally
        {
            engine.Users.RemoveCall();
        }
    }

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public void ReadChunk(long firstPage, long chunk, Span<byte> bytes, ulong checksum)
    {
        engine.Users.AddCall();
        try
        {
            LargeValues.ReadBack(engine.DataFile, LargeValues.ChunkPage(firstPage, chunk, _pageShift), bytes, checksum);
        }
        finally
        {
            engine.Users.RemoveCall();
        }
    }

    private ulong Write(long page, ReadOnlySpan<byte> bytes)
    {
        var seed = engine.DataFile.Seed(page);
        if (engine.DataFile.Unbuffered is not { } file)
        {
            engine.DataFile.File.Write(page << _pageShift, bytes);
            return Checksum.Compute(bytes, seed);
        }

        var length = (int)DiskRules.RoundUp(bytes.Length, DiskRules.Alignment);
        var copy = (byte*)EngineMemory.AllocateAligned((nuint)length, DiskRules.Alignment);
        try
        {
            bytes.CopyTo(new Span<byte>(copy, length));
            NativeMemory.Clear(copy + bytes.Length, (nuint)(length - bytes.Length));
            file.Write(page << _pageShift, new ReadOnlySpan<byte>(copy, length));
            return Checksum.Compute(copy, (nuint)bytes.Length, seed);
        }
        finally
        {
            EngineMemory.FreeAligned(copy);
        }
    }
}
