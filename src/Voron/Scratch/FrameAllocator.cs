using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Voron.IO;

namespace Voron.Scratch;

/// <summary>
/// Native memory for page versions: frames of one page, and runs of several. Warm frames are handed out first.
/// </summary>
/// <remarks>
/// Used by the holder of the writer only. Frames are not zeroed: a page that is new must be cleared by whoever asks for it, a
/// changed one is copied over. Beyond the limit in memory, frames come from <see cref="ISpill"/>.
/// </remarks>
internal sealed unsafe class FrameAllocator : IDisposable
{
    private const int ChunkBytes = 4 << 20;
    private const int LargePageBytes = 2 << 20;
    private const int PooledRunClasses = 8;

    private readonly int _pageSize;
    private readonly int _pageShift;
    private readonly long _memoryLimitBytes;
    private readonly ISpill? _spill;
    private readonly List<nint> _chunks = [];
    private readonly HashSet<nint> _largeRuns = [];
    private readonly nint[] _freeRuns = new nint[PooledRunClasses];
    private nint _freeFrames;
    private byte* _chunkNext;
    private byte* _chunkEnd;

    public FrameAllocator(int pageSize, long memoryLimitBytes, ISpill? spill)
    {
        _pageSize = pageSize;
        _pageShift = BitOperations.Log2((uint)pageSize);
        _memoryLimitBytes = memoryLimitBytes;
        _spill = spill;
    }

    /// <summary>Bytes in use by page versions.</summary>
    public long UsedBytes { get; private set; }

    /// <summary>Bytes of native memory taken from the system, spilled ones not counted.</summary>
    public long ReservedBytes { get; private set; }

    /// <summary>Bytes of the temporary file in use as chunks.</summary>
    public long SpilledBytes { get; private set; }

    /// <summary>A frame of one page. Its content is whatever it held before.</summary>
    public byte* Rent()
    {
        var frame = (byte*)_freeFrames;
        if (frame != null)
        {
            _freeFrames = *(nint*)frame;
        }
        else
        {
            if (_chunkNext == _chunkEnd)
                AddChunk();
            frame = _chunkNext;
            _chunkNext += _pageSize;
        }

        UsedBytes += _pageSize;
        return frame;
    }

    public void Return(byte* frame)
    {
        Debug.Assert(frame != null);
        *(nint*)frame = _freeFrames;
        _freeFrames = (nint)frame;
        UsedBytes -= _pageSize;
    }

    /// <summary>Contiguous memory for several pages, not zeroed.</summary>
    public byte* RentRun(int pages)
    {
        if (pages == 1)
            return Rent();

        var runClass = RunClass(pages);
        UsedBytes += (long)pages << _pageShift;
        if (runClass >= PooledRunClasses)
            return RentLargeRun(pages);

        var run = (byte*)_freeRuns[runClass];
        if (run != null)
        {
            _freeRuns[runClass] = *(nint*)run;
            return run;
        }

        var bytes = (long)_pageSize << runClass;
        if (_chunkEnd - _chunkNext < bytes)
        {
            while (_chunkNext != _chunkEnd)
            {
                *(nint*)_chunkNext = _freeFrames;
                _freeFrames = (nint)_chunkNext;
                _chunkNext += _pageSize;
            }

            AddChunk();
        }

        run = _chunkNext;
        _chunkNext += bytes;
        return run;
    }

    public void ReturnRun(byte* run, int pages)
    {
        if (pages == 1)
        {
            Return(run);
            return;
        }

        UsedBytes -= (long)pages << _pageShift;
        var runClass = RunClass(pages);
        if (runClass >= PooledRunClasses)
        {
            var removed = _largeRuns.Remove((nint)run);
            Debug.Assert(removed);
            ReservedBytes -= (long)pages << _pageShift;
            NativeMemory.AlignedFree(run);
            return;
        }

        *(nint*)run = _freeRuns[runClass];
        _freeRuns[runClass] = (nint)run;
    }

    public void Dispose()
    {
        foreach (var chunk in _chunks)
            NativeMemory.AlignedFree((void*)chunk);
        foreach (var run in _largeRuns)
            NativeMemory.AlignedFree((void*)run);
        _chunks.Clear();
        _largeRuns.Clear();
        Array.Clear(_freeRuns);
        _freeFrames = 0;
        _chunkNext = _chunkEnd = null;
        UsedBytes = ReservedBytes = SpilledBytes = 0;
        _spill?.Dispose();
    }

    // Runs come in powers of two pages, so that a returned one serves the next of its class.
    private static int RunClass(int pages) => BitOperations.Log2((uint)pages - 1) + 1;

    private byte* RentLargeRun(int pages)
    {
        var bytes = (long)pages << _pageShift;
        var run = NativeMemory.AlignedAlloc((nuint)bytes, 4096);
        _largeRuns.Add((nint)run);
        ReservedBytes += bytes;
        return (byte*)run;
    }

    private void AddChunk()
    {
        var bytes = Math.Max(ChunkBytes, _pageSize << (PooledRunClasses - 1));
        if (_spill != null && ReservedBytes + bytes > _memoryLimitBytes)
        {
            _chunkNext = _spill.Allocate(bytes);
            SpilledBytes += bytes;
        }
        else
        {
            _chunkNext = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, LargePageBytes);
            MemoryAdvice.PreferLargePages(_chunkNext, (nuint)bytes);
            _chunks.Add((nint)_chunkNext);
            ReservedBytes += bytes;
        }

        _chunkEnd = _chunkNext + bytes;
    }
}

/// <summary>Memory over a preallocated temporary file, for frames beyond the limit in memory.</summary>
internal unsafe interface ISpill : IDisposable
{
    /// <summary>The next <paramref name="bytes"/> of the file, which has blocks for them.</summary>
    /// <exception cref="StorageFullException">The disk has no room for more.</exception>
    byte* Allocate(int bytes);
}
