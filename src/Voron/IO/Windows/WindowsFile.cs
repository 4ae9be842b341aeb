using System.ComponentModel;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>An open handle.</summary>
/// <remarks>
/// A write-through write is an unbuffered write followed by a flush. The system's own write-through flag only asks the device to write that one
/// request through, which many devices do not do.
/// </remarks>
internal sealed unsafe class WindowsFile : SystemFile
{
    public const uint SetSparse = 0x000900C4;
    public const uint SetZeroData = 0x000980C8;
    public const uint QueryAllocatedRanges = 0x000940CF;

    private const int InvalidFunction = 1;
    private const int NotSupported = 50;
    private const int CallNotImplemented = 120;
    private const int InvalidParameter = 87;
    private const int MoreData = 234;
    private const int UserMappedFile = 1224;

    /// <summary>The maximum number of ranges that one call returns, each an offset and a length.</summary>
    private const int RangesOfCall = 64;

    private readonly SafeFileHandle _handle;
    private readonly WindowsCalls _calls;

    /// <summary>True if the file may have holes; it then stays true. A file that is not sparse has blocks for its entire length.</summary>
    private volatile bool _isSparse;

    public WindowsFile(SafeFileHandle handle, string path, DiskAccess access, bool readOnly, WindowsCalls? calls = null)
        : base(path, access, readOnly)
    {
        _handle = handle;
        _calls = calls ?? WindowsCalls.OfSystem;
        _isSparse = Try("open", () => _calls.IsSparse(_handle));
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

    public override void Allocate(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "allocate", Path);
        if (length == 0)
            return;
        if (_isSparse)
            FillHoles(offset, offset + length);
        else if (offset + length > Length)
            SetLength(offset + length);
    }

    public override bool TryPunchHole(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "punch hole", Path);
        if (length == 0)
            return true;
        if (!_isSparse)
        {
            if (!TryControl("punch hole", SetSparse, []))
                return false;
            _isSparse = true;
        }

        // Punch nothing beyond the end: that would not move the end, but it would not be refused either.
        var end = Math.Min(offset + length, Length);
        return offset >= end || TryControl("punch hole", SetZeroData, [offset, end]);
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
        FinishWrite();
    }

    public override void Sync()
    {
        DiskRules.CheckWritable(IsReadOnly, "sync", Path);
        try
        {
            _calls.Flush(_handle);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "sync", Path);
        }
    }

    public override FileMap Map(long length)
    {
        DiskRules.CheckMappable(Access, Path, length);
        var fileLength = Length;
        if (length > fileLength)
            DiskRules.ThrowEndOfFile("map", Path, 0, length, fileLength);
        return new WindowsMap(this, _handle, length);
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

    protected override void FinishWrite()
    {
        if (Access == DiskAccess.WriteThrough)
            Sync();
    }

    protected override void Dispose(bool disposing) => _handle.Dispose();

    /// <summary>
    /// Writes zeros to the parts of a range of a sparse file that have no blocks. On a file system that cannot report these parts, it rewrites
    /// the rest of the range, each block with its current bytes.
    /// </summary>
    private void FillHoles(long offset, long end)
    {
        Span<long> ranges = stackalloc long[2 * RangesOfCall];
        var at = offset;
        while (at < end)
        {
            var error = _calls.Control(_handle, QueryAllocatedRanges, [at, end - at], ranges, out var returnedBytes);
            if (IsUnsupported(error))
            {
                AllocateByWriting(at, end - at);
                return;
            }

            if (error != 0 && (error != MoreData || returnedBytes == 0))
                throw Failed(error, "allocate");
            var found = ranges[..(returnedBytes / sizeof(long))];
            for (var i = 0; i < found.Length; i += 2)
            {
                if (found[i] > at)
                    AllocateByWriting(at, found[i] - at);
                at = Math.Max(at, found[i] + found[i + 1]);
            }

            // All allocated ranges are known now, and a hole follows the last one.
            if (error == 0 && at < end)
            {
                AllocateByWriting(at, end - at);
                return;
            }
        }
    }

    /// <summary>Returns false when the file system does not support the call, or refuses it while the file is mapped.</summary>
    private bool TryControl(string operation, uint code, ReadOnlySpan<long> input)
    {
        var error = _calls.Control(_handle, code, input, [], out _);
        return error switch
        {
            0 => true,
            _ when IsUnsupported(error) => false,
            _ => throw Failed(error, operation),
        };
    }

    private static bool IsUnsupported(int error) =>
        error is InvalidFunction or NotSupported or CallNotImplemented or InvalidParameter or UserMappedFile;

    private DiskException Failed(int error, string operation) =>
        SystemErrors.From(new IOException(new Win32Exception(error).Message, unchecked((int)0x80070000) | error), operation, Path);

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
