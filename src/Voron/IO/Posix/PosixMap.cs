using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.Primitives;

namespace Voron.IO.Posix;

/// <summary>
/// A file mapped at the start of a larger reserved range, so that the map can be extended in place. There is no finalizer: spans
/// into the map can outlive this object.
/// </summary>
internal sealed unsafe class PosixMap : FileMap
{
    private const long MinReservation = 1L << 30;

    private static readonly long PageLength = Environment.SystemPageSize;

    // Protects the mapped range and the length. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly DiskFile _file;
    private readonly SafeFileHandle _handle;
    private readonly long _reserved;

    /// <summary>The end of the mapped range in bytes: <see cref="FileMap.Length"/> rounded up to whole memory pages.</summary>
    private long _mapped;
    private bool _disposed;

    public PosixMap(DiskFile file, SafeFileHandle handle, long length)
    {
        _file = file;
        _handle = handle;
        _reserved = Reserve(length);
        try
        {
            MapUpTo(length);
        }
        catch
        {
            Dispose(true);
            throw;
        }
    }

    public override bool TryExtend(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (length <= Length)
                return true;
            if (length > _reserved)
                return false;
            MapUpTo(length);
            return true;
        }
    }

    public override void Shrink(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            DiskRules.CheckLengthInMap(length, Length);
            Length = length;
            var end = DiskRules.RoundUp(length, PageLength);
            if (end == _mapped)
                return;
            if (!PosixMemory.TryHide(Address + end, (nuint)(_mapped - end)))
                Errno.Throw("shrink map", _file.Path, Marshal.GetLastPInvokeError());
            _mapped = end;
        }
    }

    protected override void Dispose(bool disposing)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed)
                return;
            _disposed = true;
            PosixMemory.Release(Address, (nuint)_reserved);
            Address = null;
            Length = 0;
        }
    }

    private long Reserve(long length)
    {
        var least = Math.Max(PageLength, DiskRules.RoundUp(length, PageLength));
        var wanted = Math.Max(least, DiskRules.RoundUp(Math.Max(MinReservation, checked(length * 8)), PageLength));
        while (true)
        {
            Address = EngineMemory.Allows((nuint)wanted) ? PosixMemory.TryReserve((nuint)wanted, (nuint)(wanted == least ? 0 : wanted)) : null;
            if (Address != null)
                return wanted;
            if (wanted == least)
                Errno.Throw("map", _file.Path, Marshal.GetLastPInvokeError());
            wanted = Math.Max(least, DiskRules.RoundUp(wanted / 2, PageLength));
        }
    }

    /// <summary>Extends the map up to a length. Pages that are already mapped stay as they are, so their readers notice nothing.</summary>
    private void MapUpTo(long length)
    {
        var fileLength = _file.Length;
        if (length > fileLength)
            DiskRules.ThrowEndOfFile("map", _file.Path, 0, length, fileLength);

        var end = DiskRules.RoundUp(length, PageLength);
        if (end > _mapped)
        {
            var start = Address + _mapped;
            var bytes = (nuint)(end - _mapped);
            if (!EngineMemory.Allows(bytes)
                || Libc.Map(start, bytes, Platform.ProtectRead, Platform.MapShared | Platform.MapFixed, _handle, _mapped) == -1)
            {
                var errno = Marshal.GetLastPInvokeError();

                // The failed call may have removed the reservation: reclaim the addresses before another map takes them.
                PosixMemory.TryHide(start, bytes);
                Errno.Throw("map", _file.Path, errno);
            }
            _mapped = end;
        }
        Length = length;
    }
}
