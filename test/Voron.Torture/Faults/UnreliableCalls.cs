using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.IO;
using Voron.IO.Posix;

namespace Voron.Torture.Faults;

/// <summary>System calls with the effects that a system may have: interrupted by signals, and doing less than requested.</summary>
/// <remarks>Threads may call at the same time; the order of their calls then decides the outcome of each.</remarks>
internal sealed unsafe class UnreliableCalls(int seed) : PosixCalls
{
    private const int Alignment = 4096;

    private readonly Lock _gate = new();
    private readonly Random _random = new(seed);

    /// <summary>The number of calls that were interrupted before they did anything.</summary>
    public int Interrupted { get; private set; }

    /// <summary>The number of calls that did less than requested.</summary>
    public int Short { get; private set; }

    /// <summary>The error number with which the next write must fail, or 0.</summary>
    public int NextWriteError { get; set; }

    public override nint Read(SafeFileHandle handle, byte* buffer, nuint length, long offset) =>
        IsInterrupted() ? -1 : base.Read(handle, buffer, Shorten(length), offset);

    public override nint Write(SafeFileHandle handle, byte* buffer, nuint length, long offset) =>
        IsInterrupted() || Fails() ? -1 : base.Write(handle, buffer, Shorten(length), offset);

    public override nint WriteVectored(SafeFileHandle handle, IoBlock* blocks, int count, long offset)
    {
        if (IsInterrupted() || Fails())
            return -1;
        lock (_gate)
        {
            if (_random.Next(3) != 0)
                return base.WriteVectored(handle, blocks, count, offset);
            Short++;

            // Writes some of the blocks completely, or only a part of the first.
            var whole = _random.Next(count);
            if (whole > 0)
                return base.WriteVectored(handle, blocks, whole, offset);
        }
        return base.Write(handle, blocks[0].Address, Shorten(blocks[0].Length), offset);
    }

    public override int Truncate(SafeFileHandle handle, long length) => IsInterrupted() ? -1 : base.Truncate(handle, length);

    public override int Allocate(SafeFileHandle handle, int mode, long offset, long length) =>
        IsInterrupted() ? -1 : base.Allocate(handle, mode, offset, length);

    public override int Sync(SafeFileHandle handle) => IsInterrupted() ? -1 : base.Sync(handle);

    public override int SyncData(SafeFileHandle handle) => IsInterrupted() ? -1 : base.SyncData(handle);

    public override int WriteBack(SafeFileHandle handle, long offset, long length) =>
        IsInterrupted() ? -1 : base.WriteBack(handle, offset, length);

    private bool IsInterrupted()
    {
        lock (_gate)
        {
            if (_random.Next(4) != 0)
                return false;
            Interrupted++;
        }
        Marshal.SetLastPInvokeError(Errno.Interrupted);
        return true;
    }

    private bool Fails()
    {
        if (NextWriteError == 0)
            return false;
        Marshal.SetLastPInvokeError(NextWriteError);
        NextWriteError = 0;
        return true;
    }

    // An unbuffered transfer ends at a block of the device.
    private nuint Shorten(nuint length)
    {
        lock (_gate)
        {
            if (length <= 1 || _random.Next(3) != 0)
                return length;
            var shorter = length % Alignment == 0 && length > Alignment
                ? (nuint)_random.NextInt64(1, (long)length / Alignment) * Alignment
                : length % Alignment == 0 ? length : (nuint)_random.NextInt64(1, (long)length);
            Short += shorter < length ? 1 : 0;
            return shorter;
        }
    }
}
