using Voron.IO;

namespace Voron.Paging;

/// <summary>
/// Keeps the system from reading ahead in a mapped file that is larger than the memory for it. A page that is missing would otherwise bring
/// its neighbours along, up to megabytes of them on some systems, and each of these takes the place of a page that is needed.
/// </summary>
/// <remarks>
/// Where the system does not read ahead, the engine says which bytes it will need next: those of a large value, and those that follow a leaf
/// that is next to the previous one. These are hints: they change no content, and the system may ignore them.
/// </remarks>
/// <param name="limitBytes">The length of a file from which on the system must not read ahead.</param>
internal sealed unsafe class ReadAhead(long limitBytes)
{
    /// <summary>The bytes that a scan asks for at a time. It asks for the next ones when it is halfway through.</summary>
    private const int WindowBytes = 512 << 10;

    private volatile bool _isOff;

    /// <summary>True if the system does not read ahead.</summary>
    public bool IsOff => _isOff;

    /// <summary>Notes the length of a map. Called again when the map has been extended or replaced.</summary>
    public void Cover(byte* map, long length)
    {
        if (length <= limitBytes)
            return;
        MemoryAdvice.ExpectRandomAccess(map, (nuint)length);
        _isOff = true;
    }

    /// <summary>Has a part of the map read in the background.</summary>
    public void Fetch(byte* address, long length)
    {
        if (_isOff)
            MemoryAdvice.Fetch(address, (nuint)length);
    }

    /// <summary>Has the pages behind one read in the background, once for each half of a window.</summary>
    /// <param name="map">The map.</param>
    /// <param name="page">A page that follows its neighbour.</param>
    /// <param name="step">1 if the scan goes towards higher pages, otherwise -1.</param>
    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="pageCount">The number of pages.</param>
    public void FetchBehind(byte* map, long page, int step, int pageSize, long pageCount)
    {
        var half = WindowBytes / 2 / pageSize;
        if (!_isOff || (page & (half - 1)) != 0)
            return;
        var first = Math.Max(0, step > 0 ? page : page - 2 * half + 1);
        var end = Math.Min(pageCount, first + 2 * half);
        MemoryAdvice.Fetch(map + first * pageSize, (nuint)((end - first) * pageSize));
    }
}
