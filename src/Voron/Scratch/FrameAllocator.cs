using System.Diagnostics;
using System.Numerics;
using Voron.IO;

namespace Voron.Scratch;

/// <summary>
/// Native memory for page versions: frames of one page, and extents of several. Warm frames are handed out first.
/// </summary>
/// <remarks>
/// Used only by the holder of the writer. Frames are not zeroed: the caller must clear the frame of a new page; a changed page is copied over its
/// frame. Beyond the memory limit, frames come from <see cref="ISpill"/>. Entirely free chunks are returned to the system through
/// <see cref="FrameTrim"/>; their addresses stay valid, so code that still reads a frame that it should have released sees zeros, instead of
/// crashing the process.
/// </remarks>
internal sealed unsafe class FrameAllocator : IDisposable
{
    private const int PooledExtentClasses = 8;

    private const int MaxParked = 64;

    private const int MinChunkBytes = 4 << 20;

    /// <summary>With less memory than this, smaller chunks use it better. Large pages of the system then do not fit into them.</summary>
    private const long SmallMemoryBytes = 64 << 20;
    private const int MinSmallChunkBytes = 1 << 20;

    /// <summary>The first chunk receives its memory in pieces: most environments of a process with a thousand of them never fill it.</summary>
    private const int PieceBytes = 256 << 10;

    // A small environment never has more chunks, and needs none to be ready.
    private const int ColdChunks = 4;

    private readonly int _pageSize;
    private readonly int _pageShift;
    private readonly long _memoryLimitBytes;
    private readonly ISpill? _spill;
    private readonly MemoryAccount? _account;
    private readonly ChunkWarmer _warmer;
    private readonly List<ScratchChunk> _chunks = [];
    private readonly Stack<ScratchChunk> _emptyChunks = new();
    private readonly HashSet<nint> _largeExtents = [];
    private readonly nint[] _freeExtents = new nint[PooledExtentClasses];

    // Frames that a trim has examined and kept, used after those that have been in use since. Class 0 holds the single frames.
    private readonly nint[] _coldExtents = new nint[PooledExtentClasses];
    private readonly Queue<nint> _parked = new();
    private nint _freeFrames;
    private long _peakBytes;
    private ScratchChunk? _growing;
    private byte* _chunkNext;
    private byte* _chunkEnd;

    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="memoryLimitBytes">The number of bytes of native memory to use.</param>
    /// <param name="spill">Memory beyond the limit; null to use native memory alone.</param>
    /// <param name="account">Counts the native memory; null for none.</param>
    public FrameAllocator(int pageSize, long memoryLimitBytes, ISpill? spill, MemoryAccount? account = null)
    {
        _pageSize = pageSize;
        _pageShift = BitOperations.Log2((uint)pageSize);
        _memoryLimitBytes = memoryLimitBytes;
        _spill = spill;
        _account = account;
        ChunkBytes = ChunkBytesOf(pageSize, memoryLimitBytes);
        _warmer = new ChunkWarmer(ChunkBytes, account);
    }

    /// <summary>
    /// Frames rest before they are reused: a frame that was returned too early shows as such, and not as another page. Only with a guard.
    /// </summary>
    public bool Parks { get; init; } = EngineMemory.IsGuarded;

    /// <summary>The reservation of the environment, for the first chunk, which most environments do not outgrow; null for none.</summary>
    public AddressReservation? Addresses { get; init; }

    /// <summary>Asserts that the caller holds the writer; null before there is a writer, and in tests of this class alone.</summary>
    public Action? AssertHeld { get; set; }

    /// <summary>Bytes in use by page versions.</summary>
    public long UsedBytes { get; private set; }

    /// <summary>Bytes of native memory taken from the system, excluding spilled ones.</summary>
    public long ReservedBytes { get; private set; }

    /// <summary>Bytes of the temporary file in use as chunks.</summary>
    public long SpilledBytes { get; private set; }

    /// <summary>Bytes of a chunk; all chunks begin at a multiple of it.</summary>
    public int ChunkBytes { get; }

    /// <summary>Bytes in all chunks that have memory, including spilled ones. Only a hint to threads that do not hold the writer.</summary>
    public long ChunkTotalBytes => Volatile.Read(ref _chunkTotalBytes);

    private long _chunkTotalBytes;

    /// <summary>Returns the address space of the first chunk, in bytes.</summary>
    public static nuint FirstAddressBytes(int pageSize, long memoryLimitBytes) => ScratchChunk.AddressBytes(ChunkBytesOf(pageSize, memoryLimitBytes));

    /// <summary>Rents a frame of one page. Its previous content is still in it.</summary>
    public byte* Rent()
    {
        AssertWriterHeld();
        if (_freeFrames == 0 && _coldExtents[0] != 0)
        {
            _freeFrames = _coldExtents[0];
            _coldExtents[0] = 0;
        }

        byte* frame;
        if (_freeFrames != 0)
        {
            frame = FreeFrames.Pop(ref _freeFrames, _pageSize);
        }
        else
        {
            if (_chunkNext == _chunkEnd && !TryGrow(_pageSize))
                AddChunk();
            frame = _chunkNext;
            _chunkNext += _pageSize;
        }

        UsedBytes += _pageSize;
        _peakBytes = Math.Max(_peakBytes, UsedBytes);
        return frame;
    }

