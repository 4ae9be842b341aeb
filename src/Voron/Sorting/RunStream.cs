namespace Voron.Sorting;

/// <summary>The entries of a run.</summary>
internal sealed unsafe class RunStream : SortedStream
{
    private readonly SortContext _context;
    private readonly SortedRun _run;
    private readonly BlockLoader _loader;
    private readonly int _keyCapacity;
    private byte* _at;
    private byte* _end;
    private long _read;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public RunStream(SortContext context, RunFile file, SortedRun run)
    {
        _context = context;
        _run = run;
        _keyCapacity = context.LongestKey;
        Key = (byte*)context.Memory.Resize(null, (nuint)_keyCapacity + 1);
        try
        {
            _loader = new BlockLoader(context, file, run);
        }
        catch
        {
            context.Memory.Free(Key);
            throw;
        }
    }

    public override int SharedBytes => _run.FirstKey.AsSpan().CommonPrefixLength(_run.LastKey);

    /// <summary>Returns the memory of a stream, in bytes.</summary>
    public static long MemoryOf(SortContext context, int largestBlock) => BlockLoader.MemoryOf(largestBlock) + context.LongestKey + 1;

    public override bool MoveNext()
    {
        if (_at == _end && !TryTakeBlock())
            return false;
        var at = _at;
        var shared = RunBlock.ReadNumber(ref at, _end);
        var rest = RunBlock.ReadNumber(ref at, _end);
        var value = RunBlock.ReadNumber(ref at, _end);
        if (shared > KeyLength || (long)shared + rest > _keyCapacity || (long)rest + value > _end - at || shared + rest == 0)
            ThrowDamage();
        new ReadOnlySpan<byte>(at, (int)rest).CopyTo(new Span<byte>(Key + shared, (int)rest));
        KeyLength = (int)(shared + rest);
        Value = at + rest;
        ValueLength = (int)value;
        _at = Value + value;
        _read++;
        return true;
    }

    public override void Dispose()
    {
        _loader.Dispose();
        _context.Memory.Free(Key);
        Key = null;
    }

    private bool TryTakeBlock()
    {
        if (!_loader.TryTake(out var entries, out var bytes))
        {
            IsOver = true;
            if (_read != _run.Entries)
                throw new CorruptionException($"The spill file of a sort is damaged: a run has {_read} entries instead of {_run.Entries}.");
            return false;
        }

        _at = entries;
        _end = entries + bytes;
        return true;
    }

    private void ThrowDamage() => throw new CorruptionException(
        $"The spill file of a sort is damaged: entry {_read} of the run at offset {_run.Offset} extends past its block or its key.");
}
