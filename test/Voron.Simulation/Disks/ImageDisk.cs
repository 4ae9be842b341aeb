using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Paging;

namespace Voron.Simulation.Disks;

/// <summary>
/// A disk that begins with the bytes of given files and is created in microseconds, for many thousands of openings. Every write is durable
/// at once. The disk counts its changes, so that a test can check whether a failed opening made any.
/// </summary>
/// <remarks>A file has room for <see cref="FileRoom"/> bytes; beyond that, the disk is full.</remarks>
internal sealed unsafe class ImageDisk : IDisk
{
    public const int FileRoom = 4 << 20;

    // Fresh memory costs more than the rest of an opening: buffers are recycled, and only the used part of each is cleared. There are as
    // many as were ever in use at the same time.
    private static readonly ConcurrentBag<nint> Buffers = [];

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Content> _files = new(StringComparer.Ordinal);
    private readonly List<Content> _contents = [];
    private readonly LockTable<Content> _locks = new();
    private readonly bool _isLent;
    private readonly bool _isGuarded;

    /// <param name="files">The files that the disk has at the beginning.</param>
    /// <param name="isLent">True if the disk outlives the environment that is opened on it, until <see cref="Free"/>.</param>
    /// <param name="isGuarded">True if a read of a map beyond the end of its file ends the process, as with a real file.</param>
    public ImageDisk(StoreFiles files, bool isLent = false, bool isGuarded = false)
    {
        _isLent = isLent;
        _isGuarded = isGuarded && !OperatingSystem.IsWindows();
        foreach ((var name, var bytes) in files.All)
        {
            var content = Add(name);
            content.SetLength(name, bytes.Length);
            bytes.CopyTo(new Span<byte>(content.Bytes, bytes.Length));
        }
    }

