using DBreeze.Transactions;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// DBreeze: one table, a trie of keys in a file of its own. Puts are sorted in their transaction, and updates are appended, as the documentation
/// asks for keys in random order. A transaction belongs to its thread.
/// </summary>
internal sealed class DBreezeEngine : BenchmarkEngine
{
    private const string Table = "items";

    private readonly DBreeze.DBreezeEngine _engine;
    private Transaction? _write;

    public DBreezeEngine(string directory) => _engine = new DBreeze.DBreezeEngine(directory);

    public override string Settings =>
        $"DBreeze {typeof(Transaction).Assembly.GetName().Version}; default settings; one table; puts sorted in their transaction, updates appended; "
        + "concurrent callers share a lock";

    public override void BeginWrite()
    {
        _write = _engine.GetTransaction();
        _write.SynchronizeTables(Table);
        _write.Technical_SetTable_OverwriteIsNotAllowed(Table);
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) =>
        _write!.InsertRandomKeySorter(Table, key.ToArray(), value.ToArray());

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        _write!.RemoveKey(Table, key.ToArray(), out var found);
        return found;
    }

    public override void Commit()
    {
        _write!.Commit();
        _write.Dispose();
        _write = null;
    }

    public override BenchmarkReader CreateReader() => new Reader(_engine);

    public override void Dispose()
    {
        _write?.Dispose();
        _engine.Dispose();
    }

    /// <summary>Reads committed items. A scan sees the table as it was when it began; gets see the newest commit.</summary>
    private sealed class Reader(DBreeze.DBreezeEngine engine) : EnumeratingReader
    {
        private Transaction? _transaction;

        public override void Begin()
        {
            _transaction = engine.GetTransaction();
            _transaction.ValuesLazyLoadingIsOn = false;
        }

        public override void End()
        {
            base.End();
            _transaction?.Dispose();
            _transaction = null;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            var row = _transaction!.Select<byte[], byte[]>(Table, key.ToArray());
            value = row.Exists ? row.Value : null;
            return row.Exists;
        }

        protected override IEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> Scan(bool backward) =>
            (backward ? _transaction!.SelectBackward<byte[], byte[]>(Table) : _transaction!.SelectForward<byte[], byte[]>(Table))
                .Select(row => ((ReadOnlyMemory<byte>)row.Key, (ReadOnlyMemory<byte>)row.Value));
    }
}
