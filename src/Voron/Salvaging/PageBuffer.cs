using Voron.Format;
using Voron.IO;

namespace Voron.Salvaging;

/// <summary>Memory for one page.</summary>
internal sealed unsafe class PageBuffer(int pageSize) : IDisposable
{
    public byte* Bytes { get; private set; } = (byte*)EngineMemory.AllocateAligned((nuint)pageSize, 4096);

    public int Size => pageSize;

    public PageHeader* Header => (PageHeader*)Bytes;

    public void Dispose()
    {
        EngineMemory.FreeAligned(Bytes);
        Bytes = null;
    }
}