    public void Return(byte* frame)
    {
        AssertWriterHeld();
        Debug.Assert(frame != null, "A version without a frame has nothing to return.");
        FreeFrames.Push(ref _freeFrames, frame, _pageSize);
        UsedBytes -= _pageSize;
        Debug.Assert(UsedBytes >= 0, "A frame must be returned only once.");
        if (EngineMemory.IsGuarded && Parks)
            Park(MaxParked);
    }

    /// <summary>Rents contiguous memory for several pages, not zeroed.</summary>
    public byte* RentExtent(int pages)
    {
        AssertWriterHeld();
        if (pages == 1)
            return Rent();

        // Counted only when it has been allocated: there may be no memory for it.
        var extent = TakeExtent(pages, ExtentClass(pages));
        UsedBytes += (long)pages << _pageShift;
        _peakBytes = Math.Max(_peakBytes, UsedBytes);
        return extent;
    }

    private byte* TakeExtent(int pages, int extentClass)
    {
        if (extentClass >= PooledExtentClasses)
            return RentLargeExtent(pages);

        var bytes = (long)_pageSize << extentClass;
        ref var free = ref _freeExtents[extentClass];
        if (free == 0 && _coldExtents[extentClass] != 0)
        {
            free = _coldExtents[extentClass];
            _coldExtents[extentClass] = 0;
        }

        if (free != 0)
            return FreeFrames.Pop(ref free, bytes);

        if (_chunkEnd - _chunkNext < bytes && !TryGrow(bytes))
        {
            while (_chunkNext != _chunkEnd)
            {
                FreeFrames.Push(ref _freeFrames, _chunkNext, _pageSize);
                _chunkNext += _pageSize;
            }

            AddChunk();
        }

        var extent = _chunkNext;
        _chunkNext += bytes;
        return extent;
    }

    public void ReturnExtent(byte* extent, int pages)
    {
        AssertWriterHeld();
        if (pages == 1)
        {
            Return(extent);
            return;
        }

        UsedBytes -= (long)pages << _pageShift;
        Debug.Assert(UsedBytes >= 0, "An extent must be returned only once.");
        var extentClass = ExtentClass(pages);
        if (extentClass >= PooledExtentClasses)
        {
            ReturnLargeExtent(extent, (long)pages << _pageShift);
            return;
        }

        FreeFrames.Push(ref _freeExtents[extentClass], extent, (long)_pageSize << extentClass);
    }

    /// <summary>Returns the peak number of bytes in use since the last call.</summary>
    public long TakePeak()
    {
        AssertWriterHeld();
        var peak = _peakBytes;
        _peakBytes = UsedBytes;
        return peak;
    }

    /// <summary>Takes all free memory out of the allocator, for <see cref="FrameTrim"/> to examine without the writer.</summary>
    public FrameTrim BeginTrim()
    {
        AssertWriterHeld();
        _warmer.Trim();
        if (EngineMemory.IsGuarded && Parks)
            Park(0);
        var lists = new nint[2 * PooledExtentClasses];
        var trim = new FrameTrim(_pageSize, ChunkBytes, lists, [.. _chunks], _spill);
        _emptyChunks.EnsureCapacity(_emptyChunks.Count + _chunks.Count);

        // From here on nothing allocates memory, here or in the trim.
        for (var i = 0; i < PooledExtentClasses; i++)
        {
            lists[2 * i] = i == 0 ? _freeFrames : _freeExtents[i];
            lists[2 * i + 1] = _coldExtents[i];
        }

        _freeFrames = 0;
        Array.Clear(_freeExtents);
        Array.Clear(_coldExtents);
        return trim;
    }

    /// <summary>Takes back the frames that a trim has kept, and forgets the chunks that it emptied.</summary>
    public void EndTrim(FrameTrim trim)
    {
        AssertWriterHeld();
        trim.AssertHasRun();
        Debug.Assert(Array.TrueForAll(_coldExtents, list => list == 0), "One trim at a time must be under way.");
        foreach (var chunk in trim.Emptied)
        {
            _chunks.Remove(chunk);
            AddTotals(chunk, -1);
            if (!chunk.IsSpilled)
                _emptyChunks.Push(chunk);
        }

        trim.Kept.CopyTo(_coldExtents, 0);
    }

    public void Dispose()
    {
        _warmer.Dispose();
        foreach (var chunk in _chunks.Concat(_emptyChunks))
            chunk.Dispose();
        _emptyChunks.Clear();
        Array.Clear(_coldExtents);
        foreach (var extent in _largeExtents)
            EngineMemory.FreeAligned((void*)extent);
        _chunks.Clear();
        _largeExtents.Clear();
        Array.Clear(_freeExtents);
        _parked.Clear();
        _freeFrames = 0;
        _growing = null;
        _chunkNext = _chunkEnd = null;
        _account?.Add(-ReservedBytes);
        UsedBytes = ReservedBytes = SpilledBytes = _chunkTotalBytes = 0;
        _spill?.Dispose();
    }

