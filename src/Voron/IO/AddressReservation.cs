using System.Diagnostics;
using Voron.IO.Posix;
using Voron.IO.Windows;
using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// Reserved addresses that are divided among address spaces. Each reservation costs the system a mapping, and each release a search for memory in
/// it; therefore, the tables of an environment share one.
/// </summary>
/// <remarks>
/// <code>
///   edge | part | edge | part | edge | ... not given out ...        edges only with a guard
///   with memory ────▶| without memory, until the owner of the part commits it
/// </code>
/// 1. Parts are allocated from the start on, and no address is allocated twice.
/// 2. The addresses are returned to the system when the reservation and all of its parts have been disposed, in any order: Windows releases
///    a reservation only as a whole. Until then an ended part keeps its memory, so objects that end long before the environment use no part.
/// 3. The first bytes receive memory together, in one call. Small parts that are used immediately should be taken first.
/// 4. With a guard, no thread can touch a part from its end on.
/// </remarks>
internal sealed unsafe class AddressReservation : IDisposable
{
    /// <summary>In bytes: parts begin and end at multiples of this.</summary>
    public static readonly nuint PageLength = (nuint)Environment.SystemPageSize;

    /// <summary>In bytes: with a guard, the size of the inaccessible addresses on each side of a part.</summary>
    public static readonly nuint Edge = EngineMemory.IsGuarded ? PageLength : 0;

    // Protects the allocated length, and the number of users. Comes before the locks of a guard.
    private readonly Lock _gate = new();

    private readonly byte* _address;
    private readonly nuint _length;
    private nuint _committed;
    private nuint _given = Edge;

    // The holder of this object, and each part.
    private int _users = 1;
    private bool _disposed;

    private AddressReservation(byte* address, nuint length)
    {
        _address = address;
        _length = length;
    }

    /// <summary>The number of bytes that have not been allocated.</summary>
    public nuint Free
    {
        get
        {
            using (Uninterrupted.Hold(_gate))
                return _length - _given;
        }
    }

    /// <summary>Returns the additional bytes to reserve for a number of parts.</summary>
    public static nuint Margin(int parts) => (nuint)parts * (PageLength + Edge);

    /// <summary>The first byte after those that have memory from the beginning.</summary>
    public byte* CommittedEnd => _address + _committed;

    /// <summary>Reserves addresses; returns null if there are not enough.</summary>
    /// <param name="bytes">The number of bytes to divide.</param>
    /// <param name="beside">
    /// The number of additional bytes, directly next to them, that the system must have free. The call leaves those free.
    /// </param>
    public static AddressReservation? TryReserve(nuint bytes, nuint beside = 0)
    {
        var length = RoundUp(bytes) + Edge;
        beside = RoundUp(beside);
        if (!EngineMemory.Allows(length + beside))
            return null;
        var address = OperatingSystem.IsWindows() ? WindowsMemory.TryReserve(length, beside) : PosixMemory.TryReserve(length, beside);
        if (address == null)
            return null;
        EngineMemory.Note(address, length);
        EngineMemory.Reserved(address, length);
        return new AddressReservation(address, length);
    }

    /// <summary>Commits memory for the first bytes. Called before any of them is allocated.</summary>
    /// <exception cref="InsufficientMemoryException">The system does not have enough memory, or limits it.</exception>
    public void CommitFirst(nuint bytes)
    {
        Debug.Assert(_given == Edge && bytes % PageLength == 0 && bytes <= _length, "A part learns only once how much of it has memory.");
        if (!TryCommit(_address, bytes))
            throw new InsufficientMemoryException($"There is no memory for {bytes} bytes.");
        _committed = bytes;
        HideEdge(_address);
    }

    /// <summary>Makes reserved memory usable.</summary>
    public static bool TryCommit(byte* start, nuint bytes) => EngineMemory.Allows(bytes)
        && (OperatingSystem.IsWindows() ? WindowsMemory.TryCommit(start, bytes) : PosixMemory.TryCommit(start, bytes));

    /// <summary>Allocates a part, which <see cref="Return"/> takes back; null if there is no space for it.</summary>
    /// <param name="length">Its length, a multiple of <see cref="PageLength"/>.</param>
    public byte* TryTake(nuint length)
    {
        Debug.Assert(length % PageLength == 0, "A part must end where a memory page does.");
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed || length > _length - _given || Edge > _length - _given - length)
                return null;
            var part = _address + _given;
            _given += length + Edge;
            _users++;
            HideEdge(part + length);
            return part;
        }
    }

    /// <summary>Takes back a part.</summary>
    public void Return(byte* part, nuint length)
    {
        using (Uninterrupted.Hold(_gate))
        {
            Debug.Assert(part >= _address && length <= _length - (nuint)(part - _address), "A part must go back to its own reservation.");
            if (EngineMemory.IsGuarded && _users > 1)
                Hide(part, length);
            Leave();
        }
    }

    /// <summary>Ends the allocation of parts.</summary>
    public void Dispose()
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed)
                return;
            _disposed = true;
            Leave();
        }
    }

    /// <summary>Rounds up to whole memory pages.</summary>
    public static nuint RoundUp(nuint bytes) => checked(bytes + PageLength - 1) / PageLength * PageLength;

    private static void Hide(byte* part, nuint length)
    {
        var isHidden = OperatingSystem.IsWindows() ? WindowsMemory.TryHide(part, length) : PosixMemory.TryHide(part, length);
        Debug.Assert(isHidden, "An ended part can still be touched.");
    }

    private void HideEdge(byte* edge)
    {
        if (Edge != 0 && edge < CommittedEnd)
            Hide(edge, Edge);
    }

    private void Leave()
    {
        Debug.Assert(_users > 0, "A part must be returned once.");
        if (--_users > 0)
            return;
        EngineMemory.Freed(_address);
        if (OperatingSystem.IsWindows())
            WindowsMemory.Release(_address, _length);
        else
            PosixMemory.Release(_address, _length);
    }
}
