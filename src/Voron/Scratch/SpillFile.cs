using System.Diagnostics;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Scratch;

/// <summary>
/// The temporary file for page versions beyond the memory limit. Created when first needed, and deleted with the environment. Large extents have
/// separate files.
/// </summary>
internal sealed unsafe class SpillFile : ISpill
{
    // Protects the lists of parts, which a trim uses concurrently with the holder of the writer. Comes before the locks of the file.
    private readonly Lock _lock = new();

    private readonly TemporaryFiles _files;
    private readonly List<SpillPart> _parts = [];
    private readonly Dictionary<nint, SpilledBlock> _extents = [];
    private readonly Stack<SpillPart> _free = new();
    private DiskFile? _file;
    private long _length;

    /// <param name="files">Creates the file; owned by the caller.</param>
    public SpillFile(TemporaryFiles files) => _files = files;

    public byte* Allocate(int bytes)
    {
        try
        {
            _file ??= _files.Open();
            using (Uninterrupted.Hold(_lock))
            {
                if (_free.TryPeek(out var free))
                {
                    // Its blocks were returned: without new ones, a write to the map ends the process when the disk is full.
                    _file.Allocate(free.Offset, bytes);
                    _free.Pop();
                    return free.Map.Address;
                }
            }

            _file.Allocate(_length, bytes);

            // Done first, and for returning the part too: nothing allocates memory once there is a map.
            using (Uninterrupted.Hold(_lock))
            {
                _free.EnsureCapacity(_parts.Count + 1);
                _parts.EnsureCapacity(_parts.Count + 1);
            }

            var map = _file.MapScratch(_length, bytes);

            // Pages are read back one at a time. Their neighbours would displace pages that are needed.
            MemoryAdvice.ExpectRandomAccess(map.Address, (nuint)bytes);
            using (Uninterrupted.Hold(_lock))
                _parts.Add(new SpillPart(map, _length, bytes));
            _length += bytes;
            return map.Address;
        }
        catch (DiskException e)
        {
            throw TemporaryFiles.Failure("Scratch memory is", e);
        }
    }

    public void Free(byte* chunk)
    {
        SpillPart part;
        using (Uninterrupted.Hold(_lock))
            part = PartAt(chunk);
        try
        {
            _file!.TryPunchHole(part.Offset, part.Bytes);
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            // The blocks stay, to be reused.
        }

        using (Uninterrupted.Hold(_lock))
            _free.Push(part);
    }

    public byte* AllocateExtent(long bytes)
    {
        try
        {
            // Made first: nothing may fail once there is a block.
            _extents.EnsureCapacity(_extents.Count + 1);
            var block = new SpilledBlock(_files, bytes);
            _extents.Add((nint)block.Address, block);
            return block.Address;
        }
        catch (DiskException e)
        {
            throw TemporaryFiles.Failure("Scratch memory is", e);
        }
    }

    public bool TryFreeExtent(byte* extent)
    {
        if (!_extents.Remove((nint)extent, out var block))
            return false;
        block.Dispose();
        return true;
    }

    public void Dispose()
    {
        foreach (var part in _parts)
            part.Map.Dispose();
        _parts.Clear();
        _free.Clear();
        _file?.Dispose();
        _file = null;
        foreach (var extent in _extents.Values)
            extent.Dispose();
        _extents.Clear();
    }

    // A loop, because it allocates no memory.
    private SpillPart PartAt(byte* chunk)
    {
        foreach (var part in _parts)
        {
            if (part.Map.Address == chunk)
                return part;
        }

        throw new UnreachableException("A chunk was returned that does not belong to the spill file.");
    }

    private sealed record SpillPart(ScratchMap Map, long Offset, int Bytes);
}
