using System.Diagnostics.CodeAnalysis;

namespace Voron.IO;

/// <summary>
/// Memory for journal records, on their way to the journal and from it. One record may be larger than the memory for all of them: a block that
/// would exceed the limit is stored in a temporary file, which the system writes out when memory is short.
/// </summary>
/// <remarks>Several threads may call it concurrently.</remarks>
internal sealed unsafe class BlockMemory
{
    /// <summary>Blocks up to this size are always native memory: a file for each would cost more than they do.</summary>
    public const int SmallBytes = 256 << 10;

    private readonly long _limitBytes;
    private readonly TemporaryFiles? _files;
    private readonly MemoryAccount? _account;
    private long _usedBytes;

    /// <param name="limitBytes">The number of bytes of native memory for all blocks together, except small ones.</param>
    /// <param name="files">The temporary files; null to use native memory alone.</param>
    /// <param name="account">Counts the native memory; null for none.</param>
    public BlockMemory(long limitBytes, TemporaryFiles? files, MemoryAccount? account)
    {
        _limitBytes = limitBytes;
        _files = files;
        _account = account;
    }

    /// <summary>Memory without limits.</summary>
    public static BlockMemory Unlimited { get; } = new(long.MaxValue, null, null);

    /// <summary>The number of bytes of native memory for all blocks together.</summary>
    public long LimitBytes => _limitBytes;

    /// <summary>Allocates a block, which the caller frees.</summary>
    /// <param name="bytes">Its length.</param>
    /// <param name="alignment">The required alignment, at most a memory page; 0 for none.</param>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    /// <exception cref="StorageFullException">The block does not fit into memory, and the disk has no space for it.</exception>
    /// <exception cref="StorageAccessException">The block does not fit into memory, and no temporary file can be created.</exception>
    public MemoryBlock Allocate(nuint bytes, nuint alignment)
    {
        if (!TryReserve((long)bytes))
            return new MemoryBlock(Spill((long)bytes), bytes);
        try
        {
            var address = alignment == 0 ? EngineMemory.Allocate(bytes) : EngineMemory.AllocateAligned(bytes, alignment);
            return new MemoryBlock(this, (byte*)address, bytes, isAligned: alignment != 0);
        }
        catch
        {
            Release((long)bytes);
            throw;
        }
    }

    /// <summary>Returns the native memory of a block, which has been freed.</summary>
    public void Release(long bytes)
    {
        Interlocked.Add(ref _usedBytes, -bytes);
        _account?.Add(-bytes);
    }

    private bool TryReserve(long bytes)
    {
        if (Interlocked.Add(ref _usedBytes, bytes) > _limitBytes && bytes > SmallBytes && _files != null)
        {
            Interlocked.Add(ref _usedBytes, -bytes);
            return false;
        }

        _account?.Add(bytes);
        return true;
    }

    [SuppressMessage("Reliability", "CA2000", Justification = "The block owns it.")]
    private SpilledBlock Spill(long bytes)
    {
        try
        {
            return new SpilledBlock(_files!, bytes);
        }
        catch (DiskException e)
        {
            throw TemporaryFiles.Failure("Memory for journal records is", e);
        }
    }
}

/// <summary>A block of native memory, or of a temporary file.</summary>
internal sealed unsafe class MemoryBlock : IDisposable
{
    private readonly BlockMemory? _memory;
    private readonly SpilledBlock? _spilled;
    private readonly bool _isAligned;

    public MemoryBlock(BlockMemory memory, byte* address, nuint bytes, bool isAligned)
    {
        _memory = memory;
        Address = address;
        Bytes = bytes;
        _isAligned = isAligned;
    }

    public MemoryBlock(SpilledBlock spilled, nuint bytes)
    {
        _spilled = spilled;
        Address = spilled.Address;
        Bytes = bytes;
    }

    public byte* Address { get; private set; }

    public nuint Bytes { get; }

    public bool IsSpilled => _spilled != null;

    public void Dispose()
    {
        if (Address == null)
            return;
        if (_spilled != null)
            _spilled.Dispose();
        else if (_isAligned)
            EngineMemory.FreeAligned(Address);
        else
            EngineMemory.Free(Address);
        _memory?.Release((long)Bytes);
        Address = null;
    }
}
