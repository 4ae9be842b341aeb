namespace Voron.Scratch;

/// <summary>Memory over preallocated temporary files, for frames and extents beyond the memory limit.</summary>
internal unsafe interface ISpill : IDisposable
{
    /// <summary>Returns the next <paramref name="bytes"/> of the file, which has blocks for them.</summary>
    /// <exception cref="StorageFullException">The disk has no space for more.</exception>
    byte* Allocate(int bytes);

    /// <summary>
    /// Takes back memory that <see cref="Allocate"/> returned, and releases its blocks on the disk. The addresses stay valid, and the memory may
    /// be allocated again. Unlike the other members, this one may be called concurrently with the holder of the writer.
    /// </summary>
    void Free(byte* chunk);

    /// <summary>Returns memory over a separate temporary file, for an extent that is not part of a chunk.</summary>
    /// <exception cref="StorageFullException">The disk has no space for it.</exception>
    byte* AllocateExtent(long bytes);

    /// <summary>Frees memory that <see cref="AllocateExtent"/> returned; false if the memory came from elsewhere.</summary>
    bool TryFreeExtent(byte* extent);
}
