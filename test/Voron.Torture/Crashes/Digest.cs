using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Voron.Torture.Crashes;

/// <summary>A fast hash of 64 bits that depends on the order of the added values.</summary>
internal struct Digest
{
    private const ulong Prime = 0x9FB21C651E98DF25;

    public ulong Value { get; private set; }

    public static ulong Of(ReadOnlySpan<byte> bytes)
    {
        var digest = new Digest();
        digest.Add(bytes);
        return digest.Value;
    }

    public void Add(ulong word) => Value = (BitOperations.RotateLeft(Value, 23) ^ word ^ 0x5851F42D4C957F2D) * Prime;

    public void Add(ReadOnlySpan<byte> bytes)
    {
        Add((ulong)bytes.Length);
        foreach (var word in MemoryMarshal.Cast<byte, ulong>(bytes))
            Add(word);
        Span<byte> rest = stackalloc byte[8];
        rest.Clear();
        bytes[(bytes.Length & ~7)..].CopyTo(rest);
        Add(BinaryPrimitives.ReadUInt64LittleEndian(rest));
    }
}
