using System.Runtime.InteropServices;

namespace Voron.Simulation.Harness;

/// <summary>Bytes without a pattern, always the same for a seed, which cost less to make than those of <see cref="Random"/> with a seed.</summary>
internal static class SeededBytes
{
    /// <summary>Returns that many bytes.</summary>
    public static byte[] Make(int seed, int length)
    {
        var bytes = new byte[length];
        Fill(seed, bytes);
        return bytes;
    }

    /// <summary>Fills all of the bytes.</summary>
    public static void Fill(int seed, Span<byte> bytes)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        var state = SplitMix.Mix((uint)seed);
        foreach (ref var word in words)
            word = SplitMix.Mix(state = SplitMix.Advance(state));
        var last = SplitMix.Mix(SplitMix.Advance(state));
        MemoryMarshal.AsBytes(new Span<ulong>(ref last))[..(bytes.Length % sizeof(ulong))].CopyTo(bytes[(words.Length * sizeof(ulong))..]);
    }
}
