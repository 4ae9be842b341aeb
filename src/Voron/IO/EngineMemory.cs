using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Voron.IO;

/// <summary>What a test has between the engine and the system's memory.</summary>
internal interface IMemoryWatch
{
    /// <summary>False when there is no memory for so many bytes.</summary>
    bool Allows(nuint bytes);

    void Taken(nint address, nuint bytes);

    void GivenBack(nint address);
}

/// <summary>
/// All memory of the engine that is not the collector's. A test can have any allocation of a thread fail, and sees what is not
/// given back; that is folded away by the compiler unless the process sets "Voron.MemoryFaults" as application data before
/// it uses the engine.
/// </summary>
internal static unsafe class EngineMemory
{
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
        return Note(NativeMemory.Alloc(bytes), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* AllocateZeroed(nuint bytes)
    {
        Ask(bytes);
        return Note(NativeMemory.AllocZeroed(bytes), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* AllocateAligned(nuint bytes, nuint alignment)
    {
        Ask(bytes);
        return Note(NativeMemory.AlignedAlloc(bytes, alignment), bytes);
    }

    /// <inheritdoc cref="Allocate"/>
    public static void* Resize(void* block, nuint bytes)
    {
        Ask(bytes);
        if (!IsOn)
            return NativeMemory.Realloc(block, bytes);
        GivenBack(block);
        return Note(NativeMemory.Realloc(block, bytes), bytes);
    }

    public static void Free(void* block)
    {
        GivenBack(block);
        NativeMemory.Free(block);
    }

    public static void FreeAligned(void* block)
    {
        GivenBack(block);
        NativeMemory.AlignedFree(block);
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
    public static void GivenBack(void* address)
    {
        if (IsOn && address != null && Watched.TryRemove((nint)address, out IMemoryWatch? watch))
            watch.GivenBack((nint)address);
    }
}
