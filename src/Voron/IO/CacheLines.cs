using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Voron.IO;

/// <summary>Prefetches memory before it is read. A hint: it changes nothing, and any address is allowed.</summary>
internal static unsafe class CacheLines
{
    /// <summary>The number of bytes in a cache line.</summary>
    public const int LineBytes = 64;

    /// <summary>Prefetches the cache line that contains an address.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Prefetch(void* address)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(address);
    }

    /// <summary>Prefetches all cache lines of a range.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void PrefetchRange(byte* address, int bytes)
    {
        for (var at = 0; at < bytes; at += LineBytes)
            Prefetch(address + at);
    }
}
