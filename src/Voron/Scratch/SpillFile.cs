using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Scratch;

/// <summary>
/// The temporary file for page versions beyond the memory limit. Created when first needed, and gone with the environment.
/// </summary>
internal sealed unsafe class SpillFile : ISpill
{
    // Protects the lists of parts, which a trim uses beside the holder of the writer. Comes before the locks of the file.
    private readonly Lock _lock = new();

    private readonly Func<IDisk>? _openDisk;
    private IDisk? _disk;
    private readonly List<SpillPart> _parts = [];
    private readonly Stack<SpillPart> _free = new();
    private DiskFile? _file;
    private long _length;

    public SpillFile(IDisk disk) => _disk = disk;

    private SpillFile(Func<IDisk> openDisk) => _openDisk = openDisk;

    /// <summary>
    /// Creates the spill file of an environment that is only read, in whose directory the engine must not create files: it lies in the system's
    /// directory for temporary files.
    /// </summary>
    public static SpillFile ForReader(ILogger logger) => new(() => FileSystemDisk.Open(Path.GetTempPath(), readOnly: false, logger));

    public byte* Allocate(int bytes)
    {
        try
        {
            _disk ??= _openDisk!();
            _file ??= _disk.OpenTemporary();
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
            using (Uninterrupted.Hold(_lock))
                _parts.Add(new SpillPart(map, _length, bytes));
            _length += bytes;
            return map.Address;
        }
        catch (DiskException e) when (e.Error == DiskError.NoSpace)
        {
            throw new StorageFullException($"Scratch memory is over its limit, and the disk has no room for its spill file: {e.Message}", e);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Scratch memory is over its limit, and cannot be moved to a spill file: {e.Message}", e);
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

    public void Dispose()
    {
        foreach (var part in _parts)
            part.Map.Dispose();
        _parts.Clear();
        _free.Clear();
        _file?.Dispose();
        _file = null;
        if (_openDisk != null)
            _disk?.Dispose();
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
