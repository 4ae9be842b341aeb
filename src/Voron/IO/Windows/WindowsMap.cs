using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.Primitives;

namespace Voron.IO.Windows;

/// <summary>
/// A file mapped view by view at the start of a larger reserved range, so that the map can be extended in place. There is no
/// finalizer: spans into the map can outlive this object.
/// </summary>
/// <remarks>
/// A view cannot replace a part of a reservation, so the reservation after the map is released before a view is mapped there, and
/// the rest is reserved again. Another thread may take the addresses in between: the result is then no view, never a wrong one, and the
/// map cannot be extended. A view begins at a multiple of 64 KiB, so a map of a file that ended within such a unit cannot be extended
/// either. While any view exists, the system refuses to truncate the file.
/// </remarks>
internal sealed unsafe class WindowsMap : FileMap
{
    private const uint PageReadOnly = 0x02;
    private const uint FileMapRead = 0x04;

    /// <summary>ERROR_INVALID_ADDRESS: the addresses are taken.</summary>
    private const int AddressTaken = 487;

    private const long MinReservation = 1L << 30;

    /// <summary>In bytes: the system's granularity of view addresses and offsets.</summary>
    private const long Unit = 64 << 10;

    private static readonly long PageLength = Environment.SystemPageSize;

    // Protects the views, the reservation and the length. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly DiskFile _file;
    private readonly SafeFileHandle _handle;

    /// <summary>The views from the first to the last, each with the offset of its first byte.</summary>
    private readonly List<(nint Address, long Offset)> _views = [];

    /// <summary>In bytes from <see cref="FileMap.Address"/>: the end of the last view, in whole memory pages.</summary>
    private long _mapped;

    /// <summary>In bytes from <see cref="FileMap.Address"/>: the end of the reservation that begins with the first unit after the views.</summary>
    private long _reserved;
    private bool _disposed;

    public WindowsMap(DiskFile file, SafeFileHandle handle, long length)
    {
        _file = file;
        _handle = handle;
        try
        {
            Reserve(length);
            if (length > 0 && !TryMapTo(length))
                MapAnywhere(length);
            Length = length;
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
            CheckFileLength(length);
            if (length > _mapped && !TryMapTo(length))
                return false;
            Length = length;
            return true;
        }
    }

    /// <summary>Unmaps the views that are entirely beyond the new end. A view that contains the new end stays.</summary>
    public override void Shrink(long length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            DiskRules.CheckLengthInMap(length, Length);
            Length = length;
            ReleaseRest();
            while (_views.Count > 0 && _views[^1].Offset >= length)
            {
                Unmap(_views[^1].Address);
                _mapped = _views[^1].Offset;
                _views.RemoveAt(_views.Count - 1);
            }
            ReserveRest(_reserved);
        }
    }

    protected override void Dispose(bool disposing)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed)
                return;
            _disposed = true;
            foreach (var (address, _) in _views)
                Unmap(address);
            ReleaseRest();
            Address = null;
            Length = 0;
        }
    }

    private void Reserve(long length)
    {
        var least = Math.Max(Unit, DiskRules.RoundUp(length, Unit));
        var wanted = Math.Max(least, DiskRules.RoundUp(Math.Max(MinReservation, checked(length * 8)), Unit));
        while (true)
        {
            Address = EngineMemory.Allows((nuint)wanted) ? WindowsMemory.TryReserve((nuint)wanted) : null;
            if (Address != null)
            {
                _reserved = wanted;
                return;
            }
            if (wanted == least)
                throw Failed();
            wanted = Math.Max(least, DiskRules.RoundUp(wanted / 2, Unit));
        }
    }

    /// <summary>Adds a view after the others. Returns false when there is no space for it.</summary>
    private bool TryMapTo(long length)
    {
        if (length > _reserved || _mapped % Unit != 0)
            return false;

        // Map up to the end of a unit if the file is long enough, so that the next view can begin there.
        var end = Math.Min(CheckFileLength(length), DiskRules.RoundUp(length, Unit));
        var wasReserved = _reserved;
        ReleaseRest();
        try
        {
            return MapView(Address + _mapped, end);
        }
        finally
        {
            ReserveRest(wasReserved);
        }
    }

    /// <summary>Maps the first view at an address of the system's choice, without space after it.</summary>
    private void MapAnywhere(long length)
    {
        ReleaseRest();
        Address = null;
        _reserved = 0;
        MapView(null, length);
        _reserved = DiskRules.RoundUp(_mapped, Unit);
    }

    private bool MapView(byte* at, long end)
    {
        var bytes = (nuint)(end - _mapped);
        if (!EngineMemory.Allows(bytes))
            throw Failed();
        var section = Kernel32.CreateFileMapping(_handle, null, PageReadOnly, (uint)(end >> 32), (uint)end, null);
        if (section == 0)
            throw Failed();
        try
        {
            // The view keeps the section alive after its handle is closed.
            var view = (byte*)Kernel32.MapViewOfFileAt(section, FileMapRead, (uint)(_mapped >> 32), (uint)_mapped, bytes, at);
            if (view == null)
            {
                return at != null && Marshal.GetLastPInvokeError() == AddressTaken ? false : throw Failed();
            }
            if (at == null)
                Address = view;
            _views.Add(((nint)view, _mapped));
            _mapped = DiskRules.RoundUp(end, PageLength);
            return true;
        }
        finally
        {
            Kernel32.CloseHandle(section);
        }
    }

    private long CheckFileLength(long length)
    {
        var fileLength = _file.Length;
        if (length > fileLength)
            DiskRules.ThrowEndOfFile("map", _file.Path, 0, length, fileLength);
        return fileLength;
    }

    private void ReleaseRest()
    {
        var start = DiskRules.RoundUp(_mapped, Unit);
        if (_reserved > start)
            WindowsMemory.Release(Address + start, (nuint)(_reserved - start));
    }

    /// <summary>Reserves the addresses after the views up to <paramref name="end"/>, or none if another thread took them first.</summary>
    private void ReserveRest(long end)
    {
        var start = DiskRules.RoundUp(_mapped, Unit);
        var isReserved = end > start && WindowsMemory.TryReserve(Address + start, (nuint)(end - start));
        _reserved = isReserved ? end : start;
    }

    private static void Unmap(nint view)
    {
        var unmapped = Kernel32.UnmapViewOfFile((void*)view);
        Debug.Assert(unmapped, "UnmapViewOfFile failed.");
    }

    private DiskException Failed()
    {
        var error = Marshal.GetLastPInvokeError();
        return SystemErrors.From(new IOException(new Win32Exception(error).Message, unchecked((int)0x80070000) | error), "map", _file.Path);
    }
}
