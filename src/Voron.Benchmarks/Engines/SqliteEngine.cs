using System.Runtime.InteropServices;
using static Voron.Benchmarks.Peers.SqliteNative;

namespace Voron.Benchmarks.Engines;

/// <summary>SQLite in WAL mode, by default with full sync, so that every commit is durable. Other settings are the defaults.</summary>
internal sealed unsafe class SqliteEngine : BenchmarkEngine
{
    private readonly string _path;
    private readonly string _synchronous;
    private readonly SqliteConnection _connection;
    private readonly nint _begin;
    private readonly nint _commit;
    private readonly nint _put;
    private readonly nint _delete;

    public SqliteEngine(string directory, string synchronous = "FULL")
    {
        _synchronous = synchronous;
        _path = Path.Combine(directory, "items.sqlite");
        _connection = new SqliteConnection(_path, synchronous);
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

    public override BenchmarkReader CreateReader() => new SqliteReader(_path);

    public override void Dispose() => _connection.Dispose();
}
