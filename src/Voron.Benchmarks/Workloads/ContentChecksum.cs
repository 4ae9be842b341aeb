using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// A running sum over what an engine returned, in the order it returned it. It reads both ends of the noise in a value
/// and its length: enough to touch the value's memory and to tell engines apart that do not agree, cheap enough to stand
/// inside a measured loop.
/// </summary>
internal struct ContentChecksum
{
    private const ulong Multiplier = 0x9E37_79B9_7F4A_7C15;

    public ulong Sum { get; private set; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(ReadOnlySpan<byte> value)
    {
        ulong first = MemoryMarshal.Read<ulong>(value);
        ulong last = MemoryMarshal.Read<ulong>(value[(ItemGenerator.RandomValueBytes - sizeof(ulong))..]);
        Sum = (BitOperations.RotateLeft(Sum, 5) ^ first ^ (last + (ulong)value.Length)) * Multiplier;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Sum ^= MemoryMarshal.Read<ulong>(key[(ItemGenerator.KeyBytes - sizeof(ulong))..]);
        Add(value);
    }

    /// <summary>
    /// Reads all of a value: for large ones, whose reading is to be measured. Not compiled in tiers, so that a short run does not
    /// measure a slow one.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public void AddWhole(ReadOnlySpan<byte> value)
    {
        Vector<ulong> sums = Vector<ulong>.Zero;
        foreach (Vector<ulong> part in MemoryMarshal.Cast<byte, Vector<ulong>>(value))
            sums += part;
        Add(value);
        Sum += Vector.Sum(sums);
    }

    /// <summary>Takes in the sum of another thread.</summary>
    public void Add(in ContentChecksum other) => Sum = (BitOperations.RotateLeft(Sum, 5) ^ other.Sum) * Multiplier;
}
