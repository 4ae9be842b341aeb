using System.Runtime.InteropServices;

namespace Voron.Tests;

/// <summary>Native memory with a zone of known bytes before and behind it, which reveals writes outside it.</summary>
internal sealed unsafe class GuardedBuffer : IDisposable
{
    private const int Zone = 256;
    private const byte Guard = 0xA7;

    private byte* _memory;

    public GuardedBuffer(int length, byte fill = 0)
    {
        Length = length;
        _memory = (byte*)NativeMemory.Alloc((nuint)(length + 2 * Zone));
        new Span<byte>(_memory, length + 2 * Zone).Fill(Guard);
        Span.Fill(fill);
    }

    public GuardedBuffer(ReadOnlySpan<byte> content)
        : this(content.Length)
        => content.CopyTo(Span);

    public int Length { get; }

    public byte* Pointer => _memory + Zone;

    public Span<byte> Span => new(Pointer, Length);

    public bool IsIntact
        => !new ReadOnlySpan<byte>(_memory, Zone).ContainsAnyExcept(Guard)
            && !new ReadOnlySpan<byte>(Pointer + Length, Zone).ContainsAnyExcept(Guard);

    public void Dispose()
    {
        NativeMemory.Free(_memory);
        _memory = null;
    }
}
