using System.Diagnostics.CodeAnalysis;
using SQLitePCL;
using static SQLitePCL.raw;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// SQLite in WAL mode, by default with full sync, so that every commit is durable. Other settings are the defaults. The library is that of
/// <c>Microsoft.Data.Sqlite</c>, called below its commands and parameters.
/// </summary>
internal sealed class SqliteEngine : BenchmarkEngine
{
    private readonly string _path;
    private readonly string _synchronous;
    private readonly Connection _connection;
    private readonly sqlite3_stmt _begin;
    private readonly sqlite3_stmt _commit;
    private readonly sqlite3_stmt _put;
    private readonly sqlite3_stmt _delete;

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
        $"SQLite {sqlite3_libversion().utf8_to_string()}, with the package's library; WAL, synchronous {_synchronous}; prepared statements; "
        + "BLOB key, WITHOUT ROWID; other settings default; one writer, concurrent callers share a lock";

    public override void BeginWrite() => _connection.RunPrepared(_begin);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        _connection.Check(sqlite3_bind_blob(_put, 1, key));
        _connection.Check(sqlite3_bind_blob(_put, 2, value));
        _connection.RunPrepared(_put);
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        _connection.Check(sqlite3_bind_blob(_delete, 1, key));
        var found = _connection.StepRow(_delete);
        _connection.Check(sqlite3_reset(_delete));
        return found;
    }

    public override void Commit() => _connection.RunPrepared(_commit);

    public override BenchmarkReader CreateReader() => new Reader(_path);

    public override void Dispose() => _connection.Dispose();

    /// <summary>Reads through its own connection, because a snapshot of SQLite belongs to a connection.</summary>
    private sealed class Reader : BenchmarkReader
    {
        private readonly Connection _connection;
        private readonly sqlite3_stmt _begin;
        private readonly sqlite3_stmt _commit;
        private readonly sqlite3_stmt _get;
        private readonly sqlite3_stmt _forward;
        private readonly sqlite3_stmt _backward;
        private sqlite3_stmt? _scan;
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
            _ = sqlite3_reset(_get);
            EndScan();
            _connection.RunPrepared(_commit);
            _isReading = false;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            _ = sqlite3_reset(_get);
            _connection.Check(sqlite3_bind_blob(_get, 1, key));
            var found = _connection.StepRow(_get);
            value = found ? sqlite3_column_blob(_get, 0) : default;
            return found;
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

        private bool Start(sqlite3_stmt statement, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            EndScan();
            _scan = statement;
            return Move(out key, out value);
        }

        private bool Move(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            var found = _connection.StepRow(_scan!);
            key = found ? sqlite3_column_blob(_scan, 0) : default;
            value = found ? sqlite3_column_blob(_scan, 1) : default;
            return found;
        }

        private void EndScan()
        {
            if (_scan is not null)
                _ = sqlite3_reset(_scan);
            _scan = null;
        }
    }

    /// <summary>A connection with its prepared statements.</summary>
    private sealed class Connection : IDisposable
    {
        private const int BusyMilliseconds = 60_000;

        private readonly List<sqlite3_stmt> _statements = [];
        private readonly sqlite3 _handle;

        static Connection() => Batteries_V2.Init();

        public Connection(string path, string synchronous = "FULL")
        {
            var code = sqlite3_open_v2(path, out _handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: null);
            Check(code);
            Check(sqlite3_busy_timeout(_handle, BusyMilliseconds));
            Run("PRAGMA journal_mode=WAL");
            Run($"PRAGMA synchronous={synchronous}");
        }

        public void Run(string sql) => Check(sqlite3_exec(_handle, sql));

        public sqlite3_stmt Prepare(string sql)
        {
            Check(sqlite3_prepare_v2(_handle, sql, out var statement));
            _statements.Add(statement);
            return statement;
        }

        /// <summary>Runs a statement that returns no row.</summary>
        public void RunPrepared(sqlite3_stmt statement)
        {
            var code = sqlite3_step(statement);
            _ = sqlite3_reset(statement);
            if (code != SQLITE_DONE)
                Throw(code);
        }

        /// <returns>True if there is a row.</returns>
        public bool StepRow(sqlite3_stmt statement)
        {
            var code = sqlite3_step(statement);
            if (code is not (SQLITE_ROW or SQLITE_DONE))
                Throw(code);
            return code == SQLITE_ROW;
        }

        public void Check(int code)
        {
            if (code != SQLITE_OK)
                Throw(code);
        }

        public void Dispose()
        {
            foreach (var statement in _statements)
                statement.Dispose();
            _handle.Dispose();
        }

        [DoesNotReturn]
        private void Throw(int code) => throw new BenchmarkException($"SQLite: {sqlite3_errmsg(_handle).utf8_to_string()} ({code})");
    }
}
