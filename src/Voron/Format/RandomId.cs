using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>Sixteen bytes, most of them random, that identify an environment, or one epoch of a journal file.</summary>
/// <remarks>
/// Not a <see cref="UInt128"/>, because the runtime's ahead-of-time compiler skips each method that uses that type, or a class with a field of it.
/// Most of the engine would then be compiled when a process first uses it.
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal readonly struct RandomId : IEquatable<RandomId>, IComparable<RandomId>
{
    public const int Size = 16;

    [FieldOffset(0)]
    public readonly ulong Lower;

    [FieldOffset(8)]
    public readonly ulong Upper;

    public RandomId(ulong upper, ulong lower)
    {
        Lower = lower;
        Upper = upper;
    }

    public static bool operator ==(RandomId one, RandomId other) => one.Lower == other.Lower && one.Upper == other.Upper;

    public static bool operator !=(RandomId one, RandomId other) => !(one == other);

    /// <summary>Returns an id with 122 random bits, which no other environment or epoch has.</summary>
    /// <remarks>
    /// A <see cref="Guid"/> of version 4 is as random as the system's generator, and needs no cryptographic library, whose first use takes 3 ms.
    /// </remarks>
    public static RandomId New()
    {
        var random = Guid.NewGuid();
        return Unsafe.BitCast<Guid, RandomId>(random);
    }

    public bool Equals(RandomId other) => this == other;

    public override bool Equals([NotNullWhen(true)] object? obj) => obj is RandomId other && this == other;

    public override int GetHashCode() => HashCode.Combine(Lower, Upper);

    public int CompareTo(RandomId other) => Upper != other.Upper ? Upper.CompareTo(other.Upper) : Lower.CompareTo(other.Lower);

    /// <summary>Returns 32 hexadecimal digits, the highest first.</summary>
    public override string ToString() => $"{Upper:X16}{Lower:X16}";
}
