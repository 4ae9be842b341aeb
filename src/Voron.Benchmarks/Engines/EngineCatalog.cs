namespace Voron.Benchmarks.Engines;

/// <summary>An engine that can be measured.</summary>
internal sealed record EngineDescriptor(string Name, Func<string, EngineObserver, BenchmarkEngine> Open)
{
    /// <summary>True for engines that come with this program.</summary>
    public Func<bool> IsInstalled { get; init; } = () => true;

    public string InstallHint { get; init; } = "";

    /// <summary>Says why the engine does not run a workload, or returns null if it does. A comparison has a row with the reason.</summary>
    public Func<WorkloadDefinition, string?> LeavesOut { get; init; } = _ => null;

    /// <summary>True for this project's own engine in any mode.</summary>
    public bool IsOurs => IsJournalVariant || Name is EngineCatalog.Voron or EngineCatalog.VoronPipelined;

    /// <summary>True for this project's engine with another setting of its journal, which appears only in the table of journals.</summary>
    public bool IsJournalVariant => Name is EngineCatalog.VoronPlainJournal or EngineCatalog.VoronLz4Journal;

    /// <summary>The number of commits that one caller has under way.</summary>
    public int CommitsInFlight { get; init; } = 1;

    /// <summary>The name of the file that holds the items, or null if there is no single file.</summary>
    public string? DataFileName { get; init; }
}

/// <summary>All engines, this project's own first.</summary>
internal static class EngineCatalog
{
    public const string Voron = "voron";
    public const string VoronPipelined = "voron-pipelined";
    public const string VoronPlainJournal = "voron-plain-journal";
    public const string VoronLz4Journal = "voron-lz4-journal";
    public const string Lmdb = "lmdb";
    public const string RocksDb = "rocksdb";
    public const string Sqlite = "sqlite";
    public const string Berkeley = "berkeley-db";
    public const string ZoneTree = "zonetree";
    public const string LiteDb = "litedb";
    public const string DBreeze = "dbreeze";
    public const string Esent = "esent";

    private const int PipelinedCommitsInFlight = 3;

    public static IReadOnlyList<EngineDescriptor> All { get; } =
    [
        Ours(Voron, commitsInFlight: 1, JournalCompression.Auto),
        Ours(VoronPipelined, PipelinedCommitsInFlight, JournalCompression.Auto),
        Ours(VoronPlainJournal, commitsInFlight: 1, JournalCompression.Never),
        Ours(VoronLz4Journal, commitsInFlight: 1, JournalCompression.Always),
        new(Lmdb, (directory, _) => new LmdbEngine(directory))
        {
            IsInstalled = () => LmdbNative.IsInstalled,
            InstallHint = "apt-get install liblmdb0",
            DataFileName = "data.mdb",
        },
        new(RocksDb, (directory, _) => new RocksDbEngine(directory)),
        new(Sqlite, (directory, _) => new SqliteEngine(directory)) { DataFileName = "items.sqlite" },
        new(Berkeley, (directory, _) => new BerkeleyEngine(directory))
        {
            IsInstalled = () => BerkeleyNative.IsInstalled,
            InstallHint = "apt-get install libdb5.3",
            DataFileName = "items.db",
        },
        new(ZoneTree, (directory, _) => new ZoneTreeEngine(directory)),
        new(LiteDb, (directory, _) => new LiteDbEngine(directory))
        {
            DataFileName = LiteDbEngine.FileName,
            LeavesOut = workload => workload.ValueBytes > LiteDbEngine.MaxValueBytes ? "a document has at most 16 MiB" : null,
        },
        new(DBreeze, (directory, _) => new DBreezeEngine(directory)),
#if ESENT
        new(Esent, (directory, _) => new EsentEngine(directory)),
#else
        new(Esent, (_, _) => throw new PlatformNotSupportedException())
        {
            IsInstalled = () => false,
            InstallHint = "part of Windows and compiled in only there",
        },
#endif
    ];

    /// <summary>The engines of a comparison by default: all except the journal variants, which it adds to some workloads.</summary>
    public static IEnumerable<EngineDescriptor> Racing => All.Where(engine => !engine.IsJournalVariant);

    /// <exception cref="BenchmarkException">No engine has that name.</exception>
    public static EngineDescriptor Find(string name) =>
        All.FirstOrDefault(engine => engine.Name == name)
        ?? throw new BenchmarkException($"No engine is called '{name}'. Choose from: {string.Join(", ", All.Select(engine => engine.Name))}.");

    /// <exception cref="BenchmarkException">The engine is not on this machine.</exception>
    public static EngineDescriptor Require(string name)
    {
        var engine = Find(name);
        return engine.IsInstalled()
            ? engine
            : throw new BenchmarkException($"{engine.Name} is not installed: {engine.InstallHint}.");
    }

    private static EngineDescriptor Ours(string name, int commitsInFlight, JournalCompression compression) =>
        new(
            name,
            (directory, observer) => new VoronEngine(
                directory, observer, new StorageOptions { JournalCompression = compression }, commitsInFlight))
        {
            CommitsInFlight = commitsInFlight,
            DataFileName = "voron.data",
        };
}
