namespace Voron.Testing;

/// <content>The faults of the kinds of trees, of compressed values, and of deleted ranges and trees.</content>
internal static partial class PlantedFault
{
    // Fixed-size trees.

    /// <summary>A page whose cells are no longer in key order does not record the order of its existing cells.</summary>
    public static readonly bool ForgetOrder = Is(nameof(ForgetOrder));

    /// <summary>When the first child of a branch is removed, the next one keeps its key.</summary>
    public static readonly bool KeepKeyOfFirst = Is(nameof(KeepKeyOfFirst));

    // Id sets.

    /// <summary>A block is packed without the gap before its last id.</summary>
    public static readonly bool PackWithoutLast = Is(nameof(PackWithoutLast));

    /// <summary>The ids of a block may have any width, whether the block has room for them or not.</summary>
    public static readonly bool TrustBlockWidth = Is(nameof(TrustBlockWidth));

    /// <summary>The record of a set keeps its number of ids when ids in its pages are removed.</summary>
    public static readonly bool ForgetSetCount = Is(nameof(ForgetSetCount));

    /// <summary>A set whose last id is removed keeps its record.</summary>
    public static readonly bool KeepEmptySet = Is(nameof(KeepEmptySet));

    // Sets of values.

    /// <summary>A value that is added to a large set is not counted.</summary>
    public static readonly bool ForgetLargeCount = Is(nameof(ForgetLargeCount));

    /// <summary>The values of a large set remain when its key is removed.</summary>
    public static readonly bool KeepLargeSet = Is(nameof(KeepLargeSet));

    // Compressed values.

    /// <summary>A value is unpacked with the first dictionary of its tree that was read.</summary>
    public static readonly bool UnpackWithFirstDictionary = Is(nameof(UnpackWithFirstDictionary));

    /// <summary>A recompression drops all dictionaries but the newest, although values still name them.</summary>
    public static readonly bool DropNamedDictionaries = Is(nameof(DropNamedDictionaries));

    /// <summary>A cache keeps every object that was ever added.</summary>
    public static readonly bool CacheWithoutLimit = Is(nameof(CacheWithoutLimit));

    // Deleted ranges.

    /// <summary>A range deletion frees its first leaf although the leaf contains entries before the range.</summary>
    public static readonly bool FreeBoundaryLeaf = Is(nameof(FreeBoundaryLeaf));

    /// <summary>A range deletion does not free the pages of the values in the leaves that it frees.</summary>
    public static readonly bool KeepExtentsOfRange = Is(nameof(KeepExtentsOfRange));

    /// <summary>A range deletion does not count the entries that it removes from its first and its last leaf.</summary>
    public static readonly bool CountWholeLeavesOnly = Is(nameof(CountWholeLeavesOnly));

    // Dropped trees.

    /// <summary>A dropped tree is removed from the catalog, but its last leaf is not freed.</summary>
    public static readonly bool KeepLastDroppedLeaf = Is(nameof(KeepLastDroppedLeaf));

    /// <summary>Pages of values outside the leaves of a dropped tree are not freed.</summary>
    public static readonly bool KeepDroppedValues = Is(nameof(KeepDroppedValues));

    /// <summary>An opening does not continue to free trees that were dropped before it.</summary>
    public static readonly bool ForgetDropsAtOpening = Is(nameof(ForgetDropsAtOpening));
}
