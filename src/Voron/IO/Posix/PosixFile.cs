using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.Primitives;

namespace Voron.IO.Posix;

/// <summary>An open descriptor.</summary>
internal sealed unsafe class PosixFile : SystemFile
{
    /// <summary>IOV_MAX of Linux and macOS.</summary>
    private const int MaxBlocks = 1024;

    // Protects the change to buffered transfers, which one thread makes. Comes before the lock of the log, which records the change.
    private readonly Lock _gate = new();

    private readonly PosixVolume _volume;
    private readonly SafeFileHandle _handle;
    private readonly PosixCalls _calls;

    /// <summary>True while the descriptor has O_DIRECT, which it loses when the file system refuses an unbuffered transfer.</summary>
    private volatile bool _direct;

    /// <summary>Set after the length or the blocks changed: the next sync then covers all metadata, not only the part that reads need.</summary>
    private int _metadataChanged;

    public PosixFile(PosixVolume volume, SafeFileHandle handle, string path, DiskAccess access, bool readOnly, bool direct)
        : base(path, access, readOnly)
    {
        _volume = volume;
        _handle = handle;
        _calls = volume.Calls;
        _direct = direct;
    }

    public override long Length
    {
        get
        {
            var length = Libc.Seek(_handle, 0, Platform.SeekEnd);
            if (length < 0)
                Errno.Throw("length", Path, Marshal.GetLastPInvokeError());
            return length;
        }
    }

    /// <summary>The number of the descriptor, for a caller that keeps the file open.</summary>
    public nint Descriptor => _handle.DangerousGetHandle();

    protected override bool NeedsAlignment => _direct;

