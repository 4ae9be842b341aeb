using Microsoft.Data.Sqlite;
using Connection = Microsoft.Data.Sqlite.SqliteConnection;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>
/// A table of SQLite through Microsoft.Data.Sqlite: WAL, full sync, prepared statements. Tags are in a column, for reading rows, and in a table whose
/// primary key is tag and row, for finding them: one tree, as an index of tags is in the other engines.
/// </summary>
internal sealed class SqliteTable : TableStore
{
    private const string Columns = "p.id, p.section, p.size, p.priority, p.tags, p.source, p.version, p.description";

    private readonly List<SqliteCommand> _commands = [];
    private readonly Connection _connection;
    private readonly SqliteCommand _begin;
    private readonly SqliteCommand _beginRead;
    private readonly SqliteCommand _commit;
    private readonly SqliteCommand _insert;
    private readonly SqliteCommand _insertTag;
    private readonly SqliteCommand _update;
    private readonly SqliteCommand _get;
    private readonly SqliteCommand[] _reads;
    private long _rows;

    /// <param name="isIndexed">False to leave out the index by section.</param>
    /// <param name="cacheKibibytes">The size of the page cache; null for the default.</param>
    public SqliteTable(string directory, bool isIndexed = true, int? cacheKibibytes = null)
    {
        var builder = new SqliteConnectionStringBuilder { DataSource = Path.Combine(directory, "packages.sqlite"), Pooling = false };
        _connection = new Connection(builder.ConnectionString);
        _connection.Open();
        Run("PRAGMA journal_mode=WAL");
        Run("PRAGMA synchronous=FULL");
        if (cacheKibibytes != null)
            Run($"PRAGMA cache_size=-{cacheKibibytes}");
        Run(
            """
            CREATE TABLE packages (
                row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, section TEXT NOT NULL, size INTEGER NOT NULL, priority INTEGER NOT NULL,
                tags TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL, description TEXT NOT NULL, UNIQUE (source, version))
            """);
        Run("CREATE TABLE tags (tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (tag, row)) WITHOUT ROWID");
        if (isIndexed)
            CreateIndex();
        _begin = Prepare("BEGIN IMMEDIATE");
        _beginRead = Prepare("BEGIN");
        _commit = Prepare("COMMIT");
        _insert = Prepare(
            "INSERT INTO packages VALUES ($row, $id, $section, $size, $priority, $tags, $source, $version, $description)",
            "$row", "$id", "$section", "$size", "$priority", "$tags", "$source", "$version", "$description");
        _insertTag = Prepare("INSERT INTO tags VALUES ($tag, $row)", "$tag", "$row");
        _update = Prepare("UPDATE packages SET size = $size WHERE id = $id", "$size", "$id");
        _get = Prepare($"SELECT {Columns} FROM packages p WHERE p.id = $id", "$id");
        _reads =
        [
            Prepare($"SELECT {Columns} FROM packages p WHERE p.section = $key ORDER BY p.row LIMIT $most", "$key", "$most"),
            Prepare(
                $"SELECT {Columns} FROM tags t CROSS JOIN packages p ON p.row = t.row WHERE t.tag = $key ORDER BY t.row LIMIT $most", "$key", "$most"),
            Prepare($"SELECT {Columns} FROM packages p WHERE p.source >= $key ORDER BY p.source, p.version LIMIT $most", "$key", "$most"),
        ];
    }

    /// <summary>Creates the index by section.</summary>
    public void CreateIndex() => Run("CREATE INDEX sections ON packages (section)");

    public override void BeginWrite() => _begin.ExecuteNonQuery();

    public override void Insert(ReadOnlySpan<Package> rows)
    {
        foreach (var row in rows)
        {
            var number = ++_rows;
            Bind(_insert, number, row.Id, row.Section, row.Size, row.Priority, string.Join(' ', row.Tags), row.Source, row.Version, row.Description);
            _insert.ExecuteNonQuery();
            foreach (var tag in row.Tags)
            {
                Bind(_insertTag, tag, number);
                _insertTag.ExecuteNonQuery();
            }
        }
    }

    public override void SetSize(string id, int size)
    {
        Bind(_update, size, id);
        if (_update.ExecuteNonQuery() != 1)
            throw Missing(id);
    }

    public override void Commit() => _commit.ExecuteNonQuery();

    public override void Settle() => Run("PRAGMA wal_checkpoint(TRUNCATE)");

    public override void BeginRead() => _beginRead.ExecuteNonQuery();

    public override Package Get(string id)
    {
        Bind(_get, id);
        using var reader = _get.ExecuteReader();
        return reader.Read() ? Row(reader) : throw Missing(id);
    }

    public override void Read(PackageIndex index, string key, int most, ref RowChecksum sum)
    {
        var read = _reads[(int)index];
        Bind(read, key, most);
        using var reader = read.ExecuteReader();
        while (reader.Read())
            sum.Add(Row(reader));
    }

    public override void EndRead() => _commit.ExecuteNonQuery();

    public override void Dispose()
    {
        foreach (var command in _commands)
            command.Dispose();
        _connection.Dispose();
    }

    private static Package Row(SqliteDataReader reader) => new()
    {
        Id = reader.GetString(0),
        Section = reader.GetString(1),
        Size = reader.GetInt32(2),
        Priority = reader.GetInt32(3),
        Tags = reader.GetString(4).Split(' ', StringSplitOptions.RemoveEmptyEntries),
        Source = reader.GetString(5),
        Version = reader.GetString(6),
        Description = reader.GetString(7),
    };

    private static void Bind(SqliteCommand command, params ReadOnlySpan<object> values)
    {
        for (var i = 0; i < values.Length; i++)
            command.Parameters[i].Value = values[i];
    }

    private SqliteCommand Prepare(string sql, params ReadOnlySpan<string> parameters)
    {
        var command = Command(sql);
        _commands.Add(command);
        foreach (var parameter in parameters)
            command.Parameters.Add(new SqliteParameter { ParameterName = parameter });

        // A statement is compiled when it first runs, and kept.
        return command;
    }

    private void Run(string sql)
    {
        using var command = Command(sql);
        command.ExecuteNonQuery();
    }

    private SqliteCommand Command(string sql)
    {
        var command = _connection.CreateCommand();
        command.CommandText = sql;
        return command;
    }
}
