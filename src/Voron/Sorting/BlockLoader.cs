using System.Runtime.ExceptionServices;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Sorting;

/// <summary>Reads the blocks of a run one after another, each while the entries of the one before it are used.</summary>
internal sealed unsafe class BlockLoader : OfferedWork, IDisposable
{
    private readonly SortContext _context;
    private readonly RunFile _file;
    private readonly SortedRun _run;

    // Of equal length: the block in use, the one that was loaded, and one for the bytes as they are stored.
    private SectorBuffer? _inUse;
    private SectorBuffer? _loaded;
    private SectorBuffer? _stored;
    private int _loadedBytes;

    // The next block: its place, and its first sector, which has its header, and is read together with the block before it.
    private long _next;
    private byte* _sector;
    private bool _isPending;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public BlockLoader(SortContext context, RunFile file, SortedRun run)
    {
        _context = context;
        _file = file;
        _run = run;
        _next = run.Offset;
        try
        {
            _inUse = Allocate();
            _loaded = Allocate();
            _stored = Allocate();
            _sector = (byte*)context.Memory.Resize(null, DiskRules.Alignment);
        }
        catch
        {
            Dispose();
            throw;
        }

        Begin();
    }

    /// <summary>Returns the memory of a loader, in bytes.</summary>
    /// <param name="largestBlock">The largest number of bytes of the entries of a block.</param>
    public static long MemoryOf(int largestBlock) => 3 * SectorBuffer.MemoryOf(BufferBytes(largestBlock)) + DiskRules.Alignment;

    /// <summary>Waits for the next block, and begins to load the one after it. Returns false after the last block.</summary>
    /// <param name="entries">The entries of the block, valid until the next call.</param>
    /// <param name="bytes">Their length.</param>
    /// <exception cref="VoronException">The block cannot be read, or is damaged.</exception>
    public bool TryTake(out byte* entries, out int bytes)
    {
        entries = null;
        bytes = 0;
        if (!_isPending)
            return false;
        _isPending = false;
        if (End() is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        (_inUse, _loaded) = (_loaded, _inUse);
        entries = _inUse!.Address + RunBlock.Size;
        bytes = _loadedBytes;
        if (_next < _run.End)
            Begin();
        return true;
    }

    public void Dispose()
    {
        Cancel();
        if (_isPending)
            End();
        _isPending = false;
        _inUse?.Dispose();
        _loaded?.Dispose();
        _stored?.Dispose();
        _context.Memory.Free(_sector);
        _sector = null;
    }

    protected override void Work()
    {
        try
        {
            _context.Check();
            Load();
        }
        catch (Exception e) when (_context.Fail(e))
        {
            throw;
        }
    }

    // A block, and the first sector of the next one.
    private static int BufferBytes(int largestBlock) => RunBlock.LengthOf(largestBlock) + DiskRules.Alignment;

    private SectorBuffer Allocate() => new(_context.Memory, BufferBytes(_run.LargestBlock));

    private void Begin()
    {
        _isPending = true;
        Offer(_context.Options.UsesPool);
    }

    private void Load()
    {
        if (_next == _run.Offset)
            _file.Read(_next, _sector, DiskRules.Alignment);
        var at = _stored!.Address;
        new ReadOnlySpan<byte>(_sector, DiskRules.Alignment).CopyTo(new Span<byte>(at, DiskRules.Alignment));
        var block = (RunBlock*)at;
        var (stored, entries) = (block->StoredBytes, block->EntryBytes);
        if (stored <= 0 || stored > entries || entries > _run.LargestBlock || RunBlock.LengthOf(stored) > _run.End - _next)
            throw Damage($"has {stored} bytes for {entries}, but at most {_run.LargestBlock}, and {_run.End - _next} in the run");

        var length = RunBlock.LengthOf(stored);
        var isLast = _next + length == _run.End;
        _file.Read(_next + DiskRules.Alignment, at + DiskRules.Alignment, isLast ? length - DiskRules.Alignment : length);
        if (!isLast)
            new ReadOnlySpan<byte>(at + length, DiskRules.Alignment).CopyTo(new Span<byte>(_sector, DiskRules.Alignment));
        var sum = RunBlock.SumOf(block, _next);
        if (block->Sum != sum && !PlantedFault.BelieveSpilledBlocks)
            throw Damage($"has the checksum {block->Sum:x16}, but its content has {sum:x16}");

        if (stored == entries)
            (_stored, _loaded) = (_loaded, _stored);
        else if (!RunBlock.TryUnpack(block, _loaded!.Address + RunBlock.Size))
            throw Damage($"cannot be decompressed from {stored} bytes to {entries}");
        _loadedBytes = entries;
        _next += length;
    }

    private CorruptionException Damage(string what) => new($"The spill file of a sort is damaged: the block at offset {_next} {what}.");
}
