using static Voron.Benchmarks.Peers.RocksDbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>Reads a snapshot. Values are pinned instead of copied.</summary>
internal sealed unsafe class RocksDbReader(nint database) : BenchmarkReader
{
    private readonly nint _options = CreateReadOptions();
    private nint _snapshot;
    private nint _iterator;
    private nint _pinned;

    public override void Begin()
    {
        _snapshot = CreateSnapshot(database);
        SetSnapshot(_options, _snapshot);
    }

    public override void End()
    {
        Unpin();
        if (_iterator != 0)
            DestroyIterator(_iterator);
        _iterator = 0;
        SetSnapshot(_options, 0);
        ReleaseSnapshot(database, _snapshot);
        _snapshot = 0;
    }

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        Unpin();
        byte* error = null;
        fixed (byte* keyData = key)
            _pinned = GetPinned(database, _options, keyData, (nuint)key.Length, &error);
        RocksDbEngine.Check(error);
        nuint length = 0;
        var data = _pinned == 0 ? null : PinnedValue(_pinned, &length);
        value = new ReadOnlySpan<byte>(data, (int)length);
        return data != null;
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareIterator();
        SeekToFirst(_iterator);
        return Current(out key, out value);
    }

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareIterator();
        SeekToLast(_iterator);
        return Current(out key, out value);
    }

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        Next(_iterator);
        return Current(out key, out value);
    }

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        Previous(_iterator);
        return Current(out key, out value);
    }

    public override void Dispose()
    {
        if (_snapshot != 0)
            End();
        DestroyReadOptions(_options);
    }

    private bool Current(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        if (IsValid(_iterator) == 0)
        {
            byte* error = null;
            IteratorError(_iterator, &error);
            RocksDbEngine.Check(error);
            key = default;
            value = default;
            return false;
        }
        nuint keyLength;
        nuint valueLength;
        var keyData = IteratorKey(_iterator, &keyLength);
        var valueData = IteratorValue(_iterator, &valueLength);
        key = new ReadOnlySpan<byte>(keyData, (int)keyLength);
        value = new ReadOnlySpan<byte>(valueData, (int)valueLength);
        return true;
    }

    private void PrepareIterator()
    {
        if (_iterator == 0)
            _iterator = CreateIterator(database, _options);
    }

    private void Unpin()
    {
        if (_pinned != 0)
            DestroyPinned(_pinned);
        _pinned = 0;
    }
}
