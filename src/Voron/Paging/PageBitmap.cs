using System.Numerics;
using System.Runtime.CompilerServices;
using Voron.IO;

namespace Voron.Paging;

/// <summary>A bit for each page of the data file, in address space that is reserved once and committed as the file grows.</summary>
/// <remarks>Bits may be read, set and cleared by any thread. A struct, so that a test of a bit loads no more than its address.</remarks>
internal readonly unsafe struct PageBitmap : IDisposable
{
    private readonly AddressSpace _space;
    private readonly ulong* _bits;

    /// <param name="maxPageCount">The number of pages to reserve bits for.</param>
    /// <param name="addresses">The reservation to use; null for a separate one.</param>
    public PageBitmap(long maxPageCount, AddressReservation? addresses = null)
    {
        _space = AddressSpace.Reserve(BytesOf(maxPageCount), addresses);
        _bits = (ulong*)_space.Address;
    }

    /// <summary>Makes the bits of the first pages usable. They stay usable.</summary>
    /// <exception cref="InsufficientMemoryException">The system does not have enough memory, or limits it.</exception>
    public void EnsureCommitted(long pages) => _space.EnsureCommitted(BytesOf(pages));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsSet(long page) => (Volatile.Read(ref _bits[page >> 6]) & (1UL << (int)(page & 63))) != 0;

    public void Set(long page) => Interlocked.Or(ref _bits[page >> 6], 1UL << (int)(page & 63));

    public void Clear(long page) => Interlocked.And(ref _bits[page >> 6], ~(1UL << (int)(page & 63)));

    /// <summary>Clears the bits of adjacent pages.</summary>
    /// <returns>True when at least one of them had been set.</returns>
    public bool Clear(long first, long pages)
    {
        var end = first + pages;
        var had = false;
        for (var word = first >> 6; word <= (end - 1) >> 6; word++)
        {
            var mask = MaskOf(word, first, end);
            if ((Volatile.Read(ref _bits[word]) & mask) == 0)
                continue;
            Interlocked.And(ref _bits[word], ~mask);
            had = true;
        }

        return had;
    }

    /// <summary>Sets the bits of adjacent pages.</summary>
    public void Set(long first, long pages)
    {
        var end = first + pages;
        for (var word = first >> 6; word <= (end - 1) >> 6; word++)
        {
            var mask = MaskOf(word, first, end);
            if ((Volatile.Read(ref _bits[word]) & mask) != mask)
                Interlocked.Or(ref _bits[word], mask);
        }
    }

    /// <summary>Returns the bits of 64 pages, the lowest first.</summary>
    public ulong Word(long word) => Volatile.Read(ref _bits[word]);

    /// <summary>Sets bits of 64 pages, the lowest first.</summary>
    public void SetWord(long word, ulong bits) => Interlocked.Or(ref _bits[word], bits);

    /// <summary>Returns the first page from one on, and before another, whose bit is set; -1 if there is none.</summary>
    public long FindSet(long first, long end)
    {
        for (var word = first >> 6; word << 6 < end; word++)
        {
            var bits = Volatile.Read(ref _bits[word]);
            if (bits == 0)
                continue;
            bits &= MaskOf(word, first, end);
            if (bits != 0)
                return (word << 6) + BitOperations.TrailingZeroCount(bits);
        }

        return -1;
    }

    /// <summary>Returns the number of bits that are set among the first pages.</summary>
    public long CountSet(long pages)
    {
        var count = 0L;
        for (var word = 0L; word << 6 < pages; word++)
        {
            if (Volatile.Read(ref _bits[word]) is var bits && bits != 0)
                count += BitOperations.PopCount(bits & MaskOf(word, 0, pages));
        }

        return count;
    }

    public void Dispose() => _space?.Dispose();

    // The bits of a word that belong to pages from one on, and before another.
    private static ulong MaskOf(long word, long first, long end)
    {
        var mask = ulong.MaxValue;
        if (word == first >> 6)
            mask &= ulong.MaxValue << (int)(first & 63);
        if (word == (end - 1) >> 6)
            mask &= ulong.MaxValue >> (int)(63 - ((end - 1) & 63));
        return mask;
    }

    private static nuint BytesOf(long pages) => (nuint)(pages / 8 + 8);
}
