using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// LMDB as its documentation has it by default: every commit synced, no writable map, the unnamed database. A read
/// transaction and its cursor are made once, then reset and renewed, which is the cheapest way it offers.
/// </summary>
internal sealed unsafe class LmdbEngine : BenchmarkEngine
{
    private const long MapBytes = 8L << 30;
    private const uint FileMode644 = 0x1A4;

    private readonly nint _environment;
    private readonly uint _database;
    private nint _write;
    private nint _read;
    private nint _cursor;
    private bool _readIsReset;
    private bool _cursorIsStale;

    public LmdbEngine(string directory)
    {
        nint environment;
        Check(CreateEnvironment(&environment));
        _environment = environment;
        try
        {
            Check(SetMapSize(environment, unchecked((nuint)MapBytes)));
            Check(OpenEnvironment(environment, directory, flags: 0, FileMode644));
            BeginWrite();
            uint database;
            Check(OpenDatabase(_write, name: null, flags: 0, &database));
            _database = database;
            Commit();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public override string Settings
    {
        get
        {
            string version = Marshal.PtrToStringUTF8((nint)Version(null, null, null)) ?? "LMDB";
            return string.Create(
                CultureInfo.InvariantCulture,
                $"{version}; map {MapBytes >> 30} GiB; flags 0: each commit synced, no writable map; unnamed database");
        }
    }

    public override void BeginWrite()
    {
        nint transaction;
        Check(BeginTransaction(_environment, 0, flags: 0, &transaction));
        _write = transaction;
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            var nativeValue = new LmdbValue(valueData, value.Length);
            Check(LmdbNative.Put(_write, _database, &nativeKey, &nativeValue, flags: 0));
        }
    }

    public override void Commit()
    {
        nint transaction = _write;
        _write = 0;
        Check(CommitTransaction(transaction));
    }

    public override void BeginRead()
    {
        if (_readIsReset)
        {
            Check(RenewTransaction(_read));
        }
        else
        {
            nint transaction;
            Check(BeginTransaction(_environment, 0, ReadOnlyTransaction, &transaction));
            _read = transaction;
        }
        _readIsReset = false;
        _cursorIsStale = true;
    }

    public override void EndRead()
    {
        ResetTransaction(_read);
        _readIsReset = true;
    }

    public override long CountItems()
    {
        LmdbStatistics statistics;
        Check(ReadStatistics(_read, _database, &statistics));
        return (long)statistics.Entries;
    }

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            LmdbValue nativeValue;
            int code = Get(_read, _database, &nativeKey, &nativeValue);
            value = code == Success ? nativeValue.Span : default;
            return Found(code);
        }
    }

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Move(CursorFirst, out key, out value);
    }

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Move(CursorLast, out key, out value);
    }

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(CursorNext, out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(CursorPrevious, out key, out value);

    public override void Dispose()
    {
        if (_cursor != 0)
            CloseCursor(_cursor);
        if (_read != 0)
            AbortTransaction(_read);
        if (_write != 0)
            AbortTransaction(_write);
        CloseEnvironment(_environment);
    }

    private bool Move(int operation, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        LmdbValue nativeKey;
        LmdbValue nativeValue;
        int code = MoveCursor(_cursor, &nativeKey, &nativeValue, operation);
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

    private void PrepareCursor()
    {
        if (!_cursorIsStale)
            return;
        if (_cursor == 0)
        {
            nint cursor;
            Check(OpenCursor(_read, _database, &cursor));
            _cursor = cursor;
        }
        else
        {
            Check(RenewCursor(_read, _cursor));
        }
        _cursorIsStale = false;
    }

    private static bool Found(int code)
    {
        if (code == Success)
            return true;
        if (code != NotFound)
            Throw(code);
        return false;
    }

    private static void Check(int code)
    {
        if (code != Success)
            Throw(code);
    }

    [DoesNotReturn]
    private static void Throw(int code) =>
        throw new BenchmarkException($"LMDB: {Marshal.PtrToStringUTF8((nint)ErrorText(code))} ({code})");
}
