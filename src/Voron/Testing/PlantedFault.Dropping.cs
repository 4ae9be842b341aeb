namespace Voron.Testing;

/// <content>The faults of dropped trees.</content>
internal static partial class PlantedFault
{
    /// <summary>A dropped tree goes out of the catalog, and its last leaf is not free.</summary>
    public static readonly bool KeepLastDroppedLeaf = Is(nameof(KeepLastDroppedLeaf));

    /// <summary>Pages of values outside of the leaves of a dropped tree are not freed.</summary>
    public static readonly bool KeepDroppedValues = Is(nameof(KeepDroppedValues));

    /// <summary>An opening does not continue with trees that were dropped before.</summary>
    public static readonly bool ForgetDropsAtOpening = Is(nameof(ForgetDropsAtOpening));
}
