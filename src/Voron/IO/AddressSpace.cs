using Voron.IO.Posix;
using Voron.IO.Windows;
using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// A reserved range of addresses whose memory is committed from its start as needed, so that it grows without moving. New memory reads as zeros.
/// Reserving costs only addresses. There is no finalizer: the holder of the pointers decides when to release the range.
/// </summary>
internal sealed unsafe class AddressSpace : IDisposable
{
    /// <summary>In bytes: memory is committed in steps of this size, so that most calls find it already committed.</summary>
    private const nuint CommitStep = 1 << 20;

    private static readonly nuint PageLength = AddressReservation.PageLength;

    // Protects the committed length and the release of the range. Comes before the lock of the reservation.
    private readonly Lock _gate = new();

    private readonly AddressReservation _reservation;
    private nuint _committed;
    private bool _disposed;

    private AddressSpace(AddressReservation reservation, byte* address, nuint length)
    {
        _reservation = reservation;
        Address = address;
        Length = length;
        if (address < reservation.CommittedEnd)
            _committed = Math.Min(length, (nuint)(reservation.CommittedEnd - address));
    }

    /// <summary>The address of the first byte; it stays the same until the range is disposed.</summary>
    public byte* Address { get; private set; }

    /// <summary>The number of reserved bytes.</summary>
    public nuint Length { get; }

    /// <summary>The number of bytes from <see cref="Address"/> on that may be touched.</summary>
    public nuint Committed => Volatile.Read(ref _committed);

    /// <summary>Reserves at least <paramref name="bytes"/>.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <param name="within">The reservation to take them from if it has space for them; null to reserve them.</param>
    /// <exception cref="InsufficientMemoryException">There are not enough contiguous addresses.</exception>
    public static AddressSpace Reserve(nuint bytes, AddressReservation? within = null)
    {
        var length = AddressReservation.RoundUp(Math.Max(bytes, 1));
        var part = within == null ? null : within.TryTake(length);
        if (part != null)
            return new AddressSpace(within!, part, length);
        using var own = AddressReservation.TryReserve(length + AddressReservation.Edge)
            ?? throw new InsufficientMemoryException($"The process has no {length} bytes of contiguous addresses left to reserve.");
        return new AddressSpace(own, own.TryTake(length), length);
    }

    /// <summary>Makes the first <paramref name="length"/> bytes usable. They stay usable.</summary>
    /// <exception cref="InsufficientMemoryException">The system does not have enough memory, or limits it.</exception>
    public void EnsureCommitted(nuint length)
    {
        if (length <= Volatile.Read(ref _committed))
            return;
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length);
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (length <= _committed)
                return;
            var end = Math.Min(RoundUp(length, CommitStep), Length);
            var start = Address + _committed;
            var bytes = end - _committed;
            if (!AddressReservation.TryCommit(start, bytes))
                throw new InsufficientMemoryException($"There is no memory for {bytes} bytes in addition to the {_committed} in use.");
            Volatile.Write(ref _committed, end);
        }
    }

    /// <summary>
    /// Zeros a committed range and returns the memory of its whole pages to the system. The range can be used as before.
    /// No other thread may touch it during the call.
    /// </summary>
    public void Reset(nuint offset, nuint length)
    {
        if (length > Length || offset > Length - length || offset + length > Committed)
            throw new ArgumentOutOfRangeException(nameof(offset), $"{length} bytes at {offset} are not within {Committed} bytes in use.");

        var first = AddressReservation.RoundUp(offset);
        var last = (offset + length) / PageLength * PageLength;
        if (first >= last)
        {
            Clear(offset, length);
            return;
        }
        Clear(offset, first - offset);
        Clear(last, offset + length - last);
        var start = Address + first;
        var bytes = last - first;
        var isTaken = EngineMemory.Allows(bytes)
            && (OperatingSystem.IsWindows() ? WindowsMemory.TryReset(start, bytes) : PosixMemory.TryReset(start, bytes));
        if (!isTaken)
            throw new InsufficientMemoryException($"The system could not take {bytes} bytes of memory back.");
    }

    public void Dispose()
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed)
                return;
            _disposed = true;
            _reservation.Return(Address, Length);
            Address = null;
            Volatile.Write(ref _committed, 0);
        }
    }

    private void Clear(nuint offset, nuint length) =>
        System.Runtime.InteropServices.NativeMemory.Clear(Address + offset, length);

    private static nuint RoundUp(nuint bytes, nuint unit) => checked(bytes + unit - 1) / unit * unit;
}
