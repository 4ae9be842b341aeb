using System.Runtime.InteropServices;

namespace Voron.Keys;

/// <summary>Inverts all bits, which reverses the order of self-delimiting bytes.</summary>
internal static class Complement
{
    public static void Apply(Span<byte> bytes)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        foreach (ref var word in words)
            word = ~word;
        foreach (ref var rest in bytes[(words.Length * sizeof(ulong))..])
            rest = (byte)~rest;
    }
}
