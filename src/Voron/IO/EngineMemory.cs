using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.IO;

/// <summary>What a test has between the engine and the system's memory.</summary>
internal interface IMemoryWatch
{
    /// <summary>False when there is no memory for so many bytes.</summary>
    bool Allows(nuint bytes);

    void Taken(nint address, nuint bytes);

    void Freed(nint address);
}

/// <summary>An allocator that takes the place of the system's in a test, and finds uses of memory that is out of use.</summary>
/// <remarks>
/// <code>
///   Allocate ──▶ in use ──Free──▶ gone             blocks
///   in use ──Retire──▶ kept for later ──Revive──▶  frames, record buffers and nodes that the engine pools
/// </code>
/// Any thread calls it, also beside others.
/// </remarks>
internal unsafe interface IMemoryGuard
{
    /// <param name="bytes">The length of the block.</param>
    /// <param name="alignment">What the address has to be a multiple of; 0 for what the system's allocator gives.</param>
    /// <param name="isZeroed">The block has to be zeros; else it is anything but zeros.</param>
    void* Allocate(nuint bytes, nuint alignment, bool isZeroed);

    /// <summary>Moves a block, always; null for a new one.</summary>
    void* Resize(void* block, nuint bytes);

    /// <param name="block">The block, or null.</param>
    /// <param name="isAligned">The caller has asked for an alignment when it took the block.</param>
    void Free(void* block, bool isAligned);

    /// <summary>Notes a range of addresses.</summary>
    void Reserved(byte* address, nuint bytes);

    /// <summary>Takes over a range of addresses that is about to be released. False leaves that to the caller.</summary>
    bool TryKeep(byte* address, nuint bytes);

    /// <summary>The engine keeps a range for later: no thread may touch it before <see cref="Revive"/>.</summary>
    /// <param name="start">Its first byte.</param>
    /// <param name="bytes">Its length.</param>
    /// <param name="kept">How many bytes at the start keep their content, for <see cref="ReadRetired"/>.</param>
    void Retire(void* start, nuint bytes, nuint kept);

    /// <inheritdoc cref="Retire"/>
    void Revive(void* start, nuint bytes, nuint kept);

    nint ReadRetired(nint* address);

    void WriteRetired(nint* address, nint value);

    /// <summary>A range that may have been retired in parts begins anew, whatever it holds.</summary>
    void Open(void* start, nuint bytes);

    /// <summary>Overwrites what no thread may look at any more, in memory that stays in use.</summary>
    void Spoil(Span<byte> bytes);
}

/// <summary>
/// All memory of the engine that is not the collector's. A test can have any allocation of a thread fail, and sees what is not
/// given back; that is folded away by the compiler unless the process sets "Voron.MemoryFaults" as application data before
/// it uses the engine. A test can also put its own allocator in the place of the system's, an <see cref="IMemoryGuard"/> that the process
/// sets as "Voron.MemoryGuard".
/// </summary>
internal static unsafe class EngineMemory
{
    /// <summary>There is a guard.</summary>
    public static readonly bool IsGuarded = AppContext.GetData("Voron.MemoryGuard") is IMemoryGuard;

    private static readonly IMemoryGuard? Guard = AppContext.GetData("Voron.MemoryGuard") as IMemoryGuard;

    private static readonly bool IsOn = AppContext.GetData("Voron.MemoryFaults") is not null;

    // What was taken under a watch may be given back by any thread.
    private static readonly ConcurrentDictionary<nint, IMemoryWatch> Watched = new();

    /// <summary>Of the calling thread; null for none.</summary>
    [field: ThreadStatic]
    public static IMemoryWatch? Watch { get; set; }

