using System.Numerics;
using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>
/// A disk in memory that keeps no zeros: a store of a hundred gigabytes, most of it values of zeros, takes only the memory of its other
/// pages. Reads of ranges that have never held anything else touch no memory.
/// </summary>
/// <remarks>The engine still writes, reads, checks and frees every page: only the device is simulated.</remarks>
internal sealed class SparseDisk : IDisk
{
    private const int Block = 4096;

    // Also matches the name that the file has while it is being created.
    private const string DataFile = "voron.data";

    private readonly MemoryDisk _disk;
    private readonly long _mostBytes;

    // A bit for each block that has content. Several threads write at once.
    private readonly ulong[] _content;

    // The amounts written to the other files, by the current name of each.
    private readonly Dictionary<string, Written> _written = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();
    private long _contentBlocks;
    private long _otherBytes;
    private long _readBytes;

    /// <param name="mostBytes">The largest length of the data file.</param>
    public SparseDisk(long mostBytes)
    {
        _mostBytes = mostBytes;
        _disk = new MemoryDisk(mostBytes);
        _content = new ulong[(mostBytes / Block / 64) + 1];
    }

    /// <summary>
    /// True to make every change fail from now on, as if the process had lost its disk: the files are then as a kill would leave them.
    /// </summary>
    public bool IsCut { get; set; }

    /// <summary>The time that the device takes to free the blocks of a range.</summary>
    public TimeSpan PunchTime { get; init; }

    /// <summary>The memory that the content of all files takes.</summary>
    public long ResidentBytes => (Volatile.Read(ref _contentBlocks) * Block) + Volatile.Read(ref _otherBytes);

    /// <summary>The number of bytes of the data file that calls have read.</summary>
    public long ReadBytes => Volatile.Read(ref _readBytes);

    public string Path => "sparse";

    public int Alignment => _disk.Alignment;

    public bool IsReadOnly => false;

    public bool IsUnbuffered => true;

    public long VolumeBytes => _mostBytes;

