using System.Diagnostics.CodeAnalysis;
using static Voron.Benchmarks.Peers.SqliteNative;

namespace Voron.Benchmarks.Engines;

/// <summary>SQLite in WAL mode, by default with full sync, so that every commit is durable. Other settings are the defaults.</summary>
internal sealed unsafe class SqliteEngine : BenchmarkEngine
{
    private readonly string _path;
    private readonly string _synchronous;
    private readonly Connection _connection;
    private readonly nint _begin;
    private readonly nint _commit;
    private readonly nint _put;
    private readonly nint _delete;

    public SqliteEngine(string directory, string synchronous = "FULL")
    {
        _synchronous = synchronous;
        _path = Path.Combine(directory, "items.sqlite");
        _connection = new Connection(_path, synchronous);
        _connection.Run("CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
        _begin = _connection.Prepare("BEGIN IMMEDIATE");
        _commit = _connection.Prepare("COMMIT");
        _put = _connection.Prepare("INSERT INTO items VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
        _delete = _connection.Prepare("DELETE FROM items WHERE key = ?1 RETURNING 1");
    }

    public override string Settings =>
        $"SQLite {Marshal.PtrToStringUTF8((nint)Version())}; WAL, synchronous {_synchronous}; prepared statements; BLOB key, WITHOUT ROWID; "
        + "other settings default; one writer, concurrent callers share a lock";

    public override void BeginWrite() => _connection.RunPrepared(_begin);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
        {
            _connection.Check(BindBlob(_put, 1, keyData, key.Length, 0));
            _connection.Check(BindBlob(_put, 2, valueData, value.Length, 0));
            _connection.RunPrepared(_put);
        }
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        fixed (byte* keyData = key)
        {
            _connection.Check(BindBlob(_delete, 1, keyData, key.Length, 0));
            var found = _connection.StepRow(_delete);
            _connection.Check(Reset(_delete));
            return found;
        }
    }

    public override void Commit() => _connection.RunPrepared(_commit);

    public override BenchmarkReader CreateReader() => new Reader(_path);

    public override void Dispose() => _connection.Dispose();

    /// <summary>Reads through its own connection, because a snapshot of SQLite belongs to a connection.</summary>
    private sealed class Reader : BenchmarkReader
    {
        private readonly Connection _connection;
        private readonly nint _begin;
        private readonly nint _commit;
        private readonly nint _get;
        private readonly nint _forward;
        private readonly nint _backward;
        private nint _scan;
        private bool _isReading;

        public Reader(string path)
        {
            _connection = new Connection(path);
            _begin = _connection.Prepare("BEGIN");
            _commit = _connection.Prepare("COMMIT");
            _get = _connection.Prepare("SELECT value FROM items WHERE key = ?1");
            _forward = _connection.Prepare("SELECT key, value FROM items ORDER BY key");
            _backward = _connection.Prepare("SELECT key, value FROM items ORDER BY key DESC");
        }

        public override void Begin()
        {
            _connection.RunPrepared(_begin);
            _isReading = true;
        }

        public override void End()
        {
            _ = Reset(_get);
            EndScan();
            _connection.RunPrepared(_commit);
            _isReading = false;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            _ = Reset(_get);
            fixed (byte* keyData = key)
            {
                _connection.Check(BindBlob(_get, 1, keyData, key.Length, 0));
                var found = _connection.StepRow(_get);
                value = found ? Connection.Blob(_get, 0) : default;
                return found;
            }
        }

        public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Start(_forward, out key, out value);

        public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Start(_backward, out key, out value);

        public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(out key, out value);

        public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(out key, out value);

        public override void Dispose()
        {
            if (_isReading)
                End();
            _connection.Dispose();
        }

        private bool Start(nint statement, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            EndScan();
            _scan = statement;
            return Move(out key, out value);
        }

        private bool Move(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            var found = _connection.StepRow(_scan);
            key = found ? Connection.Blob(_scan, 0) : default;
            value = found ? Connection.Blob(_scan, 1) : default;
            return found;
        }

        private void EndScan()
        {
            if (_scan != 0)
                _ = Reset(_scan);
            _scan = 0;
        }
    }

    /// <summary>A connection with its prepared statements.</summary>
    private sealed class Connection : IDisposable
    {
        private const int BusyMilliseconds = 60_000;

        private readonly List<nint> _statements = [];
        private readonly nint _handle;

        public Connection(string path, string synchronous = "FULL")
        {
            nint handle;
            var code = Open(path, &handle, OpenReadWrite | OpenCreate, 0);
            _handle = handle;
            Check(code);
            Check(SetBusyTimeout(handle, BusyMilliseconds));
            Run("PRAGMA journal_mode=WAL");
            Run($"PRAGMA synchronous={synchronous}");
        }

        public void Run(string sql) => Check(Execute(_handle, sql, 0, 0, null));

        public nint Prepare(string sql)
        {
            nint statement;
            Check(Peers.SqliteNative.Prepare(_handle, sql, -1, &statement, null));
            _statements.Add(statement);
            return statement;
        }

        /// <summary>Runs a statement that returns no row.</summary>
        public void RunPrepared(nint statement)
        {
            var code = Step(statement);
            _ = Reset(statement);
            if (code != Done)
                Throw(code);
        }

        /// <returns>True if there is a row.</returns>
        public bool StepRow(nint statement)
        {
            var code = Step(statement);
            if (code is not (Row or Done))
                Throw(code);
            return code == Row;
        }

        public static ReadOnlySpan<byte> Blob(nint statement, int column) => new(ColumnBlob(statement, column), ColumnBytes(statement, column));

        public void Check(int code)
        {
            if (code != Ok)
                Throw(code);
        }

        public void Dispose()
        {
            foreach (var statement in _statements)
                _ = Finish(statement);
            _ = Close(_handle);
        }

        [DoesNotReturn]
        private void Throw(int code) => throw new BenchmarkException($"SQLite: {Marshal.PtrToStringUTF8((nint)ErrorText(_handle))} ({code})");
    }
}