    public override void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        DiskRules.CheckWritable(IsReadOnly, "set length", Path);
        while (_calls.Truncate(_handle, length) != 0)
            Errno.ThrowUnlessInterrupted("set length", Path);
        Volatile.Write(ref _metadataChanged, 1);
    }

    public override void Allocate(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "allocate", Path);
        if (length == 0)
            return;
        if (Platform.IsMac || !TryAllocate(0, offset, length, "allocate"))
            GrowByWriting(offset + length);
        Volatile.Write(ref _metadataChanged, 1);
    }

    // Writes nothing within the current length: writing back bytes that were read there would undo another thread's write to the same range,
    // such as the flusher's. It is also unnecessary: where a file grows by writing and holes cannot be punched, the file has its blocks.
    private void GrowByWriting(long end)
    {
        var length = Length;
        if (end > length)
            AllocateByWriting(length, end - length);
    }

    public override bool TryPunchHole(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "punch hole", Path);
        if (length == 0)
            return true;
        if (Platform.IsMac || !TryAllocate(Platform.PunchHole, offset, length, "punch hole"))
            return false;
        Volatile.Write(ref _metadataChanged, 1);
        return true;
    }

    public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
    {
        foreach (ref readonly var block in blocks)
            DiskRules.CheckWrite(Access, offset, block.Address, checked((long)block.Length));
        DiskRules.CheckWritable(IsReadOnly, "write", Path);

        fixed (IoBlock* start = blocks)
        {
            for (var next = 0; next < blocks.Length;)
            {
                var count = CountForOneCall(start + next, blocks.Length - next);
                long written = count == 1 ? 0 : WriteSome(offset, start + next, count);
                offset += written;

                // Skips the blocks that are fully written; the rest of a partly written block is written in a separate call.
                while (count > 0 && written >= (long)start[next].Length)
                {
                    written -= (long)start[next++].Length;
                    count--;
                }
                if (count > 0)
                {
                    var left = (long)start[next].Length - written;
                    WriteAll(offset, start[next++].Address + written, left);
                    offset += left;
                }
            }
        }
        FinishWrite();
    }

    public override void Sync()
    {
        DiskRules.CheckWritable(IsReadOnly, "sync", Path);
        var metadata = Interlocked.Exchange(ref _metadataChanged, 0) != 0;
        while (!_volume.TrySync(_handle, metadata))
            Errno.ThrowUnlessInterrupted("sync", Path);
    }

    public override bool TryWriteBack(long offset, long length)
    {
        DiskRules.CheckRange(offset, length);
        DiskRules.CheckWritable(IsReadOnly, "write back", Path);
        if (!_volume.Kind.WritesBack)
            return false;
        while (_calls.WriteBack(_handle, offset, length) != 0)
        {
            // Any other error may be that of a device, which the system does not report again.
            if (Marshal.GetLastPInvokeError() == Errno.NoSystemCall)
                return false;
            Errno.ThrowUnlessInterrupted("write back", Path);
        }
        return true;
    }

    public override void DropCache()
    {
        // A hint: dirty or mapped pages stay.
        if (OperatingSystem.IsLinux())
            _ = Libc.AdviseFile(_handle, 0, 0, Platform.DontNeed);
    }

    public override FileMap Map(long length)
    {
        DiskRules.CheckMappable(Access, Path, length);
        return new PosixMap(this, _handle, length);
    }

    public override ScratchMap MapScratch(long offset, long length) => new PosixScratchMap(_handle, Path, offset, length);

    protected override nint ReadSome(long offset, byte* destination, nint length)
    {
        while (true)
        {
            var direct = _direct;
            var read = _calls.Read(_handle, destination, (nuint)length, offset);
            if (read >= 0)
                return read;
            RecoverOrThrow("read", direct);
        }
    }

    protected override nint WriteSome(long offset, byte* source, nint length)
    {
        while (true)
        {
            var direct = _direct;
            var written = _calls.Write(_handle, source, (nuint)length, offset);
            if (written > 0)
                return written;
            RecoverOrThrow("write", direct, written);
        }
    }

    protected override void FinishWrite()
    {
        if (Platform.IsMac && Access == DiskAccess.WriteThrough)
            Sync();
    }

    protected override void Dispose(bool disposing) => _handle.Dispose();

    private nint WriteSome(long offset, IoBlock* blocks, int count)
    {
        while (true)
        {
            var direct = _direct;
            var written = _calls.WriteVectored(_handle, blocks, count, offset);
            if (written > 0)
                return written;
            RecoverOrThrow("write", direct, written);
        }
    }

    private static int CountForOneCall(IoBlock* blocks, int available)
    {
        nuint bytes = 0;
        var count = 0;
        while (count < available && count < MaxBlocks && blocks[count].Length <= MaxTransfer - bytes)
            bytes += blocks[count++].Length;

        // All blocks are empty: there is nothing to transfer, and a call that transfers nothing looks like a failure.
        return bytes == 0 ? 1 : Math.Max(1, count);
    }

    private bool TryAllocate(int mode, long offset, long length, string operation)
    {
        while (_calls.Allocate(_handle, mode, offset, length) != 0)
        {
            var errno = Marshal.GetLastPInvokeError();
            if (Errno.IsUnsupported(errno))
                return false;
            if (errno != Errno.Interrupted)
                Errno.Throw(operation, Path, errno);
        }
        return true;
    }

    /// <summary>
    /// Returns if the caller must repeat the call that has just failed, because a signal interrupted it or unbuffered transfers were refused.
    /// </summary>
    private void RecoverOrThrow(string operation, bool wasDirect, nint result = -1)
    {
        var errno = Marshal.GetLastPInvokeError();
        if (result == 0)
            throw new DiskException(DiskError.Failed, operation, Path, "the system wrote nothing and gave no reason");
        if (errno == Errno.Interrupted)
            return;
        if (errno != Errno.Invalid || !wasDirect)
            Errno.Throw(operation, Path, errno);

        // The descriptor keeps O_DSYNC, so the repeated write is still durable when it returns.
        using (Uninterrupted.Hold(_gate))
        {
            if (!_direct)
                return;
            _volume.NoteNotUnbuffered($"{operation}: {Marshal.GetPInvokeErrorMessage(errno)}");
            if (!PosixVolume.TrySetDirect(_handle, false))
                Errno.Throw(operation, Path, Marshal.GetLastPInvokeError());
            _direct = false;
        }
    }
}
