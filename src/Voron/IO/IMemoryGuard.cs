namespace Voron.IO;

/// <summary>An allocator that replaces the system's in a test, and detects accesses to memory that is not in use.</summary>
/// <remarks>
/// <code>
///   Allocate ──▶ in use ──Free──▶ gone                    blocks
///   in use ──Retire──▶ kept for later ──Revive──▶ in use  frames, record buffers and nodes that the engine pools
/// </code>
/// Several threads may call it concurrently.
/// </remarks>
internal unsafe interface IMemoryGuard
{
    /// <param name="bytes">The length of the block.</param>
    /// <param name="alignment">The required alignment of the address; 0 for the alignment that the system's allocator gives.</param>
    /// <param name="isZeroed">True for a block of zeros; otherwise it is anything but zeros.</param>
    void* Allocate(nuint bytes, nuint alignment, bool isZeroed);

    /// <summary>Resizes a block, always moving it; null for a new one.</summary>
    void* Resize(void* block, nuint bytes);

    /// <param name="block">The block, or null.</param>
    /// <param name="isAligned">True if the caller requested an alignment when it allocated the block.</param>
    void Free(void* block, bool isAligned);

    /// <summary>Records a reserved range of addresses.</summary>
    void Reserved(byte* address, nuint bytes);

    /// <summary>Takes over a range of addresses that is about to be released. If it returns false, the caller releases the range.</summary>
    bool TryKeep(byte* address, nuint bytes);

    /// <summary>Marks a range that the engine keeps for later use: no thread may touch it before <see cref="Revive"/>.</summary>
    /// <param name="start">Its first byte.</param>
    /// <param name="bytes">Its length.</param>
    /// <param name="kept">The number of bytes at the start that keep their content, for <see cref="ReadRetired"/>.</param>
    void Retire(void* start, nuint bytes, nuint kept);

    /// <summary>
    /// Makes a retired range usable again, as a whole. Reports a write to it since <see cref="Retire"/>, other than to the bytes that were kept.
    /// </summary>
    /// <param name="start">Its first byte.</param>
    /// <param name="bytes">Its length.</param>
    /// <param name="kept">The number of bytes at the start that kept their content.</param>
    void Revive(void* start, nuint bytes, nuint kept);

    nint ReadRetired(nint* address);

    void WriteRetired(nint* address, nint value);

    /// <summary>Makes a range usable again that may have been retired in parts, regardless of its content.</summary>
    void Open(void* start, nuint bytes);

    /// <summary>Overwrites bytes that no thread may read any more, in memory that stays in use.</summary>
    void Spoil(Span<byte> bytes);
}
