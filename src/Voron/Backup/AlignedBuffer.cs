using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Backup;

/// <summary>A buffer aligned for unbuffered files, which asynchronous calls can use as well.</summary>
/// <remarks>Pinned managed memory, because a user's stream may keep a reference to it after a failure.</remarks>
internal sealed unsafe class AlignedBuffer
{
    private readonly int _start;
    private readonly byte[] _bytes;

    /// <exception cref="OutOfMemoryException">There is not enough memory.</exception>
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
