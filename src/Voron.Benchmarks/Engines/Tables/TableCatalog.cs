namespace Voron.Benchmarks.Engines.Tables;

/// <summary>An engine whose tables can be measured.</summary>
internal sealed record TableWay(string Name, Func<bool> IsInstalled, Func<string, TableStore> Open);

/// <summary>All tables, this project's own first.</summary>
internal static class TableCatalog
{
    public const string Own = "Voron";
    public const string Sqlite = "SQLite";
    public const string CachedSqlite = "SQLite, cache of 256 MiB";
    public const string Lmdb = "LMDB, indexes by hand";

    public const string Sharing = "Voron, a shared index by section";
    public const string Expiring = "Voron, rows that expire";

    private const int CacheKibibytes = 256 << 10;

    public static IReadOnlyList<TableWay> All { get; } =
    [
        new(Own, () => true, directory => new VoronTable(directory)),
        new(Sqlite, () => true, directory => new SqliteTable(directory)),
        new(CachedSqlite, () => true, directory => new SqliteTable(directory, cacheKibibytes: CacheKibibytes)),
        new(Lmdb, () => LmdbNative.IsInstalled, directory => new LmdbTable(directory)),
    ];

    /// <summary>This project's table with more than the peers have.</summary>
    public static IReadOnlyList<TableWay> Variants { get; } =
    [
        new(Sharing, () => true, directory => new VoronTable(directory, VoronTable.SharingSections)),
        new(Expiring, () => true, directory => new VoronTable(directory, VoronTable.Expiring)),
    ];
}