    // Takes the most recently returned frame, if one was returned, out of the list, and puts rested frames back into it.
    private void Park(int most)
    {
        if (most > 0)
        {
            var frame = _freeFrames;
            _freeFrames = FreeFrames.Next(frame);
            _parked.Enqueue(frame);
        }

        while (_parked.Count > most)
        {
            var rested = _parked.Dequeue();
            FreeFrames.SetNext(rested, _freeFrames);
            _freeFrames = rested;
        }
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => AssertHeld?.Invoke();

    // Extents are sized in powers of two pages, so that a returned one serves the next of its class.
    private static int ExtentClass(int pages) => BitOperations.Log2((uint)pages - 1) + 1;

    private byte* RentLargeExtent(int pages)
    {
        var bytes = (long)pages << _pageShift;
        if (_spill != null && ReservedBytes + bytes > _memoryLimitBytes)
        {
            var spilled = _spill.AllocateExtent(bytes);
            SpilledBytes += bytes;
            return spilled;
        }

        var extent = EngineMemory.AllocateAligned((nuint)bytes, 4096);
        _largeExtents.Add((nint)extent);
        AddReserved(bytes);
        return (byte*)extent;
    }

    private void ReturnLargeExtent(byte* extent, long bytes)
    {
        if (_spill != null && _spill.TryFreeExtent(extent))
        {
            SpilledBytes -= bytes;
            return;
        }

        var removed = _largeExtents.Remove((nint)extent);
        Debug.Assert(removed, "A large extent must be returned only once.");
        EngineMemory.FreeAligned(extent);
        AddReserved(-bytes);
    }

    private static int ChunkBytesOf(int pageSize, long memoryLimitBytes) =>
        Math.Max(memoryLimitBytes < SmallMemoryBytes ? MinSmallChunkBytes : MinChunkBytes, pageSize << (PooledExtentClasses - 1));

    private void AddChunk()
    {
        var bytes = ChunkBytes;
        ScratchChunk chunk;
        if (_spill != null && ReservedBytes + bytes > _memoryLimitBytes)
            chunk = new ScratchChunk((nint)_spill.Allocate(bytes), bytes);
        else if (!_emptyChunks.TryPop(out chunk!))
            chunk = TryTakeWarm() ?? ScratchChunk.Reserve(bytes, _chunks.Count == 0 ? PieceBytes : bytes, Addresses);
        PreferLargePages(chunk);
        _chunks.Add(chunk);
        AddTotals(chunk, 1);
        _chunkNext = (byte*)chunk.Address;
        EngineMemory.Open(_chunkNext, (nuint)chunk.UsableBytes);
        _chunkEnd = _chunkNext + chunk.UsableBytes;
        _growing = chunk.UsableBytes < bytes ? chunk : null;
    }

    // Gives the first chunk its next piece; false if the bytes still do not fit, or if the limit is reached: then the rest of the chunk stays
    // without memory.
    private bool TryGrow(long bytes)
    {
        if (_growing is not { } chunk)
            return false;
        var used = _chunkNext - (byte*)chunk.Address;
        var usable = (int)Math.Min(chunk.Bytes, Math.Max(used + bytes, chunk.UsableBytes + PieceBytes));
        var added = usable - chunk.UsableBytes;
        if (_spill != null && ReservedBytes + added > _memoryLimitBytes)
        {
            _growing = null;
            return false;
        }

        chunk.Grow(usable);
        EngineMemory.Open(_chunkEnd, (nuint)added);
        _chunkEnd += added;
        AddReserved(added);
        Volatile.Write(ref _chunkTotalBytes, _chunkTotalBytes + added);
        if (usable == chunk.Bytes)
            _growing = null;
        return _chunkEnd - _chunkNext >= bytes;
    }

    private ScratchChunk? TryTakeWarm() =>
        _chunks.Count < ColdChunks ? null : _warmer.TryTake((_memoryLimitBytes - ReservedBytes) / ChunkBytes);

    // The first touch of a large page makes the system clear 2 MiB, which is more than a small environment ever uses.
    private void PreferLargePages(ScratchChunk chunk)
    {
        if (_chunks.Count == 0)
            return;
        if (_chunks.Count == 1)
            _chunks[0].PreferLargePages();
        chunk.PreferLargePages();
    }

    private void AddTotals(ScratchChunk chunk, int sign)
    {
        if (chunk.IsSpilled)
            SpilledBytes += sign * chunk.UsableBytes;
        else
            AddReserved(sign * chunk.UsableBytes);
        Volatile.Write(ref _chunkTotalBytes, _chunkTotalBytes + sign * chunk.UsableBytes);
    }

    private void AddReserved(long bytes)
    {
        ReservedBytes += bytes;
        _account?.Add(bytes);
    }
}
