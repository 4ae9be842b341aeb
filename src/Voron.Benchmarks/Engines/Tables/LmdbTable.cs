using System.Runtime.InteropServices;
using System.Text;
using Voron.Benchmarks.Workloads;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>
/// A table of LMDB, kept by hand: rows in the order of their row ids in one database, primary key and unique index in two that have row ids as
/// values, sections and tags in two with sorted duplicates.
/// </summary>
internal sealed unsafe class LmdbTable : TableStore
{
    private const int Databases = 5;
    private const uint Duplicates = SortedDuplicates | FixedDuplicates | IntegerDuplicates;
    private const int MostKeyBytes = 511;

    private readonly LmdbEngine _engine;
    private readonly LmdbDatabase _rows;
    private readonly LmdbDatabase _ids;
    private readonly LmdbDatabase[] _indexes;
    private readonly byte[] _row = new byte[PackageFormat.MostBytes];
    private readonly byte[] _key = new byte[MostKeyBytes];
    private long _lastRow;
    private nint _read;

    public LmdbTable(string directory)
    {
        _engine = new LmdbEngine(directory, namedDatabases: Databases);
        _engine.BeginWrite();
        _rows = new LmdbDatabase(_engine.OpenNamed("rows", IntegerKeys));
        _ids = new LmdbDatabase(_engine.OpenNamed("ids", flags: 0));
        _indexes =
        [
            new LmdbDatabase(_engine.OpenNamed("sections", Duplicates)),
            new LmdbDatabase(_engine.OpenNamed("tags", Duplicates)),
            new LmdbDatabase(_engine.OpenNamed("sources", flags: 0)),
        ];
        _engine.Commit();
    }

    public override void BeginWrite() => _engine.BeginWrite();

    public override void Insert(ReadOnlySpan<Package> rows)
    {
        var writing = _engine.Writing;
        foreach (var row in rows)
        {
            var number = ++_lastRow;
            var id = Bytes(in number);
            _ids.Put(writing, Key(row.Id), id, OnlyIfMissing);
            _rows.Put(writing, id, _row.AsSpan(0, PackageFormat.Write(row, _row)), AppendAtEnd);
            _indexes[(int)PackageIndex.Section].Put(writing, Key(row.Section), id);
            foreach (var tag in row.Tags)
                _indexes[(int)PackageIndex.Tag].Put(writing, Key(tag), id);
            _indexes[(int)PackageIndex.Source].Put(writing, Key(row.Source, row.Version), id, OnlyIfMissing);
        }
    }

    // No index has the size, so none is looked at.
    public override void SetSize(string id, int size)
    {
        var writing = _engine.Writing;
        if (!_ids.TryGet(writing, Key(id), out var row))
            throw Missing(id);
        var number = MemoryMarshal.Read<long>(row);
        if (!_rows.TryGet(writing, Bytes(in number), out var old))
            throw Missing(id);
        old.CopyTo(_row);
        PackageFormat.SetSize(_row, size);
        _rows.Put(writing, Bytes(in number), _row.AsSpan(0, old.Length));
    }

    public override void Commit() => _engine.Commit();

    public override void BeginRead()
    {
        _read = _engine.BeginReading();
        foreach (var index in _indexes)
            index.OpenCursor(_read);
    }

    public override Package Get(string id) =>
        _ids.TryGet(_read, Key(id), out var row) && _rows.TryGet(_read, row, out var bytes) ? PackageFormat.Read(bytes) : throw Missing(id);

    public override void Read(PackageIndex index, string key, int most, ref RowChecksum sum)
    {
        var (first, next) = index == PackageIndex.Source ? (CursorSetRange, CursorNext) : (CursorSet, CursorNextDuplicate);
        var entries = _indexes[(int)index];
        for (var found = entries.Move(first, Key(key), out var row); found && most > 0; found = entries.Move(next, default, out row), most--)
        {
            if (!_rows.TryGet(_read, row, out var bytes))
                throw new BenchmarkException($"The index {index} has a row that is missing.");
            sum.Add(PackageFormat.Read(bytes));
        }
    }

    public override void EndRead()
    {
        foreach (var index in _indexes)
            index.EndCursor();
        AbortTransaction(_read);
        _read = 0;
    }

    public override void Dispose()
    {
        if (_read != 0)
            EndRead();
        _engine.Dispose();
    }

    private static ReadOnlySpan<byte> Bytes(in long number) => MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in number));

    private ReadOnlySpan<byte> Key(string text) => _key.AsSpan(0, Encoding.UTF8.GetBytes(text, _key));

    // No source has the byte between the fields.
    private ReadOnlySpan<byte> Key(string source, string version)
    {
        var length = Encoding.UTF8.GetBytes(source, _key);
        _key[length++] = 0;
        return _key.AsSpan(0, length + Encoding.UTF8.GetBytes(version, _key.AsSpan(length)));
    }
}
