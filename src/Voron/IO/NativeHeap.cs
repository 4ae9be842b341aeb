using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// The native memory of an environment, which is freed together with the environment. It is not freed when the garbage collector finds that a list
/// in it is no longer in use, because objects that a finalizer resurrects may still read it.
/// </summary>
internal sealed unsafe class NativeHeap : IDisposable
{
    // Protects the set of blocks. No other lock is taken while it is held.
    private readonly Lock _lock = new();

    private readonly Dictionary<nint, nuint> _blocks = [];

    /// <summary>Counts the memory; null for none.</summary>
    public MemoryAccount? Account { get; init; }

    /// <summary>Enlarges a block, keeping its content, or allocates a new one.</summary>
    /// <param name="block">The block, or null for a new one.</param>
    /// <param name="bytes">The new length of the block.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory; the block is unchanged.</exception>
    public void* Resize(void* block, nuint bytes)
    {
        using (Uninterrupted.Hold(_lock))
        {
            // Reserve space in the set first: nothing may fail once the old address is gone.
            _blocks.EnsureCapacity(_blocks.Count + 1);
            var resized = EngineMemory.Resize(block, bytes);
            _blocks.Remove((nint)block, out var before);
            _blocks.Add((nint)resized, bytes);
            Account?.Add((long)bytes - (long)before);
            return resized;
        }
    }

    /// <summary>Frees a block.</summary>
    public void Free(void* block)
    {
        using (Uninterrupted.Hold(_lock))
        {
            if (!_blocks.Remove((nint)block, out var bytes))
                return;
            EngineMemory.Free(block);
            Account?.Add(-(long)bytes);
        }
    }

    public void Dispose()
    {
        using (Uninterrupted.Hold(_lock))
        {
            foreach (var (block, bytes) in _blocks)
            {
                EngineMemory.Free((void*)block);
                Account?.Add(-(long)bytes);
            }

            _blocks.Clear();
        }
    }
}
