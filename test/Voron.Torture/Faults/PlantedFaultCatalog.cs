using System.Reflection;
using Voron.Primitives;
using Voron.Torture.Harness;

namespace Voron.Torture.Faults;

/// <summary>A fault of the engine, and the suite that is to find it.</summary>
/// <param name="Name">Of the switch in the engine.</param>
/// <param name="Suite">Whose business it is.</param>
/// <param name="Count">Cases within which it has to be found.</param>
internal sealed record FaultCase(string Name, string Suite, long Count);

/// <summary>Every fault that can be planted in the engine.</summary>
internal static class PlantedFaultCatalog
{
    public static IReadOnlyList<FaultCase> All { get; } =
    [
        new(nameof(PlantedFault.SkipSyncBeforeCheckpoint), "power-cut", 4_000),
        new(nameof(PlantedFault.AcknowledgeBeforeWrite), "power-cut", 4_000),
        new(nameof(PlantedFault.RecycleJournalEarly), "power-cut", 4_000),
        new(nameof(PlantedFault.FlushPastOldestReader), "power-cut", 4_000),
        new(nameof(PlantedFault.FlushPastDurable), "power-cut", 4_000),
        new(nameof(PlantedFault.AppendToReplayedJournal), "power-cut", 4_000),
        new(nameof(PlantedFault.LeaveFreesOut), "power-cut", 4_000),
        new(nameof(PlantedFault.DiffAgainstSavepoint), "power-cut", 4_000),
        new(nameof(PlantedFault.LeaveImageOut), "power-cut", 4_000),
        new(nameof(PlantedFault.SubmitBeforeValueSync), "power-cut", 4_000),
        new(nameof(PlantedFault.ScanBeforeHorizon), "schedules", 20_000),
        new(nameof(PlantedFault.RegisterUnconfirmed), "schedules", 20_000),
        new(nameof(PlantedFault.JoinUnconfirmed), "schedules", 30_000),
        new(nameof(PlantedFault.DropVersionsEarly), "schedules", 4_000),
        new(nameof(PlantedFault.FreeDetachedEarly), "schedules", 20_000),
        new(nameof(PlantedFault.KeepGeneration), "schedules", 20_000),
        new(nameof(PlantedFault.AcknowledgeBeforePublish), "schedules", 20_000),
        new(nameof(PlantedFault.AcknowledgeOutOfOrder), "schedules", 20_000),
        new(nameof(PlantedFault.GrowSideBySide), "schedules", 20_000),
        new(nameof(PlantedFault.RollBackNeighbours), "schedules", 4_000),
        new(nameof(PlantedFault.UseSpareTwice), "schedules", 4_000),
        new(nameof(PlantedFault.TrustChangedHeads), "schedules", 30_000),
        new(nameof(PlantedFault.KeepHeadsOverFlush), "schedules", 4_000),
        new(nameof(PlantedFault.ForgetToWake), "schedules", 4_000),
        new(nameof(PlantedFault.CommitAfterNoMemory), "memory-fault", 2_000),
        new(nameof(PlantedFault.KeepFailedVersions), "memory-fault", 2_000),
    ];

    /// <summary>Names of all switches in the engine.</summary>
    public static IEnumerable<string> Switches =>
        typeof(PlantedFault).GetFields(BindingFlags.Static | BindingFlags.Public)
            .Where(found => found.FieldType == typeof(bool))
            .Select(found => found.Name);

    /// <exception cref="TortureException">There is no such fault.</exception>
    public static FaultCase Find(string name) =>
        All.FirstOrDefault(fault => fault.Name.Equals(name, StringComparison.OrdinalIgnoreCase))
        ?? throw new TortureException($"There is no fault '{name}'. There are: {string.Join(", ", All.Select(fault => fault.Name))}.");
}
