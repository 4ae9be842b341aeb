using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// Native memory of an environment, all of which goes when the environment does: not when the collector finds that a list in it is
/// out of use, because what a finalizer brings back to life may still look at it.
/// </summary>
internal sealed unsafe class NativeHeap : IDisposable
{
    private readonly Lock _lock = new();
    private readonly HashSet<nint> _blocks = [];

    /// <summary>Makes a block larger, or a new one; its content is kept.</summary>
    /// <param name="block">The block, or null for a new one.</param>
    /// <param name="bytes">Its length from now on.</param>
    /// <exception cref="OutOfMemoryException">There is not so much; the block is as it was.</exception>
    public void* Resize(void* block, nuint bytes)
    {
        using (Uninterrupted.Hold(_lock))
        {
            // Room in the set first: nothing may fail once the old address is no more.
            _blocks.EnsureCapacity(_blocks.Count + 1);
            var resized = EngineMemory.Resize(block, bytes);
            _blocks.Remove((nint)block);
            _blocks.Add((nint)resized);
            return resized;
        }
    }

    /// <summary>Gives a block back.</summary>
    public void Free(void* block)
    {
        using (Uninterrupted.Hold(_lock))
        {
            if (_blocks.Remove((nint)block))
                EngineMemory.Free(block);
        }
    }

    public void Dispose()
    {
        using (Uninterrupted.Hold(_lock))
        {
            foreach (var block in _blocks)
                EngineMemory.Free((void*)block);
            _blocks.Clear();
        }
    }
}
