namespace Voron.Testing;

/// <content>The faults of change feeds.</content>
internal static partial class PlantedFault
{
    /// <summary>Changes are recorded under the id of the next transaction.</summary>
    public static readonly bool RecordUnderNextId = Is(nameof(RecordUnderNextId));

    /// <summary>A feed is cut without regard to its consumers.</summary>
    public static readonly bool CutPastConsumer = Is(nameof(CutPastConsumer));

    /// <summary>A batch of changes that is full lacks its last change.</summary>
    public static readonly bool SkipLastOfBatch = Is(nameof(SkipLastOfBatch));

    /// <summary>A restored environment believes all positions of the one that was backed up, those behind the backup included.</summary>
    public static readonly bool BelieveAllOfParent = Is(nameof(BelieveAllOfParent));

    /// <summary>The length of a key or a value in a change may be greater than the change.</summary>
    public static readonly bool BelieveChangeLengths = Is(nameof(BelieveChangeLengths));
}
