namespace Voron.Scratch;

/// <summary>Memory over a preallocated temporary file, for frames beyond the memory limit.</summary>
internal unsafe interface ISpill : IDisposable
{
    /// <summary>Returns the next <paramref name="bytes"/> of the file, which has blocks for them.</summary>
    /// <exception cref="StorageFullException">The disk has no room for more.</exception>
    byte* Allocate(int bytes);

    /// <summary>
    /// Takes back memory that <see cref="Allocate"/> returned, and releases its blocks on the disk. The addresses stay valid, and the
    /// memory may be given out again. Unlike the other members, this one may be called concurrently with the holder of the writer.
    /// </summary>
    void Free(byte* chunk);
}
