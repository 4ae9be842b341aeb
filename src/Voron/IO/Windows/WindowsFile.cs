using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>An open handle.</summary>
internal sealed unsafe class WindowsFile : SystemFile
{
    private readonly SafeFileHandle _handle;

    public WindowsFile(SafeFileHandle handle, string path, DiskAccess access, bool readOnly)
        : base(path, access, readOnly)
    {
        _handle = handle;
    }

    public override long Length => Try("length", () => RandomAccess.GetLength(_handle));

    protected override bool NeedsAlignment => Access != DiskAccess.Buffered;

    public override void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        DiskRules.CheckWritable(IsReadOnly, "set length", Path);
        Try("set length", () =>
        {
            RandomAccess.SetLength(_handle, length);
            return 0;
        });
    }

    /// <summary>A file that is not sparse has blocks for all of its length.</summary>
    public override void Allocate(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "allocate", Path);
        if (length > 0 && offset + length > Length)
            SetLength(offset + length);
    }

    public override bool TryPunchHole(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "punch hole", Path);
        return length == 0;
    }

    public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
    {
        foreach (ref readonly var block in blocks)
            DiskRules.CheckWrite(Access, offset, block.Address, checked((long)block.Length));
        DiskRules.CheckWritable(IsReadOnly, "write", Path);
        foreach (ref readonly var block in blocks)
        {
            WriteAll(offset, block.Address, (long)block.Length);
            offset += (long)block.Length;
        }
    }

    public override void Sync()
    {
        DiskRules.CheckWritable(IsReadOnly, "sync", Path);
        try
        {
            RandomAccess.FlushToDisk(_handle);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "sync", Path);
        }
    }

    public override FileMap Map(long length)
    {
        DiskRules.CheckMappable(Access, Path, length);
        long fileLength = Length;
        if (length > fileLength)
            DiskRules.ThrowEndOfFile("map", Path, 0, length, fileLength);
        return new WindowsMap(_handle, Path, length);
    }

    protected override nint ReadSome(long offset, byte* destination, nint length)
    {
        try
        {
            return RandomAccess.Read(_handle, new Span<byte>(destination, (int)length), offset);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "read", Path);
        }
    }

    protected override nint WriteSome(long offset, byte* source, nint length)
    {
        try
        {
            RandomAccess.Write(_handle, new ReadOnlySpan<byte>(source, (int)length), offset);
            return length;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "write", Path);
        }
    }

    protected override void Dispose(bool disposing) => _handle.Dispose();

    private T Try<T>(string operation, Func<T> action)
    {
        try
        {
            return action();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, operation, Path);
        }
    }
}
