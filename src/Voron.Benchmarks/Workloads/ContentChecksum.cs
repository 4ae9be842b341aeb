using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// A running sum over the values that an engine returned, in that order. It reads both ends of the noise in a value and the length,
/// which touches the value's memory and detects engines that disagree, and is cheap enough for a measured loop.
/// </summary>
internal struct ContentChecksum
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    public ulong Sum { get; private set; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(ReadOnlySpan<byte> value)
    {
        var first = MemoryMarshal.Read<ulong>(value);
        var last = MemoryMarshal.Read<ulong>(value[(ItemGenerator.RandomValueBytes - sizeof(ulong))..]);
        Sum = (BitOperations.RotateLeft(Sum, 5) ^ first ^ (last + (ulong)value.Length)) * Multiplier;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Sum ^= MemoryMarshal.Read<ulong>(key[(ItemGenerator.KeyBytes - sizeof(ulong))..]);
        Add(value);
    }

    /// <summary>
    /// Reads a whole value. Used for large values, whose reading is measured. It is not compiled in tiers, so that a short run does not
    /// measure unoptimised code.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public void AddWhole(ReadOnlySpan<byte> value)
    {
        var sums = Vector<ulong>.Zero;
        foreach (var part in MemoryMarshal.Cast<byte, Vector<ulong>>(value))
            sums += part;
        Add(value);
        Sum += Vector.Sum(sums);
    }

    /// <summary>Adds the sum of another thread.</summary>
    public void Add(in ContentChecksum other) => Sum = (BitOperations.RotateLeft(Sum, 5) ^ other.Sum) * Multiplier;
}
