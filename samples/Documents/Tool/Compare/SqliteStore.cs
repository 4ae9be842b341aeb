using System.Text;
using System.Text.Json;
using Microsoft.Data.Sqlite;

namespace Voron.Documents.Tool.Compare;

/// <summary>
/// The same with SQLite: documents as JSONB, an index on an expression for each path, and FTS5 without a copy of the texts. Prepared statements, a
/// write-ahead log, and a sync for each commit.
/// </summary>
internal class SqliteStore : IComparedStore
{
    private const int DocumentsPerCommit = 1000;
    private const long CacheKibibytes = 256 * 1024;

    private readonly string _file;
    private readonly SqliteConnection _connection;
    private readonly SqliteCommand _put;
    private readonly SqliteCommand _putText;
    private readonly SqliteCommand _get;
    private readonly SqliteCommand _getBySize;
    private readonly SqliteCommand _search;

    private long _number;

    // Protects the connection, which one thread may use at a time.
    private readonly Lock _gate = new();

    public SqliteStore(string directory)
    {
        _file = Path.Combine(directory, "documents.db");
        Directory.CreateDirectory(directory);
        _connection = new SqliteConnection(new SqliteConnectionStringBuilder { DataSource = _file, Pooling = false }.ToString());
        _connection.Open();
        Execute($"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -{CacheKibibytes}; PRAGMA mmap_size = 1073741824");
        Execute("CREATE TABLE documents(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)");
        foreach (var path in Workload.Indexes)
            Execute($"CREATE INDEX \"by {path}\" ON documents({Extract("body", path)})");
        Execute($"CREATE VIRTUAL TABLE words USING fts5({string.Join(", ", Workload.Texts)}, content = '')");
        _put = Prepare("INSERT INTO documents(number, id, body) VALUES($number, $id, jsonb($json))", "$number", "$id", "$json");
        _putText = Prepare($"INSERT INTO words(rowid, {string.Join(", ", Workload.Texts)}) VALUES($number, $first, $second)", "$number", "$first", "$second");
        _get = Prepare("SELECT CAST(json(body) AS BLOB) FROM documents WHERE id = $id", "$id");
        var size = Extract("body", "size");
        _getBySize = Prepare($"SELECT CAST(json(body) AS BLOB) FROM documents WHERE {size} >= $first AND {size} <= $last ORDER BY {size}", "$first", "$last");
        _search = Prepare(
            "SELECT CAST(json(body) AS BLOB), bm25(words) FROM words JOIN documents ON number = words.rowid WHERE words MATCH $text ORDER BY rank LIMIT 10",
            "$text");
    }

    public virtual bool NeedsThreads => true;

    public void Import(IReadOnlyList<ImportedDocument> documents)
    {
        for (var i = 0; i < documents.Count; i += DocumentsPerCommit)
            PutMany(documents.Skip(i).Take(DocumentsPerCommit));
        Execute("PRAGMA wal_checkpoint(PASSIVE)");
    }

    public virtual ValueTask PutAsync(ImportedDocument document)
    {
        PutMany([document]);
        return ValueTask.CompletedTask;
    }

    public ReadOnlyMemory<byte> Get(string id)
    {
        _get.Parameters[0].Value = id;
        using var reader = _get.ExecuteReader();
        return reader.Read() ? reader.GetFieldValue<byte[]>(0) : default(ReadOnlyMemory<byte>);
    }

    public IReadOnlyList<ReadOnlyMemory<byte>> GetBySize(long first, long last)
    {
        _getBySize.Parameters[0].Value = first;
        _getBySize.Parameters[1].Value = last;
        using var reader = _getBySize.ExecuteReader();
        var found = new List<ReadOnlyMemory<byte>>();
        while (reader.Read())
            found.Add(reader.GetFieldValue<byte[]>(0));
        return found;
    }

    public IReadOnlyList<(double Score, ReadOnlyMemory<byte> Json)> Search(WordSearch search)
    {
        _search.Parameters[0].Value = search.Kind switch
        {
            WordSearchKind.Any => string.Join(" OR ", search.Words.Select(static word => $"\"{word}\"")),
            WordSearchKind.Phrase => $"\"{string.Join(' ', search.Words)}\"",
            _ => string.Join(' ', search.Words.Select(static word => $"\"{word}\"")),
        };
        using var reader = _search.ExecuteReader();
        var found = new List<(double Score, ReadOnlyMemory<byte> Json)>();
        while (reader.Read())
            found.Add((-reader.GetDouble(1), reader.GetFieldValue<byte[]>(0)));
        return found;
    }

    public long Close()
    {
        Execute("PRAGMA wal_checkpoint(TRUNCATE)");
        Dispose();
        return new DirectoryInfo(Path.GetDirectoryName(_file)!).EnumerateFiles().Sum(static file => file.Length);
    }

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected virtual void Dispose(bool disposing)
    {
        foreach (var command in (SqliteCommand[])[_put, _putText, _get, _getBySize, _search])
            command.Dispose();
        _connection.Dispose();
    }

    /// <summary>Stores documents in one durable transaction.</summary>
    protected void PutMany(IEnumerable<ImportedDocument> documents)
    {
        lock (_gate)
        {
            using var transaction = _connection.BeginTransaction();
            _put.Transaction = transaction;
            _putText.Transaction = transaction;
            foreach (var document in documents)
            {
                _put.Parameters[0].Value = ++_number;
                _put.Parameters[1].Value = document.Id;
                _put.Parameters[2].Value = Encoding.UTF8.GetString(document.Json.Span);
                _put.ExecuteNonQuery();
                _putText.Parameters[0].Value = _number;
                using (var json = JsonDocument.Parse(document.Json))
                {
                    for (var i = 0; i < Workload.Texts.Length; i++)
                        _putText.Parameters[1 + i].Value = json.RootElement.TryGetProperty(Workload.Texts[i], out var text) ? text.GetString() : DBNull.Value;
                }

                _putText.ExecuteNonQuery();
            }

            transaction.Commit();
        }
    }

    private static string Extract(string json, string path) => $"json_extract({json}, '$.\"{path}\"')";

    private void Execute(string text)
    {
        using var command = Prepare(text);
        command.ExecuteNonQuery();
    }

    private SqliteCommand Prepare(string text, params string[] parameters)
    {
        var command = _connection.CreateCommand();
        command.CommandText = text;
        foreach (var name in parameters)
            command.Parameters.Add(new SqliteParameter { ParameterName = name });
        return command;
    }
}
