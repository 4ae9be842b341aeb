using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.IO;

/// <summary>A hook of a test between the engine and the system's memory.</summary>
internal interface IMemoryWatch
{
    /// <summary>Returns false when there is no memory for this number of bytes.</summary>
    bool Allows(nuint bytes);

    void Taken(nint address, nuint bytes);

    void Freed(nint address);
}

/// <summary>An allocator that replaces the system's in a test, and detects uses of memory that is out of use.</summary>
/// <remarks>
/// <code>
///   Allocate ──▶ in use ──Free──▶ gone                    blocks
///   in use ──Retire──▶ kept for later ──Revive──▶ in use  frames, record buffers and nodes that the engine pools
/// </code>
/// Several threads may call it concurrently.
/// </remarks>
internal unsafe interface IMemoryGuard
{
    /// <param name="bytes">The length of the block.</param>
    /// <param name="alignment">The required alignment of the address; 0 for the alignment that the system's allocator gives.</param>
    /// <param name="isZeroed">True for a block of zeros; otherwise it is anything but zeros.</param>
    void* Allocate(nuint bytes, nuint alignment, bool isZeroed);

    /// <summary>Resizes a block, always moving it; null for a new one.</summary>
    void* Resize(void* block, nuint bytes);

    /// <param name="block">The block, or null.</param>
    /// <param name="isAligned">True if the caller asked for an alignment when it allocated the block.</param>
    void Free(void* block, bool isAligned);

    /// <summary>Records a reserved range of addresses.</summary>
    void Reserved(byte* address, nuint bytes);

    /// <summary>Takes over a range of addresses that is about to be released. If it returns false, the caller releases the range.</summary>
    bool TryKeep(byte* address, nuint bytes);

    /// <summary>Marks a range that the engine keeps for later use: no thread may touch it before <see cref="Revive"/>.</summary>
    /// <param name="start">Its first byte.</param>
    /// <param name="bytes">Its length.</param>
    /// <param name="kept">The number of bytes at the start that keep their content, for <see cref="ReadRetired"/>.</param>
    void Retire(void* start, nuint bytes, nuint kept);

    /// <inheritdoc cref="Retire"/>
    void Revive(void* start, nuint bytes, nuint kept);

    nint ReadRetired(nint* address);

    void WriteRetired(nint* address, nint value);

    /// <summary>Makes a range usable again that may have been retired in parts, whatever it holds.</summary>
    void Open(void* start, nuint bytes);

    /// <summary>Overwrites bytes that no thread may read any more, in memory that stays in use.</summary>
    void Spoil(Span<byte> bytes);
}

/// <summary>
/// All memory of the engine that the garbage collector does not manage. A test can make any allocation of a thread fail and detect leaked
/// memory; the compiler folds these hooks away unless the process sets "Voron.MemoryFaults" as application data before it uses the engine.
/// A test can also replace the system's allocator with its own, an <see cref="IMemoryGuard"/> that the process sets as "Voron.MemoryGuard".
/// </summary>
internal static unsafe class EngineMemory
{
    /// <summary>True if there is a guard.</summary>
    public static readonly bool IsGuarded = AppContext.GetData("Voron.MemoryGuard") is IMemoryGuard;

    private static readonly IMemoryGuard? Guard = AppContext.GetData("Voron.MemoryGuard") as IMemoryGuard;

    private static readonly bool IsOn = AppContext.GetData("Voron.MemoryFaults") is not null;

    // Any thread may free memory that was allocated under a watch.
    private static readonly ConcurrentDictionary<nint, IMemoryWatch> Watched = new();

    /// <summary>The watch of the calling thread; null for none.</summary>
    [field: ThreadStatic]
    public static IMemoryWatch? Watch { get; set; }

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
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

    /// <summary>Reads a word that <see cref="Retire"/> kept.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static nint ReadRetired(nint* address) => IsGuarded ? Guard!.ReadRetired(address) : *address;

    /// <summary>Writes a word that <see cref="Retire"/> kept.</summary>
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

    /// <summary>Asks the watch for permission; called before memory is allocated by other means.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    [SuppressMessage("Usage", "CA2201", Justification = "It is what the runtime throws in this place.")]
    public static void Ask(nuint bytes)
    {
        if (IsOn && Watch is { } watch && !watch.Allows(bytes))
            throw new OutOfMemoryException($"No memory for {bytes} bytes.");
    }

    /// <summary>Like <see cref="Ask"/>, for callers that report missing memory through their result.</summary>
    public static bool Allows(nuint bytes) => !IsOn || Watch is not { } watch || watch.Allows(bytes);

    /// <summary>Records memory that was allocated by other means.</summary>
    public static void* Note(void* address, nuint bytes)
    {
        if (IsOn && Watch is { } watch && address != null)
        {
            Watched[(nint)address] = watch;
            watch.Taken((nint)address, bytes);
        }
        return address;
    }

    /// <summary>The counterpart of <see cref="Note"/>; called before the address can be handed out again.</summary>
    public static void Freed(void* address)
    {
        if (IsOn && address != null && Watched.TryRemove((nint)address, out IMemoryWatch? watch))
            watch.Freed((nint)address);
    }
}
