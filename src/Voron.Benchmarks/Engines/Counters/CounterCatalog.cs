using Voron.Benchmarks.Peers;

namespace Voron.Benchmarks.Engines.Counters;

/// <summary>A way to count that can be measured.</summary>
/// <param name="Name">The engine and its call.</param>
/// <param name="IsInstalled">Whether the engine is on this machine.</param>
/// <param name="Open">Opens a store in an empty directory.</param>
internal sealed record CounterWay(string Name, Func<bool> IsInstalled, Func<string, CounterStore> Open);

/// <summary>All ways to count, this project's own first.</summary>
internal static class CounterCatalog
{
    public const string Increment = "Voron, Increment";
    public const string GetAndPut = "Voron, TryGet and Put";

    public static IReadOnlyList<CounterWay> All { get; } =
    [
        new(Increment, () => true, directory => new VoronCounters(directory, usesIncrement: true)),
        new(GetAndPut, () => true, directory => new VoronCounters(directory, usesIncrement: false)),
        new("LMDB, get and put", () => LmdbNative.IsInstalled, directory => new LmdbCounters(directory)),
        new("RocksDB, merge of uint64add", () => RocksDbNative.CanMerge, directory => new RocksDbCounters(directory)),
        new("SQLite, upsert of n + 1", () => SqliteNative.IsInstalled, directory => new SqliteCounters(directory)),
    ];
}
