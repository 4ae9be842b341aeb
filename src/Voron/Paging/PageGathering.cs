using System.Diagnostics;
using Voron.IO;

namespace Voron.Paging;

/// <summary>Gathers frames of adjacent pages, to write them to the data file in one call.</summary>
/// <param name="file">The data file.</param>
/// <param name="blocks">Memory for the frames; its length limits their number.</param>
/// <param name="enoughBytes">No frame is added to that many bytes.</param>
internal unsafe ref struct PageGathering(DataFile file, Span<IoBlock> blocks, long enoughBytes = PageGathering.MaxBytes)
{
    /// <summary>The maximum number of frames per call: a system call for each 256 pages is negligible compared with the write.</summary>
    public const int MaxBlocks = 256;

    // More bytes in a call than the device needs to run at full speed would only delay the writes of others.
    private const long MaxBytes = 4 << 20;

    private readonly DataFile _file = file;
    private readonly Span<IoBlock> _blocks = blocks;
    private int _count;

    /// <summary>The page after the last one added, even after it has been written; -1 before the first.</summary>
    public long Next { get; private set; } = -1;

    /// <summary>The number of bytes of the frames.</summary>
    public long Bytes { get; private set; }

    /// <summary>Adds a page, or an extent, if it follows the gathered ones and there is space.</summary>
    public bool TryAdd(long page, byte* frame, int pages)
    {
        if (_count > 0 && (page != Next || _count == _blocks.Length || Bytes >= enoughBytes))
            return false;
        var bytes = (long)pages * _file.PageSize;
        _blocks[_count++] = new IoBlock(frame, (nuint)bytes);
        Bytes += bytes;
        Next = page + pages;
        return true;
    }

    /// <summary>Writes the frames. They are durable after a sync.</summary>
    /// <exception cref="DiskException">The write failed.</exception>
    public void Write()
    {
        Debug.Assert(_count > 0, "There must be frames to write.");
        _file.File.WriteVectored(Next * _file.PageSize - Bytes, _blocks[.._count]);
        _count = 0;
        Bytes = 0;
    }
}
