namespace Voron.Testing;

/// <content>Faults of deleted ranges.</content>
internal static partial class PlantedFault
{
    /// <summary>A deleted range frees its first leaf although entries before the range are in it.</summary>
    public static readonly bool FreeBoundaryLeaf = Is(nameof(FreeBoundaryLeaf));

    /// <summary>The pages of the values in the leaves that a deleted range frees are not freed.</summary>
    public static readonly bool KeepExtentsOfRange = Is(nameof(KeepExtentsOfRange));

    /// <summary>The entries that a deleted range takes out of its first and its last leaf are not counted.</summary>
    public static readonly bool CountWholeLeavesOnly = Is(nameof(CountWholeLeavesOnly));
}
