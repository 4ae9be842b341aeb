using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Voron.IO;

/// <summary>Asks for memory before it is read. A hint: it changes nothing, and any address will do.</summary>
internal static unsafe class CacheLines
{
    /// <summary>Bytes of a cache line.</summary>
    public const int LineBytes = 64;

    /// <summary>Asks for the line that has an address.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Prefetch(void* address)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(address);
    }

    /// <summary>Asks for all lines of a range.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void PrefetchRange(byte* address, int bytes)
    {
        for (var at = 0; at < bytes; at += LineBytes)
            Prefetch(address + at);
    }
}
