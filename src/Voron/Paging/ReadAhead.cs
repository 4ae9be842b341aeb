using Voron.IO;

namespace Voron.Paging;

/// <summary>
/// Keeps the system from reading ahead in a mapped file that is larger than the memory for it. A missing page would otherwise bring in its
/// neighbours, up to megabytes of them on some systems, and each of these would displace a page that is needed.
/// </summary>
/// <remarks>
/// Where the system does not read ahead, the engine announces the bytes that it will need next: those of a large value, and those that follow a
/// leaf adjacent to the previous one. These are hints: they change no content, and the system may ignore them.
/// </remarks>
/// <param name="limitBytes">The length of a file from which on the system must not read ahead.</param>
internal sealed unsafe class ReadAhead(long limitBytes)
{
    /// <summary>The bytes that a scan requests at a time. It requests the next ones halfway through.</summary>
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

    /// <summary>Reads a part of the map in the background.</summary>
    public void Fetch(byte* address, long length)
    {
        if (_isOff)
            MemoryAdvice.Fetch(address, (nuint)length);
    }

    /// <summary>Reads the pages that follow one in the scan, in the background, once for each half of a window.</summary>
    /// <param name="map">The map.</param>
    /// <param name="page">A page adjacent to the previous one.</param>
    /// <param name="step">1 if the scan moves toward higher pages, otherwise -1.</param>
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
