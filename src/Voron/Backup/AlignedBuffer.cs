using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Backup;

/// <summary>A buffer at an address that files without a cache accept, which asynchronous calls may take as well.</summary>
/// <remarks>Pinned memory of the runtime, since a stream of the user's may keep a reference to it after it has failed.</remarks>
internal sealed unsafe class AlignedBuffer
{
    private readonly int _start;
    private readonly byte[] _bytes;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public AlignedBuffer(int length)
    {
        _bytes = GC.AllocateUninitializedArray<byte>(length + JournalFormat.Block, pinned: true);
        var address = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_bytes));
        _start = (int)(JournalFormat.AlignUp(address) - address);
        Length = length;
    }

    public int Length { get; }

    public byte* Address => (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_bytes)) + _start;

    public Memory<byte> Memory => _bytes.AsMemory(_start, Length);
}
