using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

// Blocks after the pages with addresses that are written ahead of need.
internal sealed unsafe partial class DataFile
{
    /// <summary>The number of bytes written at once: a transaction that has to grow the file meanwhile waits for as many.</summary>
    public const int ZeroedAtOnce = 1 << 20;

    // A transaction that has to grow the file waits for them to be allocated and synced; where the system cannot allocate, they are written.
    private const int AllocatedAtOnce = 8 << 20;

    // The end of the bytes after those that are taken that have been written; smaller than the end of these if there are none.
    private long _writtenAhead;

    // The end of the blocks allocated when the last of these bytes were written: some of them may not have been written yet.
    private long _allocatedAhead;
    private int _timesGivenUp;

    /// <summary>The number of bytes after the pages with addresses that <see cref="WriteAhead"/> has written. Any thread may read it.</summary>
    public long WrittenAheadBytes => Math.Max(0, Volatile.Read(ref _writtenAhead) - (CapacityPages << _pageShift));

    /// <summary>The end in bytes of the blocks allocated ahead of need; smaller than the end of the file if there are none. A hint.</summary>
    public long PreallocatedEnd => Volatile.Read(ref _preallocated);

    /// <summary>The number of times that blocks ahead of need had to be given up. Any thread may read it.</summary>
    public int TimesGivenUp => Volatile.Read(ref _timesGivenUp);

    private long TakenBytes => Math.Max(_taken, CapacityPages << _pageShift);

    /// <summary>
    /// Allocates blocks ahead of need and writes zeros to them past the page cache: on some file systems, the first write to a block takes several
    /// times as long as all others. May run concurrently with the holder of the writer, who gives a page its content as soon as it has an address:
    /// only pages that are not even about to get one are written, under the lock under which the writer takes them. Leaves the sync to the caller.
    /// </summary>
    /// <param name="pages">The number of pages of the file, with those that have addresses, that have been written in the end.</param>
    /// <param name="continues">Called before each piece; false to stop there.</param>
    /// <exception cref="StorageFullException">There is not enough disk space.</exception>
    /// <exception cref="StorageAccessException">The file cannot be grown or written.</exception>
    public void WriteAhead(long pages, Func<bool> continues)
    {
        var zeros = EngineMemory.AllocateAligned(ZeroedAtOnce, DiskRules.Alignment);
        try
        {
            NativeMemory.Clear(zeros, ZeroedAtOnce);
            while (continues() && WritePiece(new ReadOnlySpan<byte>(zeros, ZeroedAtOnce), pages << _pageShift))
            {
            }
        }
        finally
        {
            EngineMemory.FreeAligned(zeros);
        }
    }

    /// <summary>Gives up the blocks of <see cref="WriteAhead"/>, so that <see cref="TryCut"/> may cut them off.</summary>
    /// <returns>Their number of bytes.</returns>
    public long GiveUpWritten()
    {
        using (_growth.Enter())
        {
            _timesGivenUp++;
            var bytes = _allocatedAhead > TakenBytes ? _preallocated - TakenBytes : 0;
            if (bytes > 0)
                _preallocated = TakenBytes;
            _writtenAhead = _allocatedAhead = 0;
            return bytes;
        }
    }

    /// <summary>Gives up the blocks of <see cref="WriteAhead"/> and cuts them off at once.</summary>
    /// <returns>The number of bytes that the disk has regained.</returns>
    public long CutWritten()
    {
        var bytes = GiveUpWritten();
        if (bytes == 0)
            return 0;
        try
        {
            while (TryCut())
            {
            }

            return bytes;
        }
        catch (DiskException)
        {
            // Where a mapped file cannot be cut, closing cuts it.
            return 0;
        }
    }

    // Returns true if there is more to write.
    private bool WritePiece(ReadOnlySpan<byte> zeros, long end)
    {
        using (_growth.Enter())
        {
            var from = Math.Max(PlantedFault.ZeroPagesInUse ? 0 : TakenBytes, _writtenAhead);
            var length = Math.Min(zeros.Length, end - from);
            if (length <= 0)
                return false;
            CheckLengthHeld();
            if (from + length > _preallocated)
            {
                var to = Math.Min(end, from + AllocatedAtOnce);
                Allocate(from, to);
                _preallocated = to;
            }

            _allocatedAhead = _preallocated;
            SchedulePoint.Reach(SchedulePlace.Growing);
            try
            {
                Unbuffered!.Write(from, zeros[..(int)length]);
            }
            catch (DiskException e)
            {
                throw WriteFailure("zeros ahead of need", e);
            }

            Volatile.Write(ref _writtenAhead, from + length);
            return from + length < end;
        }
    }
}
