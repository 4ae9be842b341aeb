using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Paging;

/// <summary>The data file as pages: a read-only map that grows, and the verification of each page on its first use.</summary>
/// <remarks>
/// Only the holder of the writer may grow the file; any thread may read and verify pages. The flusher writes pages through
/// <see cref="File"/>, and only while no snapshot reads them from here.
/// <para>
/// A page is verified once per opening: its bytes were right when they were first read, or were written by this environment. A check reads all of
/// its bytes, where a search touches a few cache lines. The scrubber, a verification and the check before a copy find what decays later;
/// <see cref="StorageOptions.VerifyEveryRead"/> checks each read.
/// </para>
/// </remarks>
internal sealed unsafe partial class DataFile : IDisposable
{
    private const long BytesCutAtOnce = 64L << 20;

    /// <summary>The name of the data file in the directory of its environment.</summary>
    public const string FileName = "voron.data";

    private readonly EngineLock _growth = new(LockRank.Growth);
    private readonly PoisonState _poison;
    private readonly PageBitmap _verified;

    // Separate from the bits of pages: bytes that were checked as part of a value have not been checked as a page.
    private readonly PageBitmap _verifiedChunks;
    private readonly int _pageShift;
    private readonly RetiredMaps _retiredMaps = new();
    private FileMap _map;
    private long _preallocated;

    // The end of the bytes whose pages have addresses, or are about to get them: set earlier than the capacity, under the lock of growing.
    private long _taken;

    // The number of pages that the file keeps when it is closed, if it contains more; -1 to keep all.
    private long _pagesAtLast = -1;

    public DataFile(
        DiskFile file, RandomId environmentId, int pageSize, PlannedAddresses addresses, PoisonState poison, DiskFile? unbuffered = null)
    {
        File = file;
        Unbuffered = unbuffered;
        _poison = poison;
        PageSize = pageSize;
        PageLimit = addresses.Pages;
        Addresses = addresses.Reservation;
        SeedBase = Checksum.SeedBase(environmentId);
        _pageShift = BitOperations.Log2((uint)pageSize);
        _verified = new PageBitmap(PageLimit, addresses.Reservation);
        try
        {
            CapacityPages = file.Length >> _pageShift;
            _verifiedChunks = new PageBitmap(PageLimit, addresses.Reservation);
            CommitBits(CapacityPages);
            _map = file.Map(CapacityPages << _pageShift);
        }
        catch
        {
            _verifiedChunks.Dispose();
            _verified.Dispose();
            throw;
        }
    }

    /// <inheritdoc cref="RetiredMaps.AssertHeld"/>
    public Action? AssertHeld
    {
        set => _retiredMaps.AssertHeld = value;
    }

    public DiskFile File { get; }

    /// <summary>
    /// The same file opened to bypass the page cache, for large values, where the map shows data that is written this way; otherwise null.
    /// The pages of these values are then in no cache, so they do not count as verified until they have been read.
    /// </summary>
    public DiskFile? Unbuffered { get; }

    public int PageSize { get; }

    /// <summary>The number of pages in the file, each with an address in the map. Pages in use have blocks.</summary>
    public long CapacityPages { get; private set; }

    /// <summary>Decides whether the system reads ahead in the map; null to leave that to the system.</summary>
    public ReadAhead? ReadAhead
    {
        get;
        set
        {
            field = value;
            value?.Cover(_map.Address, CapacityPages << _pageShift);
        }
    }

    /// <summary>The maximum number of pages that the file can have while the environment is open: there are no addresses for more.</summary>
    public long PageLimit { get; }

    /// <summary>The addresses shared by the tables of the file, which this object disposes; null if each table has its own.</summary>
    public AddressReservation? Addresses { get; }

    /// <summary>
    /// The page count when the file was opened or last cut. Until more pages are in use, no blocks are allocated ahead of need.
    /// </summary>
    public long SettledPages { get; set; }

