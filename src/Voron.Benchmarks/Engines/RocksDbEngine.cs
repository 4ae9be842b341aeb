using RocksDbSharp;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// RocksDB with its default options. A transaction is a synced write batch. The engine does not count its keys, and a delete does not
/// report whether the key existed. A load has the options that the engine has for it, no log, and one compaction at its end.
/// </summary>
internal sealed class RocksDbEngine : BenchmarkEngine
{
    // The options for loads have two, but a store with entries keeps the levels that it has.
    private const int DefaultLevels = 7;

    private readonly string _directory;
    private readonly WriteOptions _synced = new WriteOptions().SetSync(true);
    private readonly WriteOptions _unlogged = new WriteOptions().DisableWal(1);
    private readonly WriteBatch _batch = new();
    private RocksDb _database;
    private bool _isLoading;

    public RocksDbEngine(string directory)
    {
        _directory = directory;
        _database = RocksDb.Open(new DbOptions().SetCreateIfMissing(), directory);
    }

    public override string Settings =>
        $"RocksDB {typeof(RocksDb).Assembly.GetName().Version}, with the package's library; default options; WriteOptions.sync for each batch; "
        + "concurrent callers are threads, grouped by the engine";

    public override void BeginLoad(bool isSorted)
    {
        _database.Dispose();
        var options = (DbOptions)new DbOptions().SetCreateIfMissing().PrepareForBulkLoad().SetNumLevels(DefaultLevels);
        _database = RocksDb.Open(options, _directory);
        _isLoading = true;
    }

    public override void EndLoad()
    {
        _database.Flush(new FlushOptions().SetWaitForFlush(true));
        _database.CompactRange((byte[]?)null, null);
        _database.Dispose();
        _database = RocksDb.Open(new DbOptions().SetCreateIfMissing(), _directory);
        _isLoading = false;
    }

    public override void BeginWrite() => _batch.Clear();

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _batch.Put(key, value);

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        _batch.Delete(key);
        return true;
    }

    public override void Commit() => _database.Write(_batch, _isLoading ? _unlogged : _synced);

    public override void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _database.Put(key, value, cf: null, _synced);

    public override BenchmarkReader CreateReader() => new Reader(_database);

    public override void Dispose()
    {
        _batch.Dispose();
        _database.Dispose();
    }

    /// <summary>Reads a snapshot. Values are pinned instead of copied.</summary>
    private sealed unsafe class Reader(RocksDb database) : BenchmarkReader
    {
        private readonly ReadOptions _options = new();
        private Snapshot? _snapshot;
        private Iterator? _iterator;
        private nint _pinned;

        public override void Begin()
        {
            _snapshot = database.CreateSnapshot();
            _options.SetSnapshot(_snapshot);
        }

        public override void End()
        {
            Unpin();
            _iterator?.Dispose();
            _iterator = null;
            _snapshot?.Dispose();
            _snapshot = null;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            Unpin();
            fixed (byte* keyData = key)
                _pinned = Native.Instance.rocksdb_get_pinned(database.Handle, _options.Handle, keyData, (nuint)key.Length);
            nuint length = 0;
            var data = _pinned == 0 ? 0 : Native.Instance.rocksdb_pinnableslice_value(_pinned, out length);
            value = new ReadOnlySpan<byte>((byte*)data, (int)length);
            return data != 0;
        }

        public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
            Current((_iterator ??= database.NewIterator(cf: null, _options)).SeekToFirst(), out key, out value);

        public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
            Current((_iterator ??= database.NewIterator(cf: null, _options)).SeekToLast(), out key, out value);

        public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Current(_iterator!.Next(), out key, out value);

        public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Current(_iterator!.Prev(), out key, out value);

        public override void Dispose() => End();

        private static bool Current(Iterator iterator, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            key = default;
            value = default;
            if (!iterator.Valid())
                return false;
            key = iterator.GetKeySpan();
            value = iterator.GetValueSpan();
            return true;
        }

        private void Unpin()
        {
            if (_pinned != 0)
                Native.Instance.rocksdb_pinnableslice_destroy(_pinned);
            _pinned = 0;
        }
    }
}
