using System.Runtime.ExceptionServices;
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
    private byte* _inUse;
    private byte* _loaded;
    private byte* _stored;
    private int _loadedBytes;

    // The next block: its place, and its header, which is read together with the block before it.
    private long _next;
    private RunBlock _header;
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
    public static long MemoryOf(int largestBlock) => 3 * BufferBytes(largestBlock);

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
        var used = _inUse;
        _inUse = _loaded;
        _loaded = used;
        entries = _inUse + RunBlock.Size;
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
        _context.Memory.Free(_inUse);
        _context.Memory.Free(_loaded);
        _context.Memory.Free(_stored);
        _inUse = _loaded = _stored = null;
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

    private static long BufferBytes(int largestBlock) => largestBlock + 2L * RunBlock.Size;

    private byte* Allocate() => (byte*)_context.Memory.Resize(null, (nuint)BufferBytes(_run.LargestBlock));

    private void Begin()
    {
        _isPending = true;
        Offer(_context.Options.UsesPool);
    }

    private void Load()
    {
        if (_next == _run.Offset)
        {
            _file.Read(_next, _stored, RunBlock.Size);
            _header = *(RunBlock*)_stored;
        }

        var block = (RunBlock*)_stored;
        *block = _header;
        var (stored, entries) = (_header.StoredBytes, _header.EntryBytes);
        var end = _next + RunBlock.Size + stored;
        if (stored <= 0 || stored > entries || entries > _run.LargestBlock || end > _run.End)
            throw Damage($"has {stored} bytes for {entries}, but {_run.End - _next - RunBlock.Size} bytes follow, and a block has at most {_run.LargestBlock}");

        var isLast = end == _run.End;
        _file.Read(_next + RunBlock.Size, _stored + RunBlock.Size, stored + (isLast ? 0 : RunBlock.Size));
        if (!isLast)
            _header = *(RunBlock*)(_stored + RunBlock.Size + stored);
        var sum = RunBlock.SumOf(block, _next);
        if (block->Sum != sum && !PlantedFault.BelieveSpilledBlocks)
            throw Damage($"has the checksum {block->Sum:x16}, but its content has {sum:x16}");

        if (stored == entries)
        {
            _stored = _loaded;
            _loaded = (byte*)block;
        }
        else if (!RunBlock.TryUnpack(block, _loaded + RunBlock.Size))
        {
            throw Damage($"cannot be decompressed from {stored} bytes to {entries}");
        }

        _loadedBytes = entries;
        _next = end;
    }

    private CorruptionException Damage(string what) => new($"The spill file of a sort is damaged: the block at offset {_next} {what}.");
}
