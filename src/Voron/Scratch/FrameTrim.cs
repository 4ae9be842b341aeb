using System.Diagnostics;

namespace Voron.Scratch;

/// <summary>The free memory of an allocator, taken out to find the chunks that are entirely free and can be returned to the system.</summary>
/// <remarks>
/// <code>
///   BeginTrim (writer held) ──▶ Run (no thread waits) ──▶ EndTrim (writer held)
/// </code>
/// All memory here is free: no version, no reader and none of the writer's lists refers to it, so no other thread touches it meanwhile. A frame
/// pinned by a reader is not free, and keeps its whole chunk. All managed memory that a trim needs is allocated before the allocator's lists are
/// emptied: a trim that failed halfway for lack of memory would lose every free frame.
/// </remarks>
internal sealed unsafe class FrameTrim
{
    private readonly int _pageSize;
    private readonly int _chunkBytes;
    private readonly nint[] _lists;
    private readonly ScratchChunk[] _chunks;
    private readonly ISpill? _spill;
    private readonly long[] _free;
    private readonly bool[] _goes;
    private bool _hasRun;

    /// <param name="lists">The heads of the free lists: for each extent class the warm one, then the cold one.</param>
    public FrameTrim(int pageSize, int chunkBytes, nint[] lists, ScratchChunk[] chunks, ISpill? spill)
    {
        _pageSize = pageSize;
        _chunkBytes = chunkBytes;
        _lists = lists;
        _chunks = chunks;
        _spill = spill;
        _free = new long[chunks.Length];
        _goes = new bool[chunks.Length];
        Kept = new nint[lists.Length / 2];
        Emptied = new List<ScratchChunk>(chunks.Length);
        Array.Sort(_chunks, (left, right) => left.Address.CompareTo(right.Address));
    }

    /// <summary>The remaining frames, as one list for each extent class, the warmest first.</summary>
    public nint[] Kept { get; }

    /// <summary>The chunks that no longer have memory.</summary>
    public List<ScratchChunk> Emptied { get; }

    /// <summary>Empties chunks that are entirely free, spilled ones first, but no more than <paramref name="excessBytes"/>.</summary>
    public void Run(long excessBytes)
    {
        Debug.Assert(!_hasRun, "A trim must run only once.");
        _hasRun = true;
        for (var i = 0; i < _lists.Length; i++)
        {
            for (var at = _lists[i]; at != 0; at = FreeFrames.Next(at))
                _free[IndexOf(at)] += (long)_pageSize << (i / 2);
        }

        foreach (var spilled in (ReadOnlySpan<bool>)[true, false])
        {
            for (var i = _chunks.Length - 1; i >= 0 && excessBytes >= _chunkBytes; i--)
            {
                if (_chunks[i].IsSpilled != spilled || _free[i] != _chunkBytes)
                    continue;
                _goes[i] = true;
                excessBytes -= _chunkBytes;
            }
        }

        Relink();
        for (var i = 0; i < _goes.Length; i++)
        {
            if (!_goes[i])
                continue;
            Emptied.Add(_chunks[i]);
            if (_chunks[i].IsSpilled)
                _spill!.Free((byte*)_chunks[i].Address);
            else
                ReleaseMemory(_chunks[i]);
        }
    }

    /// <summary>In debug builds, asserts that the frames have been examined.</summary>
    [Conditional("DEBUG")]
    public void AssertHasRun() => Debug.Assert(_hasRun, "A trim must run before its frames are taken back.");

    private static void ReleaseMemory(ScratchChunk chunk)
    {
        try
        {
            chunk.ReleaseMemory();
        }
        catch (InsufficientMemoryException)
        {
            // The system does not accept the memory: the chunk is empty, and is reused as it is.
        }
    }

    private void Relink()
    {
        for (var extentClass = 0; extentClass < Kept.Length; extentClass++)
        {
            nint last = 0;
            for (var list = 2 * extentClass; list < 2 * extentClass + 2; list++)
            {
                for (var at = _lists[list]; at != 0;)
                {
                    var next = FreeFrames.Next(at);
                    if (!_goes[IndexOf(at)])
                    {
                        if (last == 0)
                            Kept[extentClass] = at;
                        else
                            FreeFrames.SetNext(last, at);
                        last = at;
                    }

                    at = next;
                }
            }

            if (last != 0)
                FreeFrames.SetNext(last, 0);
        }
    }

    private int IndexOf(nint address)
    {
        int low = 0, high = _chunks.Length - 1;
        while (low < high)
        {
            var middle = (low + high + 1) / 2;
            if (_chunks[middle].Address <= address)
                low = middle;
            else
                high = middle - 1;
        }

        return low;
    }
}
