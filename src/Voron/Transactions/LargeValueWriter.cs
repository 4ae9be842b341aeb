using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Writes large values directly to the data file, once, and their checksums to ordinary pages.</summary>
/// <remarks>
/// The pages are free and untouched since the last checkpoint, so no snapshot reads them and no flush writes them. They are written before the
/// record that names them is submitted, and synced while it is written; if it is never submitted, they are free pages with new bytes. Where maps
/// see these writes, the pages are written past the page cache. This costs only device time, and avoids a copy to the cache, its bookkeeping and
/// the write-back; a sync then writes nothing that does not belong to this transaction.
/// </remarks>
internal sealed unsafe class LargeValueWriter : IChunkFile
{
    private const int MaxKeptChecksums = 4096;

    private readonly ReadingEngine _engine;
    private readonly CopyOnWritePages _writePages;
    private readonly int _pageShift;
    private ulong[] _checksums = [];

    public LargeValueWriter(ReadingEngine engine, CopyOnWritePages writePages)
    {
        _engine = engine;
        _writePages = writePages;
        _pageShift = BitOperations.Log2((uint)engine.PageSize);
    }

    /// <summary>Sets the value of a key.</summary>
    public void Put(TreeState tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        _engine.AssertWriterHeld();
        var pages = LargeValues.PageCount(_engine.PageSize, value.Length);
        var first = _writePages.AllocateUntouchedExtent(pages);
        var chunks = (int)LargeValues.ChunkCount(value.Length);
        if (_checksums.Length < chunks)
            _checksums = new ulong[chunks];
        for (var chunk = 0; chunk < chunks; chunk++)
        {
            var rest = value[(chunk * LargeValues.ChunkBytes)..];
            _checksums[chunk] = WriteChunk(first, chunk, rest[..Math.Min(rest.Length, LargeValues.ChunkBytes)]);
        }

        Attach(tree, key, new WrittenValue(first, pages, value.Length, IsDurable: false), _checksums.AsSpan(0, chunks));
        if (chunks > MaxKeptChecksums)
            _checksums = [];
    }

    /// <summary>Makes a staged value, which the transaction has taken, the value of a key. Its bytes are durable.</summary>
    public void PutStaged(TreeState tree, ReadOnlySpan<byte> key, StagedContent content)
    {
        _engine.AssertWriterHeld();
        var reservation = content.Reservation!;
        _engine.Counters.AllocatedPages += reservation.Pages;
        _writePages.Space.TakeReserved(reservation.First, reservation.Pages);
        Attach(tree, key, new WrittenValue(reservation.First, reservation.Pages, content.Length, IsDurable: true), content.Checksums);
    }

    /// <summary>Writes a chunk of a value whose extent starts at that page, where possible together with chunks that follow soon.</summary>
    /// <returns>Its checksum.</returns>
    public ulong WriteChunk(long firstPage, long chunk, ReadOnlySpan<byte> bytes)
    {
        _engine.AssertWriterHeld();
        var page = LargeValues.ChunkPage(firstPage, chunk, _pageShift);
        var seed = _engine.DataFile.Seed(page);

        // The copy is in the cache; its source may not be yet.
        if (_writePages.LargeValueBuffer != null)
            return Checksum.Compute(_writePages.LargeValueBuffer.Add(page << _pageShift, bytes), (nuint)bytes.Length, seed);
        try
        {
            _engine.DataFile.File.Write(page << _pageShift, bytes);
        }
        catch (DiskException e)
        {
            throw DataFile.WriteFailure("a value", e);
        }

        return Checksum.Compute(bytes, seed);
    }

    /// <summary>Ensures that all chunks have been written. They are durable after a sync.</summary>
    public void Finish()
    {
        _engine.AssertWriterHeld();
        _writePages.LargeValueBuffer?.Finish();
    }

    /// <summary>Reads back a chunk that was written in this transaction, before the last <see cref="Finish"/>.</summary>
    /// <inheritdoc cref="LargeValues.ReadBack"/>
    public void ReadChunk(long firstPage, long chunk, Span<byte> bytes, ulong checksum)
    {
        _engine.AssertWriterHeld();
        LargeValues.ReadBack(_engine.DataFile, LargeValues.ChunkPage(firstPage, chunk, _pageShift), bytes, checksum);
    }

    /// <summary>Makes a written extent the value of a key.</summary>
    public void Attach(TreeState tree, ReadOnlySpan<byte> key, in WrittenValue value, ReadOnlySpan<ulong> checksums)
    {
        _engine.AssertWriterHeld();
        var reference = ValueExtents.Describe(_writePages, value.FirstPage, value.Length, checksums, tree.Root);
        for (var chunk = 0L; chunk < checksums.Length; chunk++)
        {
            // A staged value may have left the page cache since it was written: its next reader fetches it from the device.
            var page = LargeValues.ChunkPage(value.FirstPage, chunk, _pageShift);
            _engine.DataFile.MarkChunk(page, isVerified: _writePages.LargeValueBuffer == null && !value.IsDurable);
        }

        var extent = new DirectExtent { Length = value.Length, Checksums = reference.Checksums };
        _writePages.AddDirectExtent(new TransactionExtent(value.FirstPage, (uint)value.Pages, extent, FreedAtStamp: -1, value.IsDurable));
        TreeWriter.PutLargeExtent(_writePages, tree, key, reference);
    }
}

/// <summary>A value whose bytes have been written to an extent of the data file.</summary>
/// <param name="FirstPage">The first page of the extent.</param>
/// <param name="Pages">The number of pages of the extent.</param>
/// <param name="Length">The length of the value in bytes.</param>
/// <param name="IsDurable">True if the bytes are durable.</param>
internal readonly record struct WrittenValue(long FirstPage, long Pages, long Length, bool IsDurable);
