namespace Voron.Testing;

/// <content>The faults of what a writer is refused.</content>
internal static partial class PlantedFault
{
    /// <summary>A thread that has begun the open write transaction waits for its end when it begins another one.</summary>
    public static readonly bool WaitForItself = Is(nameof(WaitForItself));

    /// <summary>A transaction above its limit is refused as if the disk were full.</summary>
    public static readonly bool CallLimitFullDisk = Is(nameof(CallLimitFullDisk));
}
