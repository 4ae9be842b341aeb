namespace Voron.Testing;

/// <content>The faults of sorts outside of trees.</content>
internal static partial class PlantedFault
{
    /// <summary>Of entries with the same key in several chunks or runs of a sort, the first one wins where the last one should.</summary>
    public static readonly bool PreferEarlierRun = Is(nameof(PreferEarlierRun));

    /// <summary>The checksum of a block in the spill file of a sort is not compared.</summary>
    public static readonly bool BelieveSpilledBlocks = Is(nameof(BelieveSpilledBlocks));

    /// <summary>The last block of a run is not written.</summary>
    public static readonly bool LeaveLastBlockOut = Is(nameof(LeaveLastBlockOut));
}
