using System.Buffers.Binary;
using System.Text;
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
    private readonly Database _rows;
    private readonly Database _ids;
    private readonly Database[] _indexes;
    private readonly byte[] _row = new byte[PackageFormat.MostBytes];
    private readonly byte[] _key = new byte[MostKeyBytes];
    private long _lastRow;
    private nint _read;

    public LmdbTable(string directory)
    {
        _engine = new LmdbEngine(directory, namedDatabases: Databases);
        _engine.BeginWrite();
        _rows = new Database(_engine.OpenNamed("rows", IntegerKeys));
        _ids = new Database(_engine.OpenNamed("ids", flags: 0));
        _indexes =
        [
            new Database(_engine.OpenNamed("sections", Duplicates)),
            new Database(_engine.OpenNamed("tags", Duplicates)),
            new Database(_engine.OpenNamed("sources", flags: 0)),
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

    /// <summary>The bytes of a row in an engine without rows: size, priority and number of tags, then each text in UTF-8 behind its length.</summary>
    private static class PackageFormat
    {
        /// <summary>More bytes than any row has.</summary>
        public const int MostBytes = 4096;

        private const int PriorityOffset = sizeof(int);
        private const int TagsOffset = PriorityOffset + sizeof(int);
        private const int TextsOffset = TagsOffset + sizeof(ushort);

        /// <summary>Writes a row.</summary>
        /// <returns>Its length.</returns>
        public static int Write(Package row, Span<byte> bytes)
        {
            SetSize(bytes, row.Size);
            BinaryPrimitives.WriteInt32LittleEndian(bytes[PriorityOffset..], row.Priority);
            BinaryPrimitives.WriteUInt16LittleEndian(bytes[TagsOffset..], (ushort)row.Tags.Length);
            var end = TextsOffset;
            foreach (var text in (ReadOnlySpan<string>)[row.Id, row.Section, row.Source, row.Version, row.Description])
                Add(text, bytes, ref end);
            foreach (var tag in row.Tags)
                Add(tag, bytes, ref end);
            return end;
        }

        /// <summary>Changes the size in the bytes of a row.</summary>
        public static void SetSize(Span<byte> bytes, int size) => BinaryPrimitives.WriteInt32LittleEndian(bytes, size);

        public static Package Read(ReadOnlySpan<byte> bytes)
        {
            var tags = new string[BinaryPrimitives.ReadUInt16LittleEndian(bytes[TagsOffset..])];
            var offset = TextsOffset;
            var row = new Package
            {
                Size = BinaryPrimitives.ReadInt32LittleEndian(bytes),
                Priority = BinaryPrimitives.ReadInt32LittleEndian(bytes[PriorityOffset..]),
                Tags = tags,
                Id = Take(bytes, ref offset),
                Section = Take(bytes, ref offset),
                Source = Take(bytes, ref offset),
                Version = Take(bytes, ref offset),
                Description = Take(bytes, ref offset),
            };
            for (var i = 0; i < tags.Length; i++)
                tags[i] = Take(bytes, ref offset);
            return row;
        }

        private static void Add(string text, Span<byte> bytes, ref int end)
        {
            var length = Encoding.UTF8.GetBytes(text, bytes[(end + sizeof(ushort))..]);
            BinaryPrimitives.WriteUInt16LittleEndian(bytes[end..], (ushort)length);
            end += sizeof(ushort) + length;
        }

        private static string Take(ReadOnlySpan<byte> bytes, ref int offset)
        {
            var length = BinaryPrimitives.ReadUInt16LittleEndian(bytes[offset..]);
            offset += sizeof(ushort) + length;
            return Encoding.UTF8.GetString(bytes.Slice(offset - length, length));
        }
    }

    /// <summary>A named database, and its cursor while a read transaction lasts.</summary>
    private sealed class Database(uint handle)
    {
        private nint _cursor;

        public void Put(nint writing, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, uint flags = 0)
        {
            fixed (byte* keyData = key, valueData = value)
            {
                var nativeKey = new LmdbValue(keyData, key.Length);
                var nativeValue = new LmdbValue(valueData, value.Length);
                LmdbEngine.Check(LmdbNative.Put(writing, handle, &nativeKey, &nativeValue, flags));
            }
        }

        public bool TryGet(nint transaction, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            fixed (byte* keyData = key)
            {
                var nativeKey = new LmdbValue(keyData, key.Length);
                LmdbValue nativeValue = default;
                var found = LmdbEngine.Found(LmdbNative.Get(transaction, handle, &nativeKey, &nativeValue));
                value = nativeValue.Span;
                return found;
            }
        }

        public void OpenCursor(nint reading)
        {
            nint cursor;
            LmdbEngine.Check(LmdbNative.OpenCursor(reading, handle, &cursor));
            _cursor = cursor;
        }

        public bool Move(int operation, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            fixed (byte* keyData = key)
            {
                var nativeKey = new LmdbValue(keyData, key.Length);
                LmdbValue nativeValue = default;
                var found = LmdbEngine.Found(LmdbNative.MoveCursor(_cursor, &nativeKey, &nativeValue, operation));
                value = nativeValue.Span;
                return found;
            }
        }

        public void EndCursor() => LmdbNative.CloseCursor(_cursor);
    }
}
