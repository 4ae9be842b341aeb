using System.Diagnostics.CodeAnalysis;
using static Voron.Benchmarks.Peers.RocksDbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// RocksDB with its default options. A transaction is a synced write batch. The engine does not count its keys, and a delete does not
/// report whether the key existed.
/// </summary>
internal sealed unsafe class RocksDbEngine : BenchmarkEngine
{
    private readonly nint _database;
    private readonly nint _writeOptions;
    private readonly nint _batch;

    public RocksDbEngine(string directory)
    {
        var options = CreateOptions();
        SetCreateIfMissing(options, 1);
        byte* error = null;
        _database = Open(options, directory, &error);
        DestroyOptions(options);
        Check(error);
        _writeOptions = CreateWriteOptions();
        SetSync(_writeOptions, 1);
        _batch = CreateBatch();
    }

    public override string Settings =>
        "RocksDB 7.8; default options; WriteOptions.sync for each batch; concurrent callers are threads, grouped by the engine";

    public override void BeginWrite() => ClearBatch(_batch);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
            BatchPut(_batch, keyData, (nuint)key.Length, valueData, (nuint)value.Length);
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        fixed (byte* keyData = key)
            BatchDelete(_batch, keyData, (nuint)key.Length);
        return true;
    }

    public override void Commit()
    {
        byte* error = null;
        Write(_database, _writeOptions, _batch, &error);
        Check(error);
    }

    public override void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        byte* error = null;
        fixed (byte* keyData = key, valueData = value)
            Peers.RocksDbNative.Put(_database, _writeOptions, keyData, (nuint)key.Length, valueData, (nuint)value.Length, &error);
        Check(error);
    }

    public override BenchmarkReader CreateReader() => new Reader(_database);

    public override void Dispose()
    {
        DestroyBatch(_batch);
        DestroyWriteOptions(_writeOptions);
        Close(_database);
    }

    internal static void Check(byte* error)
    {
        if (error != null)
            Throw(error);
    }

    [DoesNotReturn]
    private static void Throw(byte* error)
    {
        var text = Marshal.PtrToStringUTF8((nint)error);
        Free(error);
        throw new BenchmarkException($"RocksDB: {text}");
    }

    /// <summary>Reads a snapshot. Values are pinned instead of copied.</summary>
    private sealed class Reader(nint database) : BenchmarkReader
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
            Check(error);
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
                Check(error);
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
}
