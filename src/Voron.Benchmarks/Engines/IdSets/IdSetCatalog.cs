using Voron.Benchmarks.Peers;

namespace Voron.Benchmarks.Engines.IdSets;

/// <summary>A store of id sets that can be measured.</summary>
/// <param name="Name">The engine and its way.</param>
/// <param name="IsInstalled">Whether the engine is on this machine.</param>
/// <param name="Open">Opens a store in an empty directory.</param>
internal sealed record IdSetWay(string Name, Func<bool> IsInstalled, Func<string, IdSetStore> Open);

/// <summary>All stores of id sets, this project's own first.</summary>
internal static class IdSetCatalog
{
    public const string Own = "Voron, id tree";

    public static IReadOnlyList<IdSetWay> All { get; } =
    [
        new(Own, () => true, directory => new VoronIdSets(directory)),
        new("LMDB, DUPFIXED", () => LmdbNative.IsInstalled, directory => new LmdbIdSets(directory)),
        new("RocksDB, word and id as key", () => RocksDbNative.IsInstalled, directory => new RocksDbIdSets(directory)),
    ];
}
