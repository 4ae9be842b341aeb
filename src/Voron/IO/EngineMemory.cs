using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.IO;

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
    [SuppressMessage("Usage", "CA2201", Justification = "The runtime throws the same exception here.")]
    public static void Ask(nuint bytes)
    {
        if (IsOn && Watch is { } watch && !watch.Allows(bytes))
            throw new OutOfMemoryException($"There is no memory for {bytes} bytes.");
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
        if (IsOn && address != null && Watched.TryRemove((nint)address, out var watch))
            watch.Freed((nint)address);
    }
}

/// <summary>A hook of a test between the engine and the system's memory.</summary>
internal interface IMemoryWatch
{
    /// <summary>Returns false when there is no memory for this number of bytes.</summary>
    bool Allows(nuint bytes);

    void Taken(nint address, nuint bytes);

    void Freed(nint address);
}
