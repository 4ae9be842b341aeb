namespace Voron.Testing;

/// <content>The faults of backups and salvages.</content>
internal static partial class PlantedFault
{
    /// <summary>Backups of all lineages are ordered by their transactions.</summary>
    public static readonly bool IgnoreLineages = Is(nameof(IgnoreLineages));

    /// <summary>A backup does not copy pages again that have changed since they were copied.</summary>
    public static readonly bool ForgetPending = Is(nameof(ForgetPending));

    /// <summary>A backup copies all pages from the data file, even those that have a version in memory.</summary>
    public static readonly bool CopyWithoutVersions = Is(nameof(CopyWithoutVersions));

    /// <summary>A backup does not check the pages that it copies.</summary>
    public static readonly bool BelieveCopies = Is(nameof(BelieveCopies));

    /// <summary>A backup keeps its snapshot while it waits for the target.</summary>
    public static readonly bool HoldWhileWaiting = Is(nameof(HoldWhileWaiting));

    /// <summary>A backup is finished before the environment has recorded it as one that later backups can build on.</summary>
    public static readonly bool PointAfterTrailer = Is(nameof(PointAfterTrailer));

    /// <summary>The time of a commit counts for the order of backups even where it is later than the backup.</summary>
    public static readonly bool BelieveCommitTimes = Is(nameof(BelieveCommitTimes));

    /// <summary>A prune deletes backups that another call is building on.</summary>
    public static readonly bool DeleteHeldBackups = Is(nameof(DeleteHeldBackups));

    /// <summary>The restore of a chain keeps the blocks of pages that the last state does not use.</summary>
    public static readonly bool KeepRestoredBlocks = Is(nameof(KeepRestoredBlocks));

    // Does not use the field of the other file, which may be initialized after the fields of this one.
    private static bool Is(string name) => AppContext.GetData("Voron.PlantedFault") as string == name;

    // Salvages.

    /// <summary>Entries of unreachable pages are added to their tree, wherever their keys are, and whether the pages are in use or not.</summary>
    public static readonly bool BelieveOrphans = Is(nameof(BelieveOrphans));

    /// <summary>Of two pages with the same key, the older one counts.</summary>
    public static readonly bool PreferOlder = Is(nameof(PreferOlder));

    /// <summary>A data file that is stamped as finished is believed to have all pages of the flush.</summary>
    public static readonly bool BelieveFinishedStamp = Is(nameof(BelieveFinishedStamp));

    /// <summary>Diffs are applied to pages of the data file that are newer than the journal.</summary>
    public static readonly bool MixNewerPages = Is(nameof(MixNewerPages));

    /// <summary>The value of an old leaf is read from its old place, whatever is stored there now.</summary>
    public static readonly bool BelieveUsedPlaces = Is(nameof(BelieveUsedPlaces));
}
