using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>Native memory to which every visible change of the file is copied.</summary>
internal sealed unsafe class SimulatedMap : FileMap
{
    private const long MaxSpoilt = 16 << 20;

    private readonly SimulatedDisk _disk;
    private readonly SimulatedInode _inode;
    private readonly MapMemory _memory;
    private readonly long _maxLength;
    private bool _disposed;

    public SimulatedMap(SimulatedDisk disk, SimulatedInode inode, long length)
    {
        _disk = disk;
        _inode = inode;
        _maxLength = length + disk.MapSlack;
        _memory = MapMemory.Take(_maxLength, disk.RecyclesMaps);
        try
        {
            _memory.EnsureCommitted(length);
        }
        catch
        {
            _memory.Dispose();
            throw;
        }
        Address = _memory.Address;
        Length = length;
        Show(0, length);
        inode.Maps.Add(this);
    }

    public override bool TryExtend(long length)
    {
        lock (_disk.Gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            _disk.Enter(DiskCallKind.ExtendMap, _inode.Name, 0, length);
            if (length <= Length)
                return true;
            if (length > _inode.Content.Length)
                DiskRules.ThrowEndOfFile("map", _inode.Name, 0, length, _inode.Content.Length);
            if (!_disk.ExtendableMaps || length > _maxLength)
                return false;
            _memory.EnsureCommitted(length);
            Show(Length, length - Length);
            Length = length;
            return true;
        }
    }

    public override void Shrink(long length)
    {
        lock (_disk.Gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            DiskRules.CheckLengthInMap(length, Length);

            // A reader that still accesses this range sees the damage; a map that grows again has the file's bytes.
            _memory.Spoil(length, (int)Math.Min(MaxSpoilt, Length - length));
            Length = length;
        }
    }

    /// <summary>Copies a range of the content into the map. The caller has limited the range to the map's length.</summary>
    public void Show(long offset, long length) => _memory.Show(_inode.Content, offset, length);

    protected override void Dispose(bool disposing)
    {
        lock (_disk.Gate)
        {
            if (_disposed)
                return;
            _disposed = true;
            _inode.Maps.Remove(this);
            _disk.DropWhenUnused(_inode);
            _memory.Dispose();
            Address = null;
            Length = 0;
        }
    }
}