    /// <summary>True if this opening has created the file: all of its pages have blocks, which are durable.</summary>
    public bool IsNew { get; set; }

    /// <summary>The format, which decides whether pages contain hints.</summary>
    public EnvironmentFormat Format { get; init; } = new();

    /// <summary>The address at which page 0 is mapped. Readers take it from the state that they registered with.</summary>
    public byte* MapAddress => _map.Address;

    /// <summary>Returns the address of a page in the newest map. Only for the holder of the writer.</summary>
    public byte* Address(long page)
    {
        _retiredMaps.AssertWriterHeld();
        return _map.Address + (page << _pageShift);
    }

    /// <summary>The part of the seeds of all checksums that comes from the id of the environment.</summary>
    public ulong SeedBase { get; init; }

    public ulong Seed(long page) => Checksum.Seed(SeedBase, page);

    /// <summary>Computes the checksum that a page, or an extent, must carry in its header.</summary>
    public ulong ComputeChecksum(long page, byte* bytes, long length) =>
        Checksum.Compute(bytes + PageHeader.UnjournaledBytes, (nuint)(length - PageHeader.UnjournaledBytes), Seed(page));

    /// <summary>Completes the frame of a page, or an extent, for the file: sets the bytes that have a meaning only on disk.</summary>
    /// <param name="page">The number of the page, or of the first one.</param>
    /// <param name="frame">Its bytes.</param>
    /// <param name="length">Their number.</param>
    /// <param name="transactionId">The transaction that has made this version.</param>
    public void SetChecksum(long page, byte* frame, long length, long transactionId)
    {
        PageHeader.SetDiskBytes(frame, page, Format.IsVersion1 ? 0 : transactionId);
        ((PageHeader*)frame)->Checksum = ComputeChecksum(page, frame, length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsVerified(long page) => _verified.IsSet(page);

    /// <summary>Reads the stamp, which says which checkpoint the file belongs to.</summary>
    /// <exception cref="DiskException">The stamp cannot be read.</exception>
    public ulong ReadStamp()
    {
        ulong stamp;
        File.Read(DataFileStamp.Offset, new Span<byte>(&stamp, DataFileStamp.Size));
        return stamp;
    }

    /// <summary>Writes the stamp. It is durable after a sync.</summary>
    /// <exception cref="DiskException">The stamp cannot be written.</exception>
    public void WriteStamp(ulong stamp) => File.Write(DataFileStamp.Offset, new ReadOnlySpan<byte>(&stamp, DataFileStamp.Size));

    /// <summary>Returns the exception for a caller whose bytes could not be written to the file.</summary>
    /// <param name="what">The subject of the message, such as "new pages".</param>
    /// <param name="failure">The failure of the write, which names the file.</param>
    public static Exception WriteFailure(string what, DiskException failure) => failure.Error == DiskError.NoSpace
        ? new StorageFullException($"The data file has no space for {what}: {failure.Message}", failure)
        : new StorageAccessException($"Could not write {what} to the data file: {failure.Message}", failure);

    /// <summary>
    /// Checks whether the file still contains its pages: another program may have truncated it. If so, nothing more is written: a checkpoint would
    /// name pages that are gone, and release the journal that could restore some of them.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The file is shorter than it was, or its length cannot be read.</exception>
    public void CheckLength()
    {
        // Growing and cutting change the file and the capacity under this lock.
        using (_growth.Enter())
            CheckLengthHeld();
    }

    private void CheckLengthHeld()
    {
        _growth.AssertHeld();
        try
        {
            var length = File.Length;
            var expected = CapacityPages << _pageShift;
            if (length >= expected || PlantedFault.IgnoreCut)
                return;
            _poison.Set(new CorruptionException($"'{File.Path}' has been cut short while it was open: it has {length} bytes, but should have {expected}."));
        }
        catch (DiskException e)
        {
            _poison.Set(e);
        }

        throw _poison.Exception(CommitOutcome.NotCommitted);
    }

    /// <summary>Ensures that pages of the file, whose blocks may have been returned to the file system, have blocks again.</summary>
    public void Refill(long firstPage, long pages) => Allocate(firstPage << _pageShift, (firstPage + pages) << _pageShift);

    /// <summary>
    /// As <see cref="Refill"/>, without the writer: leaves out the pages after the end of the file, which another thread may be moving, and leaves
    /// the sync to the caller.
    /// </summary>
    public void RefillUnsynced(long firstPage, long pages)
    {
        using (_growth.Enter())
        {
            var end = Math.Min(firstPage + pages, CapacityPages);
            if (firstPage < end)
                AllocateUnsynced(firstPage << _pageShift, end << _pageShift);
        }
    }

    /// <summary>Marks a page as verified: the page on disk has been read and checked, or written by this environment.</summary>
    public void MarkVerified(long page) => _verified.Set(page);

    /// <summary>
    /// Marks pages as unverified, because they become the inside of an extent or a value: they must be read and checked before their next
    /// use as pages.
    /// </summary>
    /// <returns>True when at least one of them had been verified.</returns>
    public bool MarkUnverified(long first, long pages) => _verified.Clear(first, pages);

    /// <summary>Whether the chunk of a value that begins with a page has been read and checked.</summary>
    public bool IsChunkVerified(long page) => _verifiedChunks.IsSet(page);

    public void MarkChunk(long page, bool isVerified)
    {
        if (isVerified)
            _verifiedChunks.Set(page);
        else
            _verifiedChunks.Clear(page);
    }

    /// <summary>
    /// Ensures that the first <paramref name="pages"/> pages have blocks and addresses. When the map has moved, the caller publishes a
    /// new state.
    /// </summary>
    /// <returns>True when the map has moved: <see cref="RetireMaps"/> must then be called for the state published next.</returns>
    /// <exception cref="StorageFullException">There is not enough disk space. Nothing has changed.</exception>
    /// <exception cref="StorageAccessException">The file cannot be grown or mapped. Nothing has changed.</exception>
    public bool EnsureCapacity(long pages)
    {
        _retiredMaps.AssertWriterHeld();
        if (pages <= CapacityPages)
            return false;

        var length = pages << _pageShift;
        var old = CapacityPages << _pageShift;
        using (_growth.Enter())
        {
            if (length > _preallocated)
            {
                CheckLengthHeld();
                Allocate(old, length);
                _preallocated = length;
            }

            _taken = Math.Max(_taken, length);
        }

        SchedulePoint.Reach(SchedulePlace.Grown);

        // Done before anything that cannot be undone.
        CommitBits(pages);
        var moved = false;
        try
        {
            if (!_map.TryExtend(length))
            {
                var map = File.Map(length);
                _retiredMaps.Add(_map);
                _map = map;
                moved = true;
            }
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"'{File.Path}' has grown from {old} to {length} bytes, but the new part cannot be mapped: {e.Message}", e);
        }

        CapacityPages = pages;
        ReadAhead?.Cover(_map.Address, length);
        return moved;
    }

    /// <summary>Allocates blocks ahead of need. May run concurrently with the holder of the writer, which then finds them allocated.</summary>
    /// <exception cref="StorageFullException">There is not enough disk space.</exception>
    public void Preallocate(long pages)
    {
        var length = pages << _pageShift;
        var growth = PlantedFault.GrowSideBySide ? new EngineLock(LockRank.Growth) : _growth;
        using (growth.Enter())
        {
            // The writer may have grown the file further since the caller checked.
            var from = CapacityPages << _pageShift;
            if (length <= Math.Max(from, _preallocated))
                return;
            CheckLengthHeld();
            Allocate(from, length);
            _preallocated = length;
        }
    }

    /// <summary>Records that readers that register with <paramref name="sequence"/> or later do not know the maps retired so far.</summary>
    public void RetireMaps(long sequence) => _retiredMaps.Retire(sequence);

    /// <summary>Unmaps the retired maps that only readers with an older sequence than any registered one could use.</summary>
    public void ReleaseMaps(long oldestSequence) => _retiredMaps.Release(oldestSequence);

    public bool HasRetiredMaps => _retiredMaps.HasAny;

    /// <summary>
    /// Gives up the addresses of the pages from one on, so that <see cref="TryCut"/> may cut them off. No thread uses, or will use, these pages.
    /// </summary>
    public void Truncate(long pages)
    {
        using (_growth.Enter())
        {
            _retiredMaps.AssertWriterHeld();
            Debug.Assert(pages < CapacityPages, "A file must have pages behind the place where it is cut.");
            Debug.Assert(!_retiredMaps.HasAny, "No older map of the file may be in use when it is cut.");
            _map.Shrink(pages << _pageShift);

            // Applies even if the file keeps its tail, because the tail no longer has an address.
            CapacityPages = SettledPages = pages;
            _preallocated = _taken = pages << _pageShift;
            _writtenAhead = _allocatedAhead = 0;
        }
    }

    /// <summary>
    /// Cuts off a part of the tail after the pages that have addresses: without the writer, and in parts, because a caller that has to grow the
    /// file waits for it. Where a mapped file cannot be cut (Windows), the file is cut when it is closed.
    /// </summary>
    /// <returns>True if there is more to cut.</returns>
    public bool TryCut()
    {
        using (_growth.Enter())
        {
            // The file may have grown again since the addresses were given up.
            var end = Math.Max(CapacityPages << _pageShift, _preallocated);
            var length = File.Length;
            if (length <= end)
                return false;
            var kept = Math.Max(end, length - BytesCutAtOnce);
            SchedulePoint.Reach(SchedulePlace.FileCut);
            try
            {
                File.SetLength(kept);
            }
            catch (DiskException)
            {
                _pagesAtLast = long.MaxValue;
                throw;
            }

            return kept > end;
        }
    }

    /// <summary>Makes <see cref="Dispose"/> cut the file, when it no longer has a map or a user. The newest state needs no more pages.</summary>
    public void CutWhenClosed(long pages) => _pagesAtLast = pages;

    public void Dispose()
    {
        _retiredMaps.Dispose();
        _map.Dispose();
        TruncateAtLast();
        Unbuffered?.Dispose();
        File.Dispose();
        _verified.Dispose();
        _verifiedChunks.Dispose();
        Addresses?.Dispose();
    }

    // Not synced: a file that still has its tail after a power failure is valid too.
    private void TruncateAtLast()
    {
        if (_pagesAtLast < 0 || _poison.IsPoisoned)
            return;
        try
        {
            var length = Math.Min(CapacityPages, _pagesAtLast) << _pageShift;
            if (length < File.Length)
                File.SetLength(length);
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            // The tail stays; the next environment that returns space to the file system cuts it off.
        }
    }

    private void Allocate(long from, long to)
    {
        AllocateUnsynced(from, to);
        Sync();
    }

    private void AllocateUnsynced(long from, long to)
    {
        try
        {
            SchedulePoint.Reach(SchedulePlace.Growing);
            File.Allocate(from, to - from);
        }
        catch (DiskException e) when (e.Error == DiskError.NoSpace)
        {
            throw new StorageFullException($"There is no space to grow '{File.Path}' from {from} to {to} bytes: {e.Message}", e);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"'{File.Path}' could not be grown from {from} to {to} bytes: {e.Message}", e);
        }

        SchedulePoint.Reach(SchedulePlace.Grown);
    }

    private void CommitBits(long pages)
    {
        _verified.EnsureCommitted(pages);
        _verifiedChunks.EnsureCommitted(pages);
    }
}
