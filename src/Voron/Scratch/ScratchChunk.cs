using Voron.IO;

namespace Voron.Scratch;

/// <summary>A range of scratch memory that frames are cut from: its own memory, or a part of the temporary file.</summary>
internal sealed unsafe class ScratchChunk : IDisposable
{
    private readonly AddressSpace? _space;

    /// <summary>Creates a chunk of the temporary file, which still owns the memory.</summary>
    public ScratchChunk(nint address, int bytes)
    {
        Address = address;
        Bytes = UsableBytes = bytes;
    }

    private ScratchChunk(AddressSpace space, nint address, int bytes)
        : this(address, bytes) => _space = space;

    public nint Address { get; }

    public int Bytes { get; }

    /// <summary>The leading bytes that have memory: all of them, except in the first chunk of an allocator.</summary>
    public int UsableBytes { get; private set; }

    public bool IsSpilled => _space == null;

    /// <summary>Reserves a chunk at a multiple of its length, so that large pages fit.</summary>
    /// <param name="bytes">Its length.</param>
    /// <param name="usableBytes">The bytes that have memory at first.</param>
    /// <param name="addresses">The reservation to use if it has space; null for a separate one.</param>
    public static ScratchChunk Reserve(int bytes, int usableBytes, AddressReservation? addresses = null)
    {
        var space = AddressSpace.Reserve(AddressBytes(bytes), addresses);
        try
        {
            var chunk = new ScratchChunk(space, ((nint)space.Address + bytes - 1) & -(nint)bytes, bytes);
            chunk.Grow(usableBytes);
            return chunk;
        }
        catch
        {
            space.Dispose();
            throw;
        }
    }

    /// <summary>Returns the address space of a chunk, in bytes.</summary>
    public static nuint AddressBytes(int bytes) => (nuint)bytes * 2;

    /// <summary>Commits more memory of a chunk that has its own.</summary>
    /// <param name="usableBytes">The new <see cref="UsableBytes"/>.</param>
    /// <exception cref="InsufficientMemoryException">The system has no memory for them.</exception>
    public void Grow(int usableBytes)
    {
        _space!.EnsureCommitted((nuint)(Address - (nint)_space.Address) + (nuint)usableBytes);
        UsableBytes = usableBytes;
    }

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
