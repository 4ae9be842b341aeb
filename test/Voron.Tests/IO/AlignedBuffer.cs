using System.Runtime.InteropServices;

namespace Voron.Tests.IO;

/// <summary>Native memory at an address that is a multiple of 4096.</summary>
internal sealed unsafe class AlignedBuffer : IDisposable
{
    public AlignedBuffer(int length, byte fill = 0)
    {
        Length = length;
        Address = (byte*)NativeMemory.AlignedAlloc((nuint)length, 4096);
        Span.Fill(fill);
    }

    public byte* Address { get; private set; }

    public int Length { get; }

    public Span<byte> Span => new(Address, Length);

    public void Dispose()
    {
        NativeMemory.AlignedFree(Address);
        Address = null;
    }
}
