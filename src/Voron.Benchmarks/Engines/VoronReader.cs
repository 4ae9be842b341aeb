using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Engines;

/// <summary>A read transaction with its tree, and a cursor for scans.</summary>
internal sealed class VoronReader(StorageEnvironment environment) : BenchmarkReader
{
    private readonly LookupBatch _batch = new();
    private ReadTransaction _read;
    private Tree _tree;
    private Cursor _cursor;
    private bool _isReading;
    private bool _hasCursor;

    public override void Begin()
    {
        _read = environment.BeginRead();
        _tree = _read.OpenTree(VoronEngine.TreeName);
        _isReading = true;
    }

    public override void End()
    {
        if (_hasCursor)
            _cursor.Dispose();
        _hasCursor = false;
        _read.Dispose();
        _isReading = false;
    }

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => _tree.TryGet(key, out value);

    public override int GetMany(ItemBuffer keys, int count, ref ContentChecksum checksum)
    {
        _batch.Clear();
        for (var i = 0; i < count; i++)
            _batch.Add(keys.Key(i));
        var found = _tree.GetMany(_batch);
        var sum = checksum;
        for (var i = 0; i < count; i++)
        {
            if (_batch.TryGetValue(i, out var value))
                sum.Add(value);
        }
        checksum = sum;
        return found;
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Current(_cursor.SeekFirst(), out key, out value);
    }

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Current(_cursor.SeekLast(), out key, out value);
    }

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(_cursor.MoveNext(), out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(_cursor.MovePrevious(), out key, out value);

    public override void Dispose()
    {
        if (_isReading)
            End();
    }

    private bool Current(bool found, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        key = found ? _cursor.Key : default;
        value = found ? _cursor.Value : default;
        return found;
    }

    private void PrepareCursor()
    {
        if (_hasCursor)
            return;
        _cursor = _tree.OpenCursor();
        _hasCursor = true;
    }
}
