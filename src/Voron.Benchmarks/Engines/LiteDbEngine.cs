using LiteDB;

namespace Voron.Benchmarks.Engines;

/// <summary>LiteDB with a direct connection: documents whose ids are the keys, in explicit transactions, which belong to their thread.</summary>
internal sealed class LiteDbEngine : BenchmarkEngine
{
    public const string FileName = "items.litedb";

    /// <summary>A document has at most 16 MiB.</summary>
    public const int MaxValueBytes = 15 << 20;

    private const string Id = "_id";
    private const string Value = "v";

    private readonly LiteDatabase _database;
    private readonly ILiteCollection<BsonDocument> _items;

    public LiteDbEngine(string directory)
    {
        _database = new LiteDatabase(new ConnectionString { Filename = Path.Combine(directory, FileName), Connection = ConnectionType.Direct });
        _items = _database.GetCollection("items");
    }

    public override string Settings =>
        $"LiteDB {typeof(LiteDatabase).Assembly.GetName().Version?.ToString(3)}; direct connection; a document for each item, with a binary id; "
        + "explicit transactions; other settings default; concurrent callers share a lock";

    public override void BeginWrite() => _database.BeginTrans();

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) =>
        _items.Upsert(new BsonDocument { [Id] = key.ToArray(), [Value] = value.ToArray() });

    public override bool Delete(ReadOnlySpan<byte> key) => _items.Delete(key.ToArray());

    public override void Commit() => _database.Commit();

    public override BenchmarkReader CreateReader() => new Reader(_database, _items);

    public override void Dispose() => _database.Dispose();

    /// <summary>Reads in a transaction, which sees the collection as it was at its first read.</summary>
    private sealed class Reader(LiteDatabase database, ILiteCollection<BsonDocument> items) : EnumeratingReader
    {
        public override void Begin() => database.BeginTrans();

        public override void End()
        {
            base.End();
            database.Commit();
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            var item = items.FindById(key.ToArray());
            value = item?[Value].AsBinary;
            return item is not null;
        }

        protected override IEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> Scan(bool backward) =>
            items.Find(Query.All(backward ? Query.Descending : Query.Ascending))
                .Select(item => ((ReadOnlyMemory<byte>)item[Id].AsBinary, (ReadOnlyMemory<byte>)item[Value].AsBinary));
    }
}
