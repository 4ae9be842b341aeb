namespace Voron.Testing;

/// <content>The faults of id sets.</content>
internal static partial class PlantedFault
{
    /// <summary>A block is packed without the gap before its last id.</summary>
    public static readonly bool PackWithoutLast = Is(nameof(PackWithoutLast));

    /// <summary>The ids of a block may have any width, whether the block has room for them or not.</summary>
    public static readonly bool TrustBlockWidth = Is(nameof(TrustBlockWidth));

    /// <summary>The record of a set keeps its number of ids when ids inside of its pages are removed.</summary>
    public static readonly bool ForgetSetCount = Is(nameof(ForgetSetCount));

    /// <summary>A set whose last id is removed keeps its record.</summary>
    public static readonly bool KeepEmptySet = Is(nameof(KeepEmptySet));
}
