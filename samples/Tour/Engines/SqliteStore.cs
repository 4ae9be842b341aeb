using Microsoft.Data.Sqlite;
using Tour.Data;

namespace Tour.Engines;

/// <summary>
/// A SQLite database with a write-ahead log that is synced by each commit (<c>synchronous = FULL</c>), with a cache for all of the data, and with
/// statements that are prepared once. Keys are BLOBs in a table without row ids, which is the same tree of bytes as Voron's.
/// </summary>
internal sealed class SqliteStore : IStore
{
    private const int CacheKibibytes = 256 * 1024;
    private const long MapBytes = 1L << 30;

    private readonly string _file;
    private readonly SqliteConnection _connection;
    private readonly SqliteCommand _begin;
    private readonly SqliteCommand _commit;
    private readonly SqliteCommand _rollback;
    private readonly Dictionary<string, SqliteCommand> _puts;

    // Callers take turns, because a connection is for one of them at a time, and SQLite has one writer.
    private readonly SemaphoreSlim _turn = new(1);

    public SqliteStore(string file)
    {
        _file = file;
        _connection = Open(file);
        foreach (var table in Tables.All)
            Execute(_connection, $"CREATE TABLE IF NOT EXISTS {table}(name BLOB PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID");
        _begin = Prepare(_connection, "BEGIN IMMEDIATE");
        _commit = Prepare(_connection, "COMMIT");
        _rollback = Prepare(_connection, "ROLLBACK");
        _puts = Tables.All.ToDictionary(static table => table, table => Prepare(
            _connection, $"INSERT INTO {table} VALUES($name, $text) ON CONFLICT(name) DO UPDATE SET text = excluded.text", "$name", "$text"));
    }

    public static string Version
    {
        get
        {
            using var connection = new SqliteConnection("Data Source=:memory:");
            connection.Open();
            return connection.ServerVersion;
        }
    }

    public string Name => "SQLite";

    public void Put(string table, Member member)
    {
        // A statement outside of a transaction is one.
        var put = _puts[table];
        put.Parameters[0].Value = member.Key;
        put.Parameters[1].Value = member.Text;
        put.ExecuteNonQuery();
    }

    public void PutMany(string table, IEnumerable<Member> members)
    {
        _begin.ExecuteNonQuery();
        try
        {
            foreach (var member in members)
                Put(table, member);
            _commit.ExecuteNonQuery();
        }
        catch
        {
            _rollback.ExecuteNonQuery();
            throw;
        }
    }

    public async ValueTask PutAsync(string table, Member member)
    {
        await _turn.WaitAsync();
        try
        {
            Put(table, member);
        }
        finally
        {
            _turn.Release();
        }
    }

    public void Settle() => Execute(_connection, "PRAGMA wal_checkpoint(TRUNCATE)");

    public ISnapshot OpenSnapshot(string table) => new SqliteSnapshot(Open(_file), table);

    /// <summary>Asks SQLite for problems of its file: "ok" if it finds none.</summary>
    public string CheckIntegrity()
    {
        using var command = Prepare(_connection, "PRAGMA integrity_check(1)");
        return (string)command.ExecuteScalar()!;
    }

    /// <summary>Reads a text; null if its key is missing.</summary>
    public byte[]? Get(string table, byte[] key)
    {
        using var command = Prepare(_connection, $"SELECT text FROM {table} WHERE name = $name", "$name");
        command.Parameters[0].Value = key;
        return (byte[]?)command.ExecuteScalar();
    }

    public void Dispose()
    {
        foreach (var command in (SqliteCommand[])[_begin, _commit, _rollback, .. _puts.Values])
            command.Dispose();
        _connection.Dispose();
        _turn.Dispose();
    }

    public static SqliteCommand Prepare(SqliteConnection connection, string text, params string[] parameters)
    {
        var command = connection.CreateCommand();
        command.CommandText = text;
        foreach (var name in parameters)
            command.Parameters.Add(new SqliteParameter { ParameterName = name });
        return command;
    }

    private static SqliteConnection Open(string file)
    {
        var connection = new SqliteConnection(new SqliteConnectionStringBuilder { DataSource = file, Pooling = false }.ToString());
        connection.Open();
        Execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
        Execute(connection, $"PRAGMA cache_size = -{CacheKibibytes}; PRAGMA mmap_size = {MapBytes}");
        return connection;
    }

    private static void Execute(SqliteConnection connection, string text)
    {
        using var command = Prepare(connection, text);
        command.ExecuteNonQuery();
    }
}
