using Voron.Compression;
using Voron.Testing;

namespace Voron.Sorting;

/// <summary>Writes entries in key order to the end of a spill file, in blocks.</summary>
internal sealed unsafe class RunWriter : IDisposable
{
    // Compressed blocks are stored if they save an eighth. While they do not, fewer and fewer blocks are tried.
    private const int WorthwhileShift = 3;
    private const int MaxUntried = 63;

    private readonly SortContext _context;
    private readonly RunFile _file;
    private readonly SortedRun _run;
    private SectorBuffer? _block;
    private SectorBuffer? _packed;
    private SectorBuffer? _written;
    private byte* _key;
    private int _capacity;
    private int _used;
    private int _keyLength;
    private int _untried;
    private int _untriedUntilNow;

    /// <param name="context">The sort.</param>
    /// <param name="file">Receives the blocks.</param>
    /// <param name="run">Receives the entries; a run that has some must be at the end of the file, and end before the first new key.</param>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public RunWriter(SortContext context, RunFile file, SortedRun run)
    {
        _context = context;
        _file = file;
        _run = run;
        try
        {
            _key = (byte*)context.Memory.Resize(null, (nuint)context.LongestKey + 1);
            Resize(context.Sizes.BlockBytes - RunBlock.Size);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    private byte* Entries => _block!.Address + RunBlock.Size;

    /// <summary>Writes the current entry of a merger and all after it, and ends the run.</summary>
    /// <exception cref="StorageFullException">The disk has no space.</exception>
    /// <exception cref="StorageAccessException">The file cannot be written.</exception>
    public void AddRest(StreamMerger merger)
    {
        do
            Add(merger.Current);
        while (merger.MoveNext());
        if (_used > 0 && !PlantedFault.LeaveLastBlockOut)
            WriteBlock();
        _file.Settle();
        _run.LastKey = new ReadOnlySpan<byte>(_key, _keyLength).ToArray();
    }

    public void Dispose()
    {
        _file.Stop();
        FreeBuffers();
        _context.Memory.Free(_key);
        _key = null;
    }

    private void Add(SortedStream entry)
    {
        var most = RunBlock.MaxBytesBeside + entry.KeyLength + entry.ValueLength;
        if (most > _capacity - _used && _used > 0)
            WriteBlock();
        if (most > _capacity)
            Resize(most);

        var key = entry.KeySpan;
        var shared = _used == 0 ? 0 : key.CommonPrefixLength(new ReadOnlySpan<byte>(_key, _keyLength));
        var rest = key[shared..];
        var at = RunBlock.WriteNumber(Entries + _used, (uint)shared);
        at = RunBlock.WriteNumber(at, (uint)rest.Length);
        at = RunBlock.WriteNumber(at, (uint)entry.ValueLength);
        rest.CopyTo(new Span<byte>(at, rest.Length));
        at += rest.Length;
        new ReadOnlySpan<byte>(entry.Value, entry.ValueLength).CopyTo(new Span<byte>(at, entry.ValueLength));
        at += entry.ValueLength;
        _used = (int)(at - Entries);

        rest.CopyTo(new Span<byte>(_key + shared, rest.Length));
        _keyLength = key.Length;
        if (_run.Entries++ == 0)
            _run.FirstKey = key.ToArray();
    }

    private void WriteBlock()
    {
        _context.Check();
        var packed = Pack();
        var block = (RunBlock*)(packed > 0 ? _packed! : _block!).Address;
        *block = new RunBlock { StoredBytes = packed > 0 ? packed : _used, EntryBytes = _used };
        var end = RunBlock.Size + block->StoredBytes;
        var length = RunBlock.LengthOf(block->StoredBytes);
        block->Sum = RunBlock.SumOf(block, _file.Length);
        new Span<byte>((byte*)block + end, length - end).Clear();
        _file.Append((byte*)block, length);

        // The block before it has been written.
        if (packed > 0)
            (_packed, _written) = (_written, _packed);
        else
            (_block, _written) = (_written, _block);
        _run.End = _file.Length;
        _run.LargestBlock = Math.Max(_run.LargestBlock, _used);
        _used = 0;
    }

    // Returns 0 if the block is better stored as it is.
    private int Pack()
    {
        if (_untriedUntilNow < _untried)
        {
            _untriedUntilNow++;
            return 0;
        }

        _untriedUntilNow = 0;
        var stored = Lz4Block.Compress(Entries, _used, _packed!.Address + RunBlock.Size, _used - (_used >> WorthwhileShift));
        _untried = stored > 0 ? 0 : Math.Min(2 * _untried + 1, MaxUntried);
        return stored;
    }

    // The buffers are empty, or will be when the last block is written.
    private void Resize(int capacity)
    {
        _file.Settle();
        FreeBuffers();
        _block = new SectorBuffer(_context.Memory, RunBlock.LengthOf(capacity));
        _packed = new SectorBuffer(_context.Memory, RunBlock.LengthOf(capacity));
        _written = new SectorBuffer(_context.Memory, RunBlock.LengthOf(capacity));
        _capacity = capacity;
    }

    private void FreeBuffers()
    {
        _block?.Dispose();
        _packed?.Dispose();
        _written?.Dispose();
    }
}
