namespace Voron.IO;

/// <summary>A handle to a file in memory.</summary>
internal sealed unsafe class MemoryFile : DiskFile
{
    private readonly MemoryContent _content;
    private int _disposed;

    public MemoryFile(MemoryContent content, string path, DiskAccess access)
        : base(path, access)
    {
        content.AddReference();
        _content = content;
    }

    public override long Length => Content.Length;

    private MemoryContent Content
    {
        get
        {
            ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
            return _content;
        }
    }

    public override void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        Content.SetLength(length);
    }

    public override void Allocate(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        if (length > 0)
            Content.EnsureLength(offset + length);
    }

    public override bool TryPunchHole(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        Content.Punch(offset, length);
        return true;
    }

    public override void Read(long offset, Span<byte> destination)
    {
        DiskRules.CheckRead(offset);
        Content.Read(offset, destination);
    }

    public override void Write(long offset, ReadOnlySpan<byte> source)
    {
        fixed (byte* start = source)
        {
            DiskRules.CheckWrite(Access, offset, start, source.Length);
            Content.Write(offset, start, source.Length);
        }
    }

    public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
    {
        foreach (ref readonly var block in blocks)
            DiskRules.CheckWrite(Access, offset, block.Address, checked((long)block.Length));
        foreach (ref readonly var block in blocks)
        {
            Content.Write(offset, block.Address, (long)block.Length);
            offset += (long)block.Length;
        }
    }

    public override void Sync() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);

    public override FileMap Map(long length)
    {
        DiskRules.CheckMappable(Access, Path, length);
        return Content.Map(length);
    }

    protected override void Dispose(bool disposing)
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            _content.Release();
    }
}