    public IReadOnlyList<DiskEntry> List() => _disk.List();

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        ThrowIfCut("open");
        var file = _disk.Open(name, open, access);
        if (name.StartsWith(DataFile, StringComparison.Ordinal))
            return new SparseFile(this, file, null);
        lock (_gate)
        {
            if (!_written.TryGetValue(name, out var written))
                _written[name] = written = new Written();
            return new SparseFile(this, file, written);
        }
    }

    public DiskFile OpenTemporary(DiskAccess access) => TemporaryFile.Open(this, access);

    public void Rename(string source, string target)
    {
        ThrowIfCut("rename");
        _disk.Rename(source, target);
        lock (_gate)
        {
            if (_written.Remove(source, out var written))
                _written[target] = written;
        }
    }

    public void Delete(string name)
    {
        ThrowIfCut("delete");
        _disk.Delete(name);
        lock (_gate)
        {
            if (_written.Remove(name, out var written))
                SetWritten(written, 0);
        }
    }

    public void SyncDirectory() => ThrowIfCut("sync");

    public IDisposable Lock(string name, bool shared) => _disk.Lock(name, shared);

    /// <summary>Keeps the files, so that they can be opened again.</summary>
    public void Dispose()
    {
    }

    /// <summary>Frees the memory of the files.</summary>
    public void Release() => _disk.Dispose();

    private void ThrowIfCut(string operation)
    {
        if (IsCut)
            throw new DiskException(DiskError.Failed, operation, Path, "the disk is gone");
    }

    private void NoteWritten(Written file, long end)
    {
        lock (_gate)
            SetWritten(file, Math.Max(file.Bytes, end));
    }

    private void NoteLength(Written file, long length)
    {
        lock (_gate)
            SetWritten(file, Math.Min(file.Bytes, length));
    }

    private void SetWritten(Written file, long bytes)
    {
        _otherBytes += bytes - file.Bytes;
        file.Bytes = bytes;
    }

    private bool HasContent(long block) => (Volatile.Read(ref _content[block >> 6]) & (1UL << (int)block)) != 0;

    private void SetContent(long block)
    {
        var bit = 1UL << (int)block;
        if ((Interlocked.Or(ref _content[block >> 6], bit) & bit) == 0)
            Interlocked.Increment(ref _contentBlocks);
    }

    // Forgets the blocks from the first up to, but not including, the end.
    private void Forget(long first, long end)
    {
        for (var block = first; block < end;)
        {
            var next = Math.Min(end, (block | 63) + 1);
            var mask = (next - block == 64 ? ulong.MaxValue : (1UL << (int)(next - block)) - 1) << (int)block;
            var before = Interlocked.And(ref _content[block >> 6], ~mask);
            Interlocked.Add(ref _contentBlocks, -BitOperations.PopCount(before & mask));
            block = next;
        }
    }

    private bool IsZero(long offset, int length)
    {
        var end = ((offset + length - 1) / Block) + 1;
        for (var block = offset / Block; block < end; block++)
        {
            if ((block & 63) == 0 && end - block >= 64 && Volatile.Read(ref _content[block >> 6]) == 0)
                block += 63;
            else if (HasContent(block))
                return false;
        }
        return true;
    }

    /// <summary>The number of bytes written to a file, which is the memory that it takes.</summary>
    private sealed class Written
    {
        public long Bytes { get; set; }
    }

    /// <param name="written">Null for the data file, of which every block is tracked.</param>
    private unsafe sealed class SparseFile(SparseDisk disk, DiskFile file, Written? written) : DiskFile(file.Path, file.Access)
    {
        public override long Length => file.Length;

        public override void SetLength(long length)
        {
            disk.ThrowIfCut("set length");
            var before = file.Length;
            file.SetLength(length);
            if (written is not null)
                disk.NoteLength(written, length);
            else if (length < before)
                disk.Forget((length + Block - 1) / Block, (before + Block - 1) / Block);
        }

        public override void Allocate(long offset, long length)
        {
            disk.ThrowIfCut("allocate");
            file.Allocate(offset, length);
        }

        public override bool TryPunchHole(long offset, long length)
        {
            disk.ThrowIfCut("punch hole");
            if (disk.PunchTime > TimeSpan.Zero)
                Thread.Sleep(disk.PunchTime);
            if (!file.TryPunchHole(offset, length))
                return false;
            if (written is null)
                disk.Forget((offset + Block - 1) / Block, Math.Max((offset + Block - 1) / Block, (offset + length) / Block));
            return true;
        }

        public override void Read(long offset, Span<byte> destination)
        {
            if (written is null)
                Interlocked.Add(ref disk._readBytes, destination.Length);
            if (written is null && offset + destination.Length <= file.Length && disk.IsZero(offset, destination.Length))
                destination.Clear();
            else
                file.Read(offset, destination);
        }

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            disk.ThrowIfCut("write");
            if (written is not null)
            {
                disk.NoteWritten(written, offset + source.Length);
                file.Write(offset, source);
                return;
            }

            if (offset + source.Length > file.Length)
                file.Allocate(file.Length, offset + source.Length - file.Length);
            while (source.Length > 0)
            {
                var length = (int)Math.Min(source.Length, Block - (offset % Block));
                WriteBlock(offset, source[..length]);
                offset += length;
                source = source[length..];
            }
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            foreach (ref readonly var block in blocks)
            {
                Write(offset, new ReadOnlySpan<byte>(block.Address, checked((int)block.Length)));
                offset += (long)block.Length;
            }
        }

        public override void Sync() => disk.ThrowIfCut("sync");

        public override FileMap Map(long length) => file.Map(length);

        protected override void Dispose(bool disposing) => file.Dispose();

        private void WriteBlock(long offset, ReadOnlySpan<byte> source)
        {
            var block = offset / Block;
            if (!disk.HasContent(block) && source.IndexOfAnyExcept((byte)0) < 0)
                return;
            disk.SetContent(block);
            file.Write(offset, source);
        }
    }
}
