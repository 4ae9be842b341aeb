using Voron.IO;

namespace Voron.Scratch;

/// <summary>A range of scratch memory that frames are cut from: memory of its own, or a part of the temporary file.</summary>
internal sealed unsafe class ScratchChunk : IDisposable
{
    private readonly AddressSpace? _space;

    /// <summary>Creates a chunk of the temporary file, which still owns the memory.</summary>
    public ScratchChunk(nint address, int bytes)
    {
        Address = address;
        Bytes = bytes;
    }

    private ScratchChunk(AddressSpace space, nint address, int bytes)
        : this(address, bytes) => _space = space;

    public nint Address { get; }

    public int Bytes { get; }

    public bool IsSpilled => _space == null;

    /// <summary>Reserves a chunk at a multiple of its length, so that large pages fit.</summary>
    /// <param name="bytes">Its length.</param>
    /// <param name="addresses">The reservation to take part in if it has room; null for one of its own.</param>
    public static ScratchChunk Reserve(int bytes, AddressReservation? addresses = null)
    {
        var space = AddressSpace.Reserve(AddressBytes(bytes), addresses);
        try
        {
            var address = ((nint)space.Address + bytes - 1) & -(nint)bytes;
            space.EnsureCommitted((nuint)(address - (nint)space.Address) + (nuint)bytes);
            return new ScratchChunk(space, address, bytes);
        }
        catch
        {
            space.Dispose();
            throw;
        }
    }

    /// <summary>Returns the number of bytes of addresses that a chunk takes.</summary>
    public static nuint AddressBytes(int bytes) => (nuint)bytes * 2;

    public void PreferLargePages()
    {
        if (_space != null)
            MemoryAdvice.PreferLargePages((byte*)Address, (nuint)Bytes);
    }

    /// <summary>
    /// Returns the memory to the system. The addresses stay valid, and read as zeros. The caller ensures that none of it is in use.
    /// </summary>
    /// <exception cref="InsufficientMemoryException">The system does not accept the memory.</exception>
    public void ReleaseMemory() => _space?.Reset((nuint)(Address - (nint)_space.Address), (nuint)Bytes);

    public void Dispose() => _space?.Dispose();
}
