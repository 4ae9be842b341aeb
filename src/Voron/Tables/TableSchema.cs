using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Voron.Tables;

/// <summary>
/// A table as stored in the environment: its number, and its indexes with their states. Immutable: each change creates another one.
/// </summary>
/// <remarks>
/// The bytes, with little-endian numbers, and texts as a length in two bytes followed by UTF-8:
/// <code>
/// 0 | 1  form: 1
/// 1 | 1  flags: 1 the key of a row is its id
/// 2 | 2  number of the table
/// 4 | 4  version of the definition
/// 8 | 2  the next number of an index
/// 10| 2  number of indexes
///        text: name of the codec of keys
///        for each index: number (2), flags (1: 1 unique, 2 times at which rows expire, 4 shared), state (1), version (4), name (text)
///            shared: number of the index (2), member (2)
///            building: cursor (8), limit (8);  failed: both rows (8, 8), key (text)
/// </code>
/// </remarks>
internal sealed record TableSchema
{
    /// <summary>The maximum number of indexes of a table, including the primary key.</summary>
    public const int MaxIndexes = 256;

    private const byte Form = 1;
    private const int HeaderBytes = 12;
    private const byte RowIdKeys = 1;
    private const byte Unique = 1;
    private const byte Expiry = 2;
    private const byte Shared = 4;

    public required string Name { get; init; }

    /// <summary>The number of the table, never reused.</summary>
    public required ushort Id { get; init; }

    /// <summary>The version of the definition that last evolved the table.</summary>
    public required int Version { get; init; }

    /// <summary>True if rows are keyed by their ids, and the table has no key index.</summary>
    public required bool HasRowIdKeys { get; init; }

    /// <summary>The name of the key codec.</summary>
    public required string KeyCodecName { get; init; }

    /// <summary>The number that the next new index gets.</summary>
    public required ushort NextIndexId { get; init; }

    public required IReadOnlyList<IndexSchema> Indexes { get; init; }

    /// <summary>The expiry index; null if rows do not expire.</summary>
    public IndexSchema? Expiring
    {
        get
        {
            foreach (var index in Indexes)
            {
                if (index.IsExpiry)
                    return index;
            }

            return null;
        }
    }

    /// <summary>Returns the index with a name, or null.</summary>
    public IndexSchema? Find(string name)
    {
        foreach (var index in Indexes)
        {
            if (index.Name == name)
                return index;
        }

        return null;
    }

    /// <summary>Returns the schema with a changed index.</summary>
    public TableSchema With(IndexSchema changed) => this with
    {
        Indexes = [.. Indexes.Select(index => index.Id == changed.Id ? changed : index)],
    };

    /// <summary>Reads a schema.</summary>
    /// <param name="name">The name of the table.</param>
    /// <param name="bytes">The bytes.</param>
    /// <param name="path">The path of the data file, for messages.</param>
    /// <exception cref="CorruptionException">The bytes are not a schema.</exception>
    public static TableSchema Parse(string name, ReadOnlySpan<byte> bytes, string path)
    {
        if (bytes.Length < HeaderBytes || bytes[0] != Form)
            ThrowDamaged(name, path);
        var count = BinaryPrimitives.ReadUInt16LittleEndian(bytes[10..]);
        var rest = bytes[HeaderBytes..];
        var codec = TakeText(ref rest, name, path);
        var indexes = new List<IndexSchema>();
        for (var i = 0; i < count; i++)
            indexes.Add(ParseIndex(ref rest, name, path));
        var schema = new TableSchema
        {
            Name = name,
            Id = BinaryPrimitives.ReadUInt16LittleEndian(bytes[2..]),
            Version = BinaryPrimitives.ReadInt32LittleEndian(bytes[4..]),
            HasRowIdKeys = (bytes[1] & RowIdKeys) != 0,
            KeyCodecName = codec,
            NextIndexId = BinaryPrimitives.ReadUInt16LittleEndian(bytes[8..]),
            Indexes = indexes,
        };

        if (!rest.IsEmpty || !IsWhole(schema))
            ThrowDamaged(name, path);
        return schema;
    }

    /// <summary>Returns the bytes of the schema.</summary>
    public byte[] ToBytes()
    {
        var bytes = new List<byte>();
        AddNumbers(bytes, [Form, HasRowIdKeys ? RowIdKeys : (byte)0], Id);
        AddInt32(bytes, Version);
        AddNumbers(bytes, [], NextIndexId, (ushort)Indexes.Count);
        AddText(bytes, Encoding.UTF8.GetBytes(KeyCodecName));
        foreach (var index in Indexes)
        {
            AddNumbers(bytes, [], index.Id);
            bytes.AddRange([FlagsOf(index), (byte)index.State]);
            AddInt32(bytes, index.Version);
            AddText(bytes, Encoding.UTF8.GetBytes(index.Name));
            if (index.Shared is { } place)
                AddNumbers(bytes, [], place.Number, place.Member);
            if (index.State == IndexState.Building)
            {
                AddInt64(bytes, index.Cursor);
                AddInt64(bytes, index.Limit);
            }
            else if (index.State == IndexState.Failed)
            {
                AddInt64(bytes, index.FailedRows.First);
                AddInt64(bytes, index.FailedRows.Second);
                AddText(bytes, index.FailedKey);
            }
        }

        return [.. bytes];
    }

