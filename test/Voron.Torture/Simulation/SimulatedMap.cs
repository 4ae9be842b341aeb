using Voron.IO;

namespace Voron.Torture.Simulation;

/// <summary>Native memory to which every visible change of the file is copied.</summary>
internal sealed unsafe class SimulatedMap : FileMap
{
    private const long MaxSpoilt = 16 << 20;

    private readonly SimulatedDisk _disk;
    private readonly SimulatedInode _inode;
    private readonly AddressSpace _memory;

    // Beyond this offset nothing has been copied into the memory: it holds zeros, and need not be touched for a block of zeros.
    private long _shown;
    private bool _disposed;

    public SimulatedMap(SimulatedDisk disk, SimulatedInode inode, long length)
    {
        _disk = disk;
        _inode = inode;
        _memory = AddressSpace.Reserve((nuint)(length + disk.MapSlack));
        try
        {
            _memory.EnsureCommitted((nuint)length);
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
            if (!_disk.ExtendableMaps || length > (long)_memory.Length)
                return false;
            _memory.EnsureCommitted((nuint)length);
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
            EngineMemory.Spoil(new Span<byte>(Address + length, (int)Math.Min(MaxSpoilt, Length - length)));
            _shown = Math.Max(_shown, Length);
            Length = length;
        }
    }

    /// <summary>Copies a range of the content into the map. The caller has limited the range to the map's length.</summary>
    public void Show(long offset, long length)
    {
        while (length > 0)
        {
            var part = (int)Math.Min(length, BlockContent.BlockSize - (offset % BlockContent.BlockSize));
            var block = _inode.Content.BlockAt(offset / BlockContent.BlockSize);
            if (offset < _shown || (block is not null && block != BlockContent.ZeroBlock))
                _inode.Content.Read(offset, new Span<byte>(Address + offset, part));
            offset += part;
            length -= part;
        }
        _shown = Math.Max(_shown, offset);
    }

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
