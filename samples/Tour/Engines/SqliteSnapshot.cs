using Microsoft.Data.Sqlite;
using Tour.Data;
using static SQLitePCL.raw;

namespace Tour.Engines;

/// <summary>A read transaction on a connection of its own.</summary>
internal sealed class SqliteSnapshot : ISnapshot
{
    private readonly SqliteConnection _connection;
    private readonly SqliteCommand _get;
    private readonly SqliteCommand _range;
    private readonly SqliteCommand _all;

    public SqliteSnapshot(SqliteConnection connection, string table)
    {
        _connection = connection;
        _get = SqliteStore.Prepare(connection, $"SELECT text FROM {table} WHERE name = $name", "$name");
        _range = SqliteStore.Prepare(
            connection, $"SELECT name, text FROM {table} WHERE name >= $start AND name < $end ORDER BY name", "$start", "$end");
        _all = SqliteStore.Prepare(connection, $"SELECT name, text FROM {table} ORDER BY name");
        using var begin = SqliteStore.Prepare(connection, "BEGIN");
        begin.ExecuteNonQuery();

        // The snapshot is that of the first statement which reads.
        using var first = SqliteStore.Prepare(connection, $"SELECT 1 FROM {table} LIMIT 1");
        first.ExecuteScalar();
    }

    public ulong Read(byte[] key)
    {
        _get.Parameters[0].Value = key;
        using var reader = _get.ExecuteReader();
        return reader.Read() ? Digest.HashOf(sqlite3_column_blob(reader.Handle, 0)) : 0;
    }

    public Digest ReadRange(KeyPrefix prefix)
    {
        _range.Parameters[0].Value = prefix.Start;
        _range.Parameters[1].Value = prefix.End;
        var found = default(Digest);
        using var reader = _range.ExecuteReader();
        while (reader.Read())
            found = found.ThenBy(sqlite3_column_blob(reader.Handle, 0), sqlite3_column_blob(reader.Handle, 1));
        return found;
    }

    public Digest ReadAll()
    {
        var found = default(Digest);
        using var reader = _all.ExecuteReader();
        while (reader.Read())
            found += Digest.Of(sqlite3_column_blob(reader.Handle, 0), sqlite3_column_blob(reader.Handle, 1));
        return found;
    }

    public void Dispose()
    {
        foreach (var command in (SqliteCommand[])[_get, _range, _all])
            command.Dispose();
        _connection.Dispose();
    }
}
