using Voron.Benchmarks.Peers;

namespace Voron.Benchmarks.Engines.ValueSets;

/// <summary>A store of value sets that can be measured.</summary>
/// <param name="Name">The engine and its way.</param>
/// <param name="IsInstalled">Whether the engine is on this machine.</param>
/// <param name="Open">Opens a store in an empty directory.</param>
internal sealed record ValueSetWay(string Name, Func<bool> IsInstalled, Func<string, ValueSetStore> Open);

/// <summary>All stores of value sets, this project's own first.</summary>
internal static class ValueSetCatalog
{
    public const string Own = "Voron, value set tree";

    public static IReadOnlyList<ValueSetWay> All { get; } =
    [
        new(Own, () => true, directory => new VoronValueSets(directory)),
        new("LMDB, DUPSORT", () => LmdbNative.IsInstalled, directory => new LmdbValueSets(directory)),
        new("RocksDB, word and value as key", () => RocksDbNative.IsInstalled, directory => new RocksDbValueSets(directory)),
    ];
}
