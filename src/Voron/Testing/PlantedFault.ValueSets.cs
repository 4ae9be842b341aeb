namespace Voron.Testing;

/// <content>Faults in sets of values.</content>
internal static partial class PlantedFault
{
    /// <summary>A value that is added to a large set does not count.</summary>
    public static readonly bool ForgetLargeCount = Is(nameof(ForgetLargeCount));

    /// <summary>The values of a large set stay when its key is removed.</summary>
    public static readonly bool KeepLargeSet = Is(nameof(KeepLargeSet));
}