    private static byte FlagsOf(IndexSchema index) =>
        (byte)((index.IsUnique ? Unique : 0) | (index.IsExpiry ? Expiry : 0) | (index.Shared == null ? 0 : Shared));

    private static bool IsWhole(TableSchema schema)
    {
        var indexes = schema.Indexes;
        var hasPrimaryKey = indexes.Any(index => index is { Id: IndexSchema.PrimaryKey, IsUnique: true, Version: 0, State: IndexState.Ready });
        return indexes.Count <= MaxIndexes
            && indexes.All(index => index.Id < schema.NextIndexId)
            && indexes.All(index => (index.Id == IndexSchema.PrimaryKey) == (index.Name.Length == 0))
            && indexes.All(index => index.Cursor >= 0 && index.Cursor <= index.Limit && index.Limit <= RowIdBytes.Max + 1)
            && indexes.DistinctBy(index => index.Id).Count() == indexes.Count
            && indexes.DistinctBy(index => index.Name).Count() == indexes.Count
            && indexes.All(index => index.IsExpiry ? index is { IsUnique: false, Name: RowExpiry.IndexName } : index.Name != RowExpiry.IndexName)
            && indexes.All(index => index.Shared is not { } place
                || (!index.IsUnique && !index.IsExpiry && place.Member is >= SharedPlace.FirstMember and <= SharedPlace.MaxMember))
            && hasPrimaryKey != schema.HasRowIdKeys;
    }

    private static IndexSchema ParseIndex(ref ReadOnlySpan<byte> rest, string table, string path)
    {
        var head = Take(ref rest, 8, table, path);
        var state = (IndexState)head[3];
        if (state is IndexState.Absent || !Enum.IsDefined(state) || head[2] > (Unique | Expiry | Shared))
            ThrowDamaged(table, path);
        var index = new IndexSchema
        {
            Id = BinaryPrimitives.ReadUInt16LittleEndian(head),
            IsUnique = (head[2] & Unique) != 0,
            IsExpiry = (head[2] & Expiry) != 0,
            State = state,
            Version = BinaryPrimitives.ReadInt32LittleEndian(head[4..]),
            Name = TakeText(ref rest, table, path),
        };

        if ((head[2] & Shared) != 0)
        {
            var place = Take(ref rest, 4, table, path);
            index = index with
            {
                Shared = new SharedPlace(BinaryPrimitives.ReadUInt16LittleEndian(place), BinaryPrimitives.ReadUInt16LittleEndian(place[2..])),
            };
        }

        if (state == IndexState.Ready)
            return index;
        var rows = Take(ref rest, 16, table, path);
        var (first, second) = (BinaryPrimitives.ReadInt64LittleEndian(rows), BinaryPrimitives.ReadInt64LittleEndian(rows[8..]));
        return state == IndexState.Building
            ? index with { Cursor = first, Limit = second }
            : index with { FailedRows = (first, second), FailedKey = TakeBytes(ref rest, table, path).ToArray() };
    }

    private static string TakeText(ref ReadOnlySpan<byte> rest, string table, string path)
    {
        var bytes = TakeBytes(ref rest, table, path);
        var text = KeyReader.Decode(bytes);
        if (text == null)
            ThrowDamaged(table, path);
        return text;
    }

    private static ReadOnlySpan<byte> TakeBytes(ref ReadOnlySpan<byte> rest, string table, string path) =>
        Take(ref rest, BinaryPrimitives.ReadUInt16LittleEndian(Take(ref rest, sizeof(ushort), table, path)), table, path);

    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> rest, int length, string table, string path)
    {
        if (rest.Length < length)
            ThrowDamaged(table, path);
        var taken = rest[..length];
        rest = rest[length..];
        return taken;
    }

    private static void AddNumbers(List<byte> bytes, ReadOnlySpan<byte> first, params ReadOnlySpan<ushort> numbers)
    {
        bytes.AddRange(first);
        Span<byte> buffer = stackalloc byte[sizeof(ushort)];
        foreach (var number in numbers)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(buffer, number);
            bytes.AddRange(buffer);
        }
    }

    private static void AddInt32(List<byte> bytes, int number)
    {
        Span<byte> buffer = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(buffer, number);
        bytes.AddRange(buffer);
    }

    private static void AddInt64(List<byte> bytes, long number)
    {
        Span<byte> buffer = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(buffer, number);
        bytes.AddRange(buffer);
    }

    private static void AddText(List<byte> bytes, ReadOnlySpan<byte> text)
    {
        AddNumbers(bytes, [], (ushort)text.Length);
        bytes.AddRange(text);
    }

    [DoesNotReturn]
    private static void ThrowDamaged(string table, string path) => throw new CorruptionException(
        $"The schema of table '{table}' in '{path}' is damaged, or was written by a newer engine. Run Verify, or restore a backup.");
}
