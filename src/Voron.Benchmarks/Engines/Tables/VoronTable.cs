using Voron.Tables;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>A table of Voron with default options.</summary>
internal sealed class VoronTable : TableStore
{
    /// <summary>The name of the index by section.</summary>
    public const string Sections = "section";

    private const string Tags = "tag";
    private const string Sources = "source";
    private const int KeyBytes = 256;

    private static readonly string[] Names = [Sections, Tags, Sources];

    private static readonly DateTimeOffset FarAway = new(2100, 1, 1, 0, 0, 0, TimeSpan.Zero);

    private readonly StorageEnvironment _environment;
    private readonly byte[] _key = new byte[KeyBytes];
    private TableDefinition<string, Package> _definition;
    private WriteTransaction _write;
    private WriteTable<string, Package> _writeTable;
    private ReadTransaction _read;
    private Table<string, Package> _readTable;

    /// <param name="definition">The definition; null for that with all indexes.</param>
    /// <param name="time">Decides which rows are due; null for the clock of the system.</param>
    public VoronTable(string directory, TableDefinition<string, Package>? definition = null, TimeProvider? time = null)
    {
        _definition = definition ?? Indexed;
        _environment = StorageEnvironment.Open(directory, new StorageOptions { TimeProvider = time });
        using var writing = _environment.BeginWrite();
        writing.CreateTable(_definition);
        writing.Commit();
    }

    /// <summary>The table with all indexes but that by section.</summary>
    public static TableDefinition<string, Package> WithoutSections { get; } = TableDefinition
        .Create("packages", 1, new PackageCodec(), KeyCodec.Utf8, static row => row.Id)
        .Index(Tags, 1, AddTags)
        .UniqueIndex(Sources, 1, static (in Package row, ref IndexKeys keys) => keys.Begin().Add(row.Source).Add(row.Version));

    /// <summary>The table with all indexes, where that by section is one that tables can share.</summary>
    public static TableDefinition<string, Package> SharingSections { get; } = WithoutSections.Index(
        new SharedIndex(Sections, 1), static (in Package row, ref IndexKeys keys) => keys.Add(row.Section));

    private static TableDefinition<string, Package> Indexed { get; } = WithSections(WithoutSections, Sections);

    /// <summary>The table with all indexes, and a time for each row, none before the year 2100.</summary>
    public static TableDefinition<string, Package> Expiring { get; } = Indexed.Expire(static row => FarAway.AddSeconds(row.Description.Length));

    /// <summary>Adds an index by section to a definition.</summary>
    public static TableDefinition<string, Package> WithSections(TableDefinition<string, Package> definition, string name) =>
        definition.Index(name, 1, static (in Package row, ref IndexKeys keys) => keys.Add(row.Section));

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _writeTable = _write.OpenTable(_definition);
    }

    public override void Insert(ReadOnlySpan<Package> rows)
    {
        foreach (ref readonly var row in rows)
            _writeTable.Insert(row);
    }

    public override void SetSize(string id, int size)
    {
        if (!_writeTable.TryUpdate(id, size, static (row, size) => row with { Size = size }, out _))
            throw Missing(id);
    }

    public override void Commit() => _write.Commit();

    public override void Settle() => _environment.Flush();

    public override void BeginRead()
    {
        _read = _environment.BeginRead();
        _readTable = _read.OpenTable(_definition);
    }

    public override Package Get(string id) => _readTable.TryGet(id, out var row) ? row : throw Missing(id);

    public override void Read(PackageIndex index, string key, int most, ref RowChecksum sum)
    {
        using var rows = _readTable.FromRaw(Names[(int)index], Range(index, key));
        foreach (var row in rows.Take(most))
            sum.Add(row);
    }

    public override void EndRead() => _read.Dispose();

    /// <summary>Changes the definition, and returns when all of its indexes are built.</summary>
    public async Task EvolveAsync(TableDefinition<string, Package> definition, CancellationToken stop)
    {
        // Writers that begin while an index is built maintain it.
        _definition = definition;
        await _environment.EvolveAsync(definition, cancellationToken: stop).ConfigureAwait(false);
    }

    /// <summary>Deletes the rows that are due.</summary>
    /// <returns>The number of rows.</returns>
    public ValueTask<long> DeleteExpiredAsync(CancellationToken stop) => _environment.DeleteExpiredAsync(_definition, stop);

    public override void Dispose() => _environment.Dispose();

    private static void AddTags(in Package row, ref IndexKeys keys)
    {
        foreach (var tag in row.Tags)
            keys.Add(tag);
    }

    // The keys of one section or tag are equal; a source is the beginning of a key.
    private KeyRange Range(PackageIndex index, string key)
    {
        var writer = new KeyWriter(_key);
        return index == PackageIndex.Source ? KeyRange.From(writer.AddPrefix(key).Written) : KeyRange.Prefix(writer.Add(key).Written);
    }
}

/// <summary>The fields of a package in a row of Voron: numbers first, then texts.</summary>
internal sealed class PackageCodec : IRowCodec<Package>
{
    public void Write(in Package row, ref RowWriter writer)
    {
        writer.WriteInt32(row.Size);
        writer.WriteInt32(row.Priority);
        writer.WriteByte((byte)row.Tags.Length);
        writer.WriteString(row.Id);
        writer.WriteString(row.Section);
        writer.WriteString(row.Source);
        writer.WriteString(row.Version);
        writer.WriteString(row.Description);
        foreach (var tag in row.Tags)
            writer.WriteString(tag);
    }

    public Package Read(ref RowReader reader)
    {
        var size = reader.ReadInt32();
        var priority = reader.ReadInt32();
        var tags = new string[reader.ReadByte()];
        var row = new Package
        {
            Size = size,
            Priority = priority,
            Tags = tags,
            Id = reader.ReadString(),
            Section = reader.ReadString(),
            Source = reader.ReadString(),
            Version = reader.ReadString(),
            Description = reader.ReadString(),
        };
        for (var i = 0; i < tags.Length; i++)
            tags[i] = reader.ReadString();
        return row;
    }
}
