namespace Voron.Benchmarks.Engines;

/// <summary>A reader of an engine that returns arrays, and scans by enumerating in one direction.</summary>
internal abstract class EnumeratingReader : BenchmarkReader
{
    private IEnumerator<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)>? _scan;

    public sealed override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Start(backward: false, out key, out value);

    public sealed override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Start(backward: true, out key, out value);

    public sealed override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        var found = _scan!.MoveNext();
        var item = found ? _scan.Current : default;
        key = item.Key.Span;
        value = item.Value.Span;
        return found;
    }

    public sealed override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => MoveNext(out key, out value);

    public override void End()
    {
        _scan?.Dispose();
        _scan = null;
    }

    public override void Dispose() => End();

    /// <summary>Enumerates all items of the snapshot, in the order of their keys or against it.</summary>
    protected abstract IEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> Scan(bool backward);

    private bool Start(bool backward, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        _scan?.Dispose();
        _scan = Scan(backward).GetEnumerator();
        return MoveNext(out key, out value);
    }
}