    public string Path => "image";

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; set; }

    public bool IsUnbuffered => true;

    /// <summary>The number of calls that changed a byte, a length or a name.</summary>
    public long Changes { get; private set; }

    /// <summary>Called before each write, with the name of the file.</summary>
    public Action<string>? BeforeWrite { get; set; }

    /// <summary>Decides whether a read fails, by the name of the file, the offset and the number of bytes; null for never.</summary>
    public Func<string, long, int, bool>? FailsRead { get; set; }

    /// <summary>Returns a copy of the files in their current state.</summary>
    public StoreFiles Copy()
    {
        lock (_gate)
        {
            return new StoreFiles(_files.Select(file =>
                new KeyValuePair<string, byte[]>(file.Key, new ReadOnlySpan<byte>(file.Value.Bytes, (int)file.Value.Length).ToArray())));
        }
    }

    /// <summary>Returns the bytes of a file, to be damaged while the file is not open.</summary>
    public Span<byte> Bytes(string name) => new(_files[name].Bytes, (int)_files[name].Length);

    /// <summary>Gives a file other bytes, while the file is not open.</summary>
    public void Replace(string name, ReadOnlySpan<byte> bytes)
    {
        _files[name].SetLength(name, bytes.Length);
        bytes.CopyTo(Bytes(name));
    }

    public IReadOnlyList<DiskEntry> List()
    {
        lock (_gate)
            return [.. _files.Select(file => new DiskEntry(file.Key, file.Value.Length))];
    }

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        DiskRules.CheckName(name);
        lock (_gate)
        {
            var exists = _files.TryGetValue(name, out var content);
            if (open == DiskOpen.New)
            {
                if (exists)
                    throw new DiskException(DiskError.AlreadyExists, "create", PathOf(name), "there is a file of that name");
                Change();
                content = Add(name);
            }
            else if (!exists)
            {
                throw NotFound("open", name);
            }
            return new ImageFile(this, content!, name, access);
        }
    }

    public DiskFile OpenTemporary(DiskAccess access) => TemporaryFile.Open(this, access);

    public void Rename(string source, string target)
    {
        lock (_gate)
        {
            if (!_files.TryGetValue(source, out var content))
                throw NotFound("rename", source);
            if (_files.ContainsKey(target))
                throw new DiskException(DiskError.AlreadyExists, "rename", PathOf(source), $"there is a file '{target}'");
            Change();
            _files.Remove(source);
            _files[target] = content;
        }
    }

    public void Delete(string name)
    {
        lock (_gate)
        {
            if (!_files.Remove(name))
                throw NotFound("delete", name);
            Change();
        }
    }

    public void SyncDirectory()
    {
    }

    public IDisposable Lock(string name, bool shared)
    {
        lock (_gate)
            return _locks.Take(_files.TryGetValue(name, out var content) ? content : throw NotFound("lock", name), shared, PathOf(name));
    }

    public void Dispose()
    {
        if (!_isLent)
            Free();
    }

    /// <summary>Frees the memory.</summary>
    public void Free()
    {
        lock (_gate)
        {
            foreach (var content in _contents)
                content.Free();
            _contents.Clear();
            _files.Clear();
        }
    }

    private Content Add(string name)
    {
        // Only the data file is mapped.
        var content = new Content(_isGuarded && name.StartsWith(DataFile.FileName, StringComparison.Ordinal));
        _files[name] = content;
        _contents.Add(content);
        return content;
    }

    private void Change()
    {
        if (IsReadOnly)
            throw new Harness.BrokenPromiseException("A disk that is open for reading only is changed.");
        Changes++;
    }

    private string PathOf(string name) => $"{Path}/{name}";

    private DiskException NotFound(string operation, string name) =>
        new(DiskError.NotFound, operation, PathOf(name), "there is no such file");

    /// <summary>The memory of a file: zeros beyond its length.</summary>
    private sealed class Content(bool isGuarded)
    {
        private long _touched;

        public byte* Bytes { get; private set; } = Take();

        public long Length { get; private set; }

        public void SetLength(string path, long length)
        {
            if (length > FileRoom)
                throw new DiskException(DiskError.NoSpace, "extend", path, $"there is room for {FileRoom} bytes");
            if (length < Length)
                NativeMemory.Clear(Bytes + length, (nuint)(Length - length));
            Length = length;
            _touched = Math.Max(_touched, length);
            if (isGuarded)
                Guard(length);
        }

        public void Free()
        {
            if (isGuarded)
                Guard(FileRoom);
            NativeMemory.Clear(Bytes, (nuint)_touched);
            Buffers.Add((nint)Bytes);
            Bytes = null;
        }

        private void Guard(long from)
        {
            var open = DiskRules.RoundUp(from, DiskRules.Alignment);
            Protect(Bytes, open, Platform.ProtectReadWrite);
            Protect(Bytes + open, FileRoom - open, Platform.ProtectNone);
        }

        private static void Protect(byte* address, long length, int protection)
        {
            if (length > 0 && Libc.Protect(address, (nuint)length, protection) != 0)
                throw new Harness.TortureException("Memory cannot be protected.");
        }

        private static byte* Take()
        {
            if (Buffers.TryTake(out var buffer))
                return (byte*)buffer;
            // The system zeroes this memory at the first access, so it is not touched here.
            var bytes = (nint)NativeMemory.AllocZeroed(FileRoom + DiskRules.Alignment);
            return (byte*)((bytes + DiskRules.Alignment - 1) & -DiskRules.Alignment);
        }
    }

    private sealed class ImageFile(ImageDisk disk, Content content, string name, DiskAccess access) : DiskFile(disk.PathOf(name), access)
    {
        public override long Length
        {
            get
            {
                lock (disk._gate)
                    return content.Length;
            }
        }

        public override void SetLength(long length)
        {
            lock (disk._gate)
            {
                disk.Change();
                content.SetLength(Path, length);
            }
        }

        public override void Allocate(long offset, long length)
        {
            DiskRules.CheckRange(offset, length);
            lock (disk._gate)
            {
                if (offset + length <= content.Length)
                    return;
                disk.Change();
                content.SetLength(Path, offset + length);
            }
        }

        public override bool TryPunchHole(long offset, long length)
        {
            DiskRules.CheckRange(offset, length);
            lock (disk._gate)
            {
                disk.Change();
                if (offset < content.Length)
                    NativeMemory.Clear(content.Bytes + offset, (nuint)Math.Min(length, content.Length - offset));
            }
            return true;
        }

        public override void Read(long offset, Span<byte> destination)
        {
            DiskRules.CheckRead(offset);
            if (disk.FailsRead?.Invoke(name, offset, destination.Length) == true)
                throw new DiskException(DiskError.Failed, "read", Path, $"the device cannot read a block from offset {offset} on");
            lock (disk._gate)
            {
                if (offset > content.Length - destination.Length)
                    DiskRules.ThrowEndOfFile("read", Path, offset, destination.Length, content.Length);
                new ReadOnlySpan<byte>(content.Bytes + offset, destination.Length).CopyTo(destination);
            }
        }

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            fixed (byte* start = source)
                Write(offset, start, source.Length);
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            foreach (ref readonly var block in blocks)
            {
                Write(offset, block.Address, (long)block.Length);
                offset += (long)block.Length;
            }
        }

        public override void Sync()
        {
        }

        public override FileMap Map(long length)
        {
            DiskRules.CheckMappable(Access, Path, length);
            if (length > Length)
                DiskRules.ThrowEndOfFile("map", Path, 0, length, Length);
            return new ImageMap(content, length);
        }

        protected override void Dispose(bool disposing)
        {
        }

        private void Write(long offset, byte* source, long length)
        {
            DiskRules.CheckWrite(Access, offset, source, length);
            disk.BeforeWrite?.Invoke(name);
            lock (disk._gate)
            {
                disk.Change();
                if (offset + length > content.Length)
                    content.SetLength(Path, offset + length);
                Buffer.MemoryCopy(source, content.Bytes + offset, length, length);
            }
        }
    }

    private sealed class ImageMap : FileMap
    {
        private readonly Content _content;

        public ImageMap(Content content, long length)
        {
            _content = content;
            Address = content.Bytes;
            Length = length;
        }

        public override bool TryExtend(long length)
        {
            Length = Math.Max(Length, Math.Min(length, _content.Length));
            return length <= Length;
        }

        public override void Shrink(long length) => Length = length;

        protected override void Dispose(bool disposing)
        {
        }
    }
}
