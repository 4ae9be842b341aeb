using System.Runtime.CompilerServices;
using Voron.IO;

namespace Voron.Scratch;

/// <summary>Lists of free frames and extents. The first word of each points to the next one, or is 0.</summary>
internal static unsafe class FreeFrames
{
    /// <summary>Puts a frame at the front of a list. No thread may touch it from here on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Push(ref nint list, byte* frame, long bytes)
    {
        *(nint*)frame = list;
        list = (nint)frame;
        EngineMemory.Retire(frame, (nuint)bytes, (nuint)sizeof(nint));
    }

    /// <summary>Takes the first frame of a non-empty list.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* Pop(ref nint list, long bytes)
    {
        var frame = (byte*)list;
        EngineMemory.Revive(frame, (nuint)bytes, (nuint)sizeof(nint));
        list = *(nint*)frame;
        return frame;
    }

    public static nint Next(nint frame) => EngineMemory.ReadRetired((nint*)frame);

    public static void SetNext(nint frame, nint next) => EngineMemory.WriteRetired((nint*)frame, next);
}
