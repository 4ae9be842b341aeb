using static Voron.Benchmarks.Peers.SqliteNative;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>Counters of SQLite by an upsert of an INTEGER column, with the settings of <see cref="SqliteEngine"/>.</summary>
internal sealed unsafe class SqliteCounters : CounterStore
{
    private readonly SqliteConnection _connection;
    private readonly nint _begin;
    private readonly nint _commit;
    private readonly nint _increment;
    private readonly nint _read;

    public SqliteCounters(string directory)
    {
        _connection = new SqliteConnection(Path.Combine(directory, "counters.sqlite"));
        _connection.Run("CREATE TABLE counters (key BLOB PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID");
        _begin = _connection.Prepare("BEGIN IMMEDIATE");
        _commit = _connection.Prepare("COMMIT");
        _increment = _connection.Prepare("INSERT INTO counters VALUES (?1, 1) ON CONFLICT (key) DO UPDATE SET n = n + 1");
        _read = _connection.Prepare("SELECT key, n FROM counters ORDER BY key");
    }

    public override void BeginWrite() => _connection.RunPrepared(_begin);

    public override void Increment(ReadOnlySpan<byte> key)
    {
        fixed (byte* data = key)
        {
            _connection.Check(BindBlob(_increment, 1, data, key.Length, 0));
            _connection.RunPrepared(_increment);
        }
    }

    public override void Commit() => _connection.RunPrepared(_commit);

    public override ulong ReadAll()
    {
        var checksum = 0UL;
        while (_connection.StepRow(_read))
            checksum = AddTo(checksum, SqliteConnection.Blob(_read, 0), ColumnInteger(_read, 1));
        _connection.Check(Reset(_read));
        return checksum;
    }

    public override void Dispose() => _connection.Dispose();
}
