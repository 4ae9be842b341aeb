using Voron.IO;

namespace Voron.Simulation.Disks;

internal sealed unsafe class SimulatedFile(SimulatedDisk disk, SimulatedInode inode, string path, DiskAccess access)
    : DiskFile(path, access)
{
    private bool _disposed;

    public SimulatedInode Inode => inode;

    public override long Length
    {
        get
        {
            lock (disk.Gate)
            {
                Enter(DiskCallKind.Length);
                return inode.Content.Length;
            }
        }
    }

    public override void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        lock (disk.Gate)
        {
            Enter(DiskCallKind.SetLength, 0, length);
            var before = inode.Content.Length;
            if (length < before)
                inode.Content.Cut(length);
            inode.Content.Length = length;
            inode.ShowInMaps(length, Math.Max(0, before - length));
            disk.Append(new TraceEntry(TraceKind.SetLength) { File = inode.File, LengthBefore = before, LengthAfter = length });
        }
    }

    public override void Allocate(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        lock (disk.Gate)
        {
            Enter(DiskCallKind.Allocate, offset, length);
            if (length == 0)
                return;
            disk.TakeSpace(inode, offset, length);
            var before = inode.Content.Length;
            inode.Content.FillHoles(offset, length);
            inode.Content.Length = Math.Max(before, offset + length);
            disk.Append(new TraceEntry(TraceKind.Allocate)
            {
                File = inode.File,
                Offset = offset,
                Length = length,
                LengthBefore = before,
                LengthAfter = inode.Content.Length,
            });
        }
    }

    public override bool TryPunchHole(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        lock (disk.Gate)
        {
            Enter(DiskCallKind.Punch, offset, length);
            var zeros = Fragment.Zeros(offset, Math.Clamp(inode.Content.Length - offset, 0, length));
            foreach (var fragment in zeros)
                inode.Content.Apply(fragment);
            inode.ShowInMaps(offset, length);
            disk.Append(new TraceEntry(TraceKind.Punch) { File = inode.File, Offset = offset, Length = length, Fragments = zeros });
            return true;
        }
    }

    public override void Read(long offset, Span<byte> destination)
    {
        DiskRules.CheckRead(offset);
        lock (disk.Gate)
        {
            Enter(DiskCallKind.Read, offset, destination.Length);
            if (destination.Length > 0 && offset > inode.Content.Length - destination.Length)
                DiskRules.ThrowEndOfFile("read", Path, offset, destination.Length, inode.Content.Length);
            inode.Content.Read(offset, destination);
        }
    }

    public override void Write(long offset, ReadOnlySpan<byte> source)
    {
        fixed (byte* start = source)
            DiskRules.CheckWrite(Access, offset, start, source.Length);
        if (!DiskFault.SkipsWrite(inode.Name, offset, source.Length))
            Write(offset, source.Length, Fragment.Split(offset, source));
    }

    public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
    {
        foreach (ref readonly var block in blocks)
            DiskRules.CheckWrite(Access, offset, block.Address, checked((long)block.Length));
        var bytes = new List<byte>();
        foreach (ref readonly var block in blocks)
            bytes.AddRange(new ReadOnlySpan<byte>(block.Address, checked((int)block.Length)));
        Write(offset, bytes.Count, Fragment.Split(offset, System.Runtime.InteropServices.CollectionsMarshal.AsSpan(bytes)));
    }

    public override void Sync()
    {
        int begin;
        var entry = new TraceEntry(TraceKind.Sync) { File = inode.File };
        lock (disk.Gate)
        {
            if (DiskFault.SkipsSync(inode.Name, disk.HasHeader))
                return;
            try
            {
                Enter(DiskCallKind.Sync);
            }
            catch (DiskException)
            {
                disk.NoteFailedSync(inode);
                if (!DiskFault.TrustsSync(inode.Name))
                    throw;
            }
            begin = disk.Append(entry);
        }
        disk.InProgress?.Invoke(entry);
        lock (disk.Gate)
            disk.Append(new TraceEntry(TraceKind.SyncEnd) { File = inode.File, Begin = begin });
    }

    // The device may lose what it has in its cache, so the trace shows no write-back.
    public override bool TryWriteBack(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        lock (disk.Gate)
        {
            if (!disk.WritesBack)
                return false;
            try
            {
                Enter(DiskCallKind.WriteBack, offset, length);
            }
            catch (DiskException)
            {
                disk.NoteFailedSync(inode);
                if (!DiskFault.TrustsSync(inode.Name))
                    throw;
            }

            return true;
        }
    }

    // After a sync, only the remains of a failed one can still be pending: the device need not have them.
    public override void DropCache()
    {
        lock (disk.Gate)
        {
            if (inode.HasStuck)
                disk.DropStuck(inode);
        }
    }

    public override FileMap Map(long length)
    {
        DiskRules.CheckMappable(Access, Path, length);
        lock (disk.Gate)
        {
            Enter(DiskCallKind.Map, 0, length);
            if (length > inode.Content.Length)
                DiskRules.ThrowEndOfFile("map", Path, 0, length, inode.Content.Length);
            return new SimulatedMap(disk, inode, length);
        }
    }

    protected override void Dispose(bool disposing)
    {
        lock (disk.Gate)
        {
            if (_disposed || DiskFault.StaysOpen(inode.Name))
                return;
            _disposed = true;
            inode.Handles--;
            disk.DropWhenUnused(inode);
        }
    }

    private void Write(long offset, long length, List<Fragment> fragments)
    {
        int begin;
        TraceEntry entry;
        var through = Access == DiskAccess.WriteThrough;
        lock (disk.Gate)
        {
            var before = inode.Content.Length;
            entry = new TraceEntry(TraceKind.Write)
            {
                File = inode.File,
                Offset = offset,
                Length = length,
                LengthBefore = before,
                LengthAfter = length == 0 ? before : Math.Max(before, offset + length),
                WriteThrough = through && !DiskFault.CachesWrite(inode.Name),
                IsCached = through && !disk.IsUnbuffered,
                Fragments = fragments,
            };
            try
            {
                Enter(DiskCallKind.Write, offset, length);
                disk.TakeSpace(inode, offset, length);
            }
            catch (DiskException e) when (e.Error == DiskError.Failed)
            {
                disk.Append(entry with { Kind = TraceKind.WriteFailed });
                if (entry.IsCached)
                {
                    inode.HasStuck = true;
                    Show(entry);
                }

                throw;
            }

            begin = disk.Append(entry);
            Show(entry);
            if (!through)
                return;
            inode.BeginWrite(offset, length);
        }
        try
        {
            disk.InProgress?.Invoke(entry);
        }
        finally
        {
            lock (disk.Gate)
                inode.Writing.Remove((offset, offset + length));
        }
        if (!entry.WriteThrough)
            return;
        lock (disk.Gate)
            disk.Append(new TraceEntry(TraceKind.WriteEnd) { File = inode.File, Begin = begin });
    }

    private void Show(TraceEntry entry)
    {
        inode.Content.Length = entry.LengthAfter;
        foreach (var fragment in entry.Fragments)
            inode.Content.Apply(fragment);
        inode.ShowInMaps(entry.Offset, entry.Length);
    }

    private void Enter(DiskCallKind kind, long offset = 0, long length = 0)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        disk.Enter(kind, inode.Name, offset, length);
    }
}
