using System.Text;
using Voron.Tables;

namespace Voron.Torture.Tables;

/// <summary>A key as the model has it: bytes, as characters of Latin-1, whose order as characters is theirs as bytes.</summary>
/// <param name="Bytes">The bytes.</param>
/// <param name="HasNull">True if a field of it is null, so that it is not in a unique index.</param>
internal readonly record struct ModelKey(string Bytes, bool HasNull = false)
{
    public byte[] ToBytes() => ToBytes(Bytes);

    public static byte[] ToBytes(string key) => Encoding.Latin1.GetBytes(key);

    public static string Of(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    public static implicit operator ModelKey(KeyWriter writer) => new(Of(writer.Written));
}

/// <summary>An index of a definition, and what the model knows of its keys. Each has two versions, which have different keys.</summary>
/// <param name="Name">Its name, which says what kind it is.</param>
/// <param name="Version">1 or 2.</param>
/// <param name="IsUnique">True if no two rows may have the same key.</param>
internal sealed record TableIndex(string Name, int Version, bool IsUnique)
{
    public const string Plain = "plain";
    public const string Multiple = "multiple";
    public const string Partial = "partial";
    public const string Computed = "computed";
    public const string UniqueFields = "unique fields";
    public const string UniqueNull = "unique null";

    /// <summary>The index that tables share.</summary>
    public const string Shared = "shared";

    /// <summary>The index of the times at which rows expire, which is in no list of kinds.</summary>
    public const string Expiry = "(expiry)";

    public const string UniqueMultiple = "unique multiple";

    public static readonly IReadOnlyList<string> Names = [Plain, Multiple, Partial, Computed, UniqueFields, UniqueNull, UniqueMultiple, Shared];

    private static readonly SharedIndex[] SharedVersions = [new(Shared, 1), new(Shared, 2)];

    /// <summary>The version that the definition names.</summary>
    public int NamedVersion { get; private init; } = Version;

    /// <summary>Fewer rows than this are in the partial index.</summary>
    private int Threshold => 150 * Version;

    /// <summary>One index of each kind.</summary>
    public static IReadOnlyList<TableIndex> OfEachKind { get; } = [.. Names.Select(name => Of(name, 1))];

    public static TableIndex Of(string name, int version) => new(name, version, name.StartsWith("unique", StringComparison.Ordinal));

    /// <summary>Returns the index with the keys of its other version, under the version that it has.</summary>
    public TableIndex WithOtherKeys() => this with { Version = 3 - Version };

    /// <summary>Adds the index to a definition.</summary>
    public TableDefinition<TKey, TableRow> AddTo<TKey>(TableDefinition<TKey, TableRow> definition, RowTraps traps)
    {
        if (Name == Expiry)
            return definition.Expire(row => Expire(row, traps), NamedVersion);
        IndexFunction<TableRow> function = (in TableRow row, ref IndexKeys keys) => Add(row, ref keys, traps);
        if (Name == Shared)
            return definition.Index(SharedOf(Version), function);
        return IsUnique ? definition.UniqueIndex(Name, NamedVersion, function) : definition.Index(Name, NamedVersion, function);
    }

    /// <summary>Returns the shared index of a version.</summary>
    public static SharedIndex SharedOf(int version) => SharedVersions[version - 1];

    /// <summary>Returns the keys of a row as they are to be: sorted, and each once.</summary>
    public ModelKey[] KeysOf(TableRow row)
    {
        var keys = new SortedDictionary<string, bool>(StringComparer.Ordinal);
        foreach (var key in Expected(row))
            keys[key.Bytes] = key.HasNull && (!keys.TryGetValue(key.Bytes, out var hasNull) || hasNull);
        return [.. keys.Select(key => new ModelKey(key.Key, key.Value))];
    }

    /// <summary>Returns the time at which a row expires by this index, in milliseconds since 1970; null for never.</summary>
    public long? ExpiryOf(TableRow row) => Version == 1 || row.Number % 2 == 0 ? row.Expires : null;

    public override string ToString() => $"{Name} {Version}";

    private DateTimeOffset? Expire(TableRow row, RowTraps traps)
    {
        traps.Check(row, Name);
        return ExpiryOf(row) is { } time ? DateTimeOffset.FromUnixTimeMilliseconds(time) : null;
    }

    private void Add(TableRow row, ref IndexKeys keys, RowTraps traps)
    {
        // One that throws has added keys before.
        switch (Name)
        {
            case Plain when Version == 1:
                keys.Add(row.City);
                break;
            case Plain:
                keys.Begin().Add(row.Size % 5).Add(row.City);
                break;
            case Multiple:
                foreach (var tag in row.Tags)
                    keys.Add(Version == 1 ? tag : tag + row.Tags.Length);
                break;
            case Shared:
                foreach (var tag in row.Tags)
                    keys.Begin().Add(tag.Length * Version).Add(row.Size % 7);
                break;
            case Partial when row.Size < Threshold:
                keys.Add(row.Size);
                break;
            case Computed:
                keys.Begin().Add((row.Size + row.City.Length) % (6 + Version)).AddDescending(row.City);
                break;
            case UniqueFields when Version == 1:
                keys.Begin().Add(row.City).Add(row.Size);
                break;
            case UniqueFields:
                keys.Begin().Add(row.Size).Add(row.City);
                break;
            case UniqueNull:
                AddSerial(row, ref keys.Begin());
                break;
            case UniqueMultiple:
                foreach (var code in row.Codes)
                    keys.Add(Version == 1 ? code : -code);
                break;
        }

        traps.Check(row, Name);
    }

    private void AddSerial(TableRow row, ref KeyWriter key)
    {
        if (Version == 2)
            key.Add((byte)2);

        // The bytes of a row without a number, but not its null.
        if (row.Serial == 0)
            key.Add((byte)0).Add(row.Size % 3);
        else if (row.Serial is { } serial)
            key.AddNotNull().Add(serial);
        else
            key.AddNull().Add(row.Size % 3);
    }

    private IEnumerable<ModelKey> Expected(TableRow row) => Name switch
    {
        Plain => [Version == 1 ? Key(row.City) : Key(row.Size % 5, row.City)],
        Multiple => row.Tags.Select(tag => Key(Version == 1 ? tag : tag + row.Tags.Length)),
        Shared => row.Tags.Select(tag => Key(tag.Length * Version, row.Size % 7)),
        Partial => row.Size < Threshold ? [Key(row.Size)] : [],
        Computed => [Descending((row.Size + row.City.Length) % (6 + Version), row.City)],
        UniqueFields => [Version == 1 ? Key(row.City, row.Size) : Key(row.Size, row.City)],
        UniqueNull => [Serial(row)],
        Expiry => ExpiryOf(row) is { } time ? [Key(time / 1000)] : [],
        UniqueMultiple => row.Codes.Select(code => Key(Version == 1 ? code : -code)),
        _ => throw new InvalidOperationException(Name),
    };

    private ModelKey Serial(TableRow row)
    {
        var head = Version == 2 ? "\u0002" : "";
        return row.Serial is { } serial and not 0
            ? new ModelKey(head + "\u0001" + Key(serial).Bytes)
            : new ModelKey(head + "\0" + Key(row.Size % 3).Bytes, HasNull: row.Serial == null);
    }

    private static ModelKey Key(params ReadOnlySpan<object> fields)
    {
        var writer = new KeyWriter(new byte[512]);
        foreach (var field in fields)
        {
            if (field is int number)
                writer.Add(number);
            else if (field is long large)
                writer.Add(large);
            else
                writer.Add((string)field);
        }

        return writer;
    }

    private static ModelKey Descending(int first, string second) => new KeyWriter(new byte[512]).Add(first).AddDescending(second);
}
