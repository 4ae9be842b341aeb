namespace Voron;

/// <summary>When a commit is acknowledged.</summary>
public enum Durability
{
    /// <summary>When its changes are on the device, and survive a crash and a power failure.</summary>
    Durable,

    /// <summary>
    /// When its changes are visible to readers. They become durable in the order of the commits: within <see cref="StorageOptions.LazyInterval"/>, or
    /// earlier with the next durable commit or because much waits. After a crash, a power failure or a failed write, the last lazy commits may
    /// be missing, and never others before them.
    /// </summary>
    Lazy,
}
