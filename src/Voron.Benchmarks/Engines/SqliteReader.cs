using static Voron.Benchmarks.Peers.SqliteNative;

namespace Voron.Benchmarks.Engines;

/// <summary>Reads through its own connection, because a snapshot of SQLite belongs to a connection.</summary>
internal sealed unsafe class SqliteReader : BenchmarkReader
{
    private readonly SqliteConnection _connection;
    private readonly nint _begin;
    private readonly nint _commit;
    private readonly nint _get;
    private readonly nint _forward;
    private readonly nint _backward;
    private nint _scan;
    private bool _isReading;

    public SqliteReader(string path)
    {
        _connection = new SqliteConnection(path);
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
            value = found ? SqliteConnection.Blob(_get, 0) : default;
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
        key = found ? SqliteConnection.Blob(_scan, 0) : default;
        value = found ? SqliteConnection.Blob(_scan, 1) : default;
        return found;
    }

    private void EndScan()
    {
        if (_scan != 0)
            _ = Reset(_scan);
        _scan = 0;
    }
}
