using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Engines.LmdbEngine;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>A read transaction and its cursor, created once, then reset and renewed, which is the cheapest way that LMDB offers.</summary>
internal sealed unsafe class LmdbReader(nint environment, uint database) : BenchmarkReader
{
    private nint _read;
    private nint _cursor;
    private bool _readIsReset;
    private bool _cursorIsStale;

    public override void Begin()
    {
        if (_readIsReset)
        {
            Check(RenewTransaction(_read));
        }
        else
        {
            nint transaction;
            Check(BeginTransaction(environment, 0, ReadOnlyTransaction, &transaction));
            _read = transaction;
        }
        _readIsReset = false;
        _cursorIsStale = true;
    }

    public override void End()
    {
        ResetTransaction(_read);
        _readIsReset = true;
    }

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            LmdbValue nativeValue;
            var code = Get(_read, database, &nativeKey, &nativeValue);
            value = code == Success ? nativeValue.Span : default;
            return Found(code);
        }
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(PrepareCursor(), CursorFirst, out key, out value);

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(PrepareCursor(), CursorLast, out key, out value);

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(_cursor, CursorNext, out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Move(_cursor, CursorPrevious, out key, out value);

    public override void Dispose()
    {
        if (_cursor != 0)
            CloseCursor(_cursor);
        if (_read != 0)
            AbortTransaction(_read);
    }

    private static bool Move(nint cursor, int operation, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        LmdbValue nativeKey;
        LmdbValue nativeValue;
        var code = MoveCursor(cursor, &nativeKey, &nativeValue, operation);
        if (code == Success)
        {
            key = nativeKey.Span;
            value = nativeValue.Span;
            return true;
        }
        key = default;
        value = default;
        return Found(code);
    }

    private nint PrepareCursor()
    {
        if (!_cursorIsStale)
            return _cursor;
        if (_cursor == 0)
        {
            nint cursor;
            Check(OpenCursor(_read, database, &cursor));
            _cursor = cursor;
        }
        else
        {
            Check(RenewCursor(_read, _cursor));
        }
        _cursorIsStale = false;
        return _cursor;
    }
}
