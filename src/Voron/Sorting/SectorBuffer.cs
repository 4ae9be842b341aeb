using Voron.IO;

namespace Voron.Sorting;

/// <summary>Native memory that is aligned for unbuffered files.</summary>
internal sealed unsafe class SectorBuffer : IDisposable
{
    private readonly NativeHeap _memory;
    private byte* _block;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public SectorBuffer(NativeHeap memory, int bytes)
    {
        _memory = memory;
        _block = (byte*)memory.Resize(null, (nuint)MemoryOf(bytes));
        Address = (byte*)(((nuint)_block + DiskRules.Alignment - 1) & ~(nuint)(DiskRules.Alignment - 1));
    }

    public byte* Address { get; private set; }

    /// <summary>Returns the memory of a buffer, in bytes.</summary>
    public static long MemoryOf(int bytes) => bytes + (long)DiskRules.Alignment;

    public void Dispose()
    {
        _memory.Free(_block);
        _block = Address = null;
    }
}