    /// <exception cref="OutOfMemoryException">There is none.</exception>
    public static void* Allocate(nuint bytes)
    {
        Ask(bytes);
        return Note(Guard != null ? Guard.Allocate(bytes, 0, isZeroed: false) : NativeMemory.Alloc(bytes), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* AllocateZeroed(nuint bytes)
    {
        Ask(bytes);
        return Note(Guard != null ? Guard.Allocate(bytes, 0, isZeroed: true) : NativeMemory.AllocZeroed(bytes), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* AllocateAligned(nuint bytes, nuint alignment)
    {
        Ask(bytes);
        return Note(Guard != null ? Guard.Allocate(bytes, alignment, isZeroed: false) : NativeMemory.AlignedAlloc(bytes, alignment), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* Resize(void* block, nuint bytes)
    {
        Ask(bytes);
        if (!IsOn && Guard == null)
            return NativeMemory.Realloc(block, bytes);
        Freed(block);
        return Note(Guard != null ? Guard.Resize(block, bytes) : NativeMemory.Realloc(block, bytes), bytes);
    }

    public static void Free(void* block)
    {
        Freed(block);
        if (Guard != null)
            Guard.Free(block, isAligned: false);
        else
            NativeMemory.Free(block);
    }

    public static void FreeAligned(void* block)
    {
        Freed(block);
        if (Guard != null)
            Guard.Free(block, isAligned: true);
        else
            NativeMemory.AlignedFree(block);
    }

    /// <inheritdoc cref="IMemoryGuard.Reserved"/>
    public static void Reserved(byte* address, nuint bytes) => Guard?.Reserved(address, bytes);

    /// <inheritdoc cref="IMemoryGuard.TryKeep"/>
    public static bool TryKeep(byte* address, nuint bytes) => Guard != null && Guard.TryKeep(address, bytes);

    /// <inheritdoc cref="IMemoryGuard.Retire"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Retire(void* start, nuint bytes, nuint kept = 0)
    {
        if (IsGuarded)
            Guard!.Retire(start, bytes, kept);
    }

    /// <inheritdoc cref="IMemoryGuard.Revive"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Revive(void* start, nuint bytes, nuint kept = 0)
    {
        if (IsGuarded)
            Guard!.Revive(start, bytes, kept);
    }

    /// <summary>Reads a word that <see cref="Retire"/> has kept.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static nint ReadRetired(nint* address) => IsGuarded ? Guard!.ReadRetired(address) : *address;

    /// <summary>Writes a word that <see cref="Retire"/> has kept.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WriteRetired(nint* address, nint value)
    {
        if (IsGuarded)
            Guard!.WriteRetired(address, value);
        else
            *address = value;
    }

    /// <inheritdoc cref="IMemoryGuard.Open"/>
    public static void Open(void* start, nuint bytes) => Guard?.Open(start, bytes);

    /// <inheritdoc cref="IMemoryGuard.Spoil"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Spoil(Span<byte> bytes)
    {
        if (IsGuarded)
            Guard!.Spoil(bytes);
    }

    /// <summary>To stand before memory is asked for in another way.</summary>
    /// <exception cref="OutOfMemoryException">There is none.</exception>
    [SuppressMessage("Usage", "CA2201", Justification = "It is what the runtime throws in this place.")]
    public static void Ask(nuint bytes)
    {
        if (IsOn && Watch is { } watch && !watch.Allows(bytes))
            throw new OutOfMemoryException($"No memory for {bytes} bytes.");
    }

    /// <summary>As <see cref="Ask"/>, for what says by its result that there is none.</summary>
    public static bool Allows(nuint bytes) => !IsOn || Watch is not { } watch || watch.Allows(bytes);

    /// <summary>Notes what was taken in another way.</summary>
    public static void* Note(void* address, nuint bytes)
    {
        if (IsOn && Watch is { } watch && address != null)
        {
            Watched[(nint)address] = watch;
            watch.Taken((nint)address, bytes);
        }
        return address;
    }

    /// <summary>The other half of <see cref="Note"/>; before the address can be given out again.</summary>
    public static void Freed(void* address)
    {
        if (IsOn && address != null && Watched.TryRemove((nint)address, out IMemoryWatch? watch))
            watch.Freed((nint)address);
    }
}
