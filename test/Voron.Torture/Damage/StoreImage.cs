using Voron.Simulation.Disks;

namespace Voron.Torture.Damage;

/// <summary>The files of an environment at some moment, and its content at that moment.</summary>
/// <param name="Name">The characteristic of the moment.</param>
/// <param name="Files">The files.</param>
/// <param name="LastTransaction">The newest acknowledged transaction.</param>
/// <param name="Contents">The content after each of the newest transactions, by id.</param>
internal sealed record StoreImage(string Name, StoreFiles Files, long LastTransaction, IReadOnlyDictionary<long, StoreContent> Contents)
{
    /// <summary>
    /// The places of the journal's records, in order. If one is damaged together with all later ones, which confirm its durability, they
    /// look like writes that were under way.
    /// </summary>
    public required IReadOnlyList<RecordPlace> Records { get; init; }

    /// <summary>The bytes of the data file that something depends on.</summary>
    public required NeededBytes Needed { get; init; }

    /// <summary>The torn-page protection with which the environment was created, and is opened.</summary>
    public required TornPageProtection Form { get; init; }
}
