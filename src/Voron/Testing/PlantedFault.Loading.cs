namespace Voron.Testing;

/// <content>The faults of bulk loads.</content>
internal static partial class PlantedFault
{
    /// <summary>The last page of a range that a bulk load has written is not marked as used.</summary>
    public static readonly bool AdoptUntaken = Is(nameof(AdoptUntaken));

    /// <summary>A bulk load replaces a tree that was filled, or created, while it ran.</summary>
    public static readonly bool AdoptChanged = Is(nameof(AdoptChanged));

    /// <summary>A page of a bulk load that has left memory is not written again after it has changed.</summary>
    public static readonly bool WriteLoadedOnce = Is(nameof(WriteLoadedOnce));

    /// <summary>Rows that have lost their primary keys to others in a bulk load keep their keys in the other indexes.</summary>
    public static readonly bool KeepKeysOfLostRows = Is(nameof(KeepKeysOfLostRows));
}
