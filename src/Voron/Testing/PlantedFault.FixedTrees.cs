namespace Voron.Testing;

/// <content>The faults of fixed-size trees.</content>
internal static partial class PlantedFault
{
    /// <summary>A page whose keys no longer only rise gets no order of those that it has.</summary>
    public static readonly bool ForgetOrder = Is(nameof(ForgetOrder));

    /// <summary>When the first child of a branch is removed, the next one keeps its key.</summary>
    public static readonly bool KeepKeyOfFirst = Is(nameof(KeepKeyOfFirst));
}
