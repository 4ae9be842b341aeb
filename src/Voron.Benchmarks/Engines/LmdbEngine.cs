using System.Diagnostics.CodeAnalysis;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>LMDB with its documented defaults: every commit synced, no writable map, the unnamed database.</summary>
internal sealed unsafe class LmdbEngine : BenchmarkEngine
{
    private const long MapBytes = 64L << 30;
    private const uint FileMode644 = 0x1A4;

    private readonly nint _environment;
    private readonly uint _database;
    private nint _write;

    public LmdbEngine(string directory, int namedDatabases = 0)
    {
        nint environment;
        Check(CreateEnvironment(&environment));
        _environment = environment;
        try
        {
            Check(SetMapSize(environment, unchecked((nuint)MapBytes)));
            Check(SetMaxDatabases(environment, (uint)namedDatabases));
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

    public override string Settings =>
        $"{Marshal.PtrToStringUTF8((nint)Version(null, null, null)) ?? "LMDB"}; map {MapBytes >> 30} GiB; flags 0: each commit synced, no writable map; "
        + "unnamed database";

    /// <summary>The write transaction, or zero.</summary>
    internal nint Writing => _write;

    public override void BeginWrite()
    {
        nint transaction;
        Check(BeginTransaction(_environment, 0, flags: 0, &transaction));
        _write = transaction;
    }

    /// <summary>Opens a named database in the write transaction, or creates it.</summary>
    internal uint OpenNamed(string name, uint flags)
    {
        uint database;
        Check(OpenDatabase(_write, name, flags | CreateDatabase, &database));
        return database;
    }

    /// <summary>Begins a read transaction, which the caller ends.</summary>
    internal nint BeginReading()
    {
        nint transaction;
        Check(BeginTransaction(_environment, 0, ReadOnlyTransaction, &transaction));
        return transaction;
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Put(key, value, flags: 0);

    public override void Append(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => Put(key, value, AppendAtEnd);

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            return Found(LmdbNative.Delete(_write, _database, &nativeKey, null));
        }
    }

    public override void Commit()
    {
        var transaction = _write;
        _write = 0;
        Check(CommitTransaction(transaction));
    }

    public override BenchmarkReader CreateReader() => new Reader(_environment, _database);

    public override void Dispose()
    {
        if (_write != 0)
            AbortTransaction(_write);
        CloseEnvironment(_environment);
    }

    internal static bool Found(int code)
    {
        if (code == Success)
            return true;
        if (code != NotFound)
            Throw(code);
        return false;
    }

    internal static void Check(int code)
    {
        if (code != Success)
            Throw(code);
    }

    private void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, uint flags)
    {
        fixed (byte* keyData = key, valueData = value)
        {
            var nativeKey = new LmdbValue(keyData, key.Length);
            var nativeValue = new LmdbValue(valueData, value.Length);
            Check(LmdbNative.Put(_write, _database, &nativeKey, &nativeValue, flags));
        }
    }

    [DoesNotReturn]
    private static void Throw(int code) => throw new BenchmarkException($"LMDB: {Marshal.PtrToStringUTF8((nint)ErrorText(code))} ({code})");

    /// <summary>A read transaction and its cursor, created once, then reset and renewed, which is the cheapest way that LMDB offers.</summary>
    private sealed class Reader(nint environment, uint database) : BenchmarkReader
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

        public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(_cursor, CursorNext, out key, out value);

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
}
