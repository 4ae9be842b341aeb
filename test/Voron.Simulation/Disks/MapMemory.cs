using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>The memory of a <see cref="SimulatedMap"/>, which knows the blocks that it shows.</summary>
/// <remarks>
/// The images of one disk have most blocks in common: memory that is used again for another image needs copies of few blocks, and no pages
/// from the system. That saved a third of the time of the suites that cut the power.
/// </remarks>
internal sealed unsafe class MapMemory : IDisposable
{
    private const int MostKept = 4;
    private const int PageBytes = 4096;

    // Longer than most maps, so that memory that was used for one can be used for another.
    private const long ReusedBytes = 128L << 20;

    private static readonly ConcurrentStack<MapMemory> Kept = [];

    // The block that each part of the memory holds; null for one that is unknown. Memory beyond the list has never been touched.
    private readonly List<byte[]?> _shown = [];
    private readonly AddressSpace? _addresses;
    private void* _allocation;

    private MapMemory(AddressSpace addresses)
    {
        _addresses = addresses;
        Address = addresses.Address;
    }

    // Not in the books of the guarded memory, where each case has to free what it has taken.
    private MapMemory()
    {
        _allocation = NativeMemory.AllocZeroed((nuint)(ReusedBytes + PageBytes));
        Address = (byte*)(((nint)_allocation + PageBytes - 1) & -PageBytes);
    }

    public byte* Address { get; }

    /// <summary>Returns memory of at least <paramref name="length"/> bytes.</summary>
    /// <param name="length">The length in bytes.</param>
    /// <param name="mayBeReused">True if it may have been used for another map, and may be again.</param>
    /// <exception cref="InsufficientMemoryException">There is no memory.</exception>
    public static MapMemory Take(long length, bool mayBeReused)
    {
        if (!mayBeReused || length > ReusedBytes)
            return new MapMemory(AddressSpace.Reserve((nuint)length));
        return Kept.TryPop(out var kept) ? kept : new MapMemory();
    }

    public void EnsureCommitted(long length) => _addresses?.EnsureCommitted((nuint)length);

    /// <summary>Copies a range of a content into the memory.</summary>
    public void Show(BlockContent content, long offset, long length)
    {
        while (length > 0)
        {
            var index = offset / BlockContent.BlockSize;
            var start = (int)(offset % BlockContent.BlockSize);
            var part = (int)Math.Min(length, BlockContent.BlockSize - start);
            var block = content.BlockAt(index) ?? BlockContent.ZeroBlock;
            if (!ReferenceEquals(ShownAt(index), block))
            {
                block.AsSpan(start, part).CopyTo(new Span<byte>(Address + offset, part));
                SetShown(index, part == BlockContent.BlockSize ? block : null);
            }

            offset += part;
            length -= part;
        }
    }

    /// <summary>Overwrites a range with bytes that are no file's.</summary>
    public void Spoil(long offset, int length)
    {
        EngineMemory.Spoil(new Span<byte>(Address + offset, length));
        for (var i = offset / BlockContent.BlockSize; i * BlockContent.BlockSize < offset + length; i++)
            SetShown(i, null);
    }

    /// <summary>Ends the use of the memory by its map: no thread may have a pointer into it.</summary>
    public void Dispose()
    {
        if (_addresses is not null)
        {
            _addresses.Dispose();
        }
        else if (Kept.Count < MostKept)
        {
            Kept.Push(this);
        }
        else
        {
            NativeMemory.Free(_allocation);
            _allocation = null;
        }
    }

    private byte[]? ShownAt(long index) => index < _shown.Count ? _shown[(int)index] : BlockContent.ZeroBlock;

    private void SetShown(long index, byte[]? block)
    {
        while (_shown.Count <= index)
            _shown.Add(BlockContent.ZeroBlock);
        _shown[(int)index] = block;
    }
}
