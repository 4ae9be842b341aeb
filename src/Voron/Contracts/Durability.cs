namespace Voron;

/// <summary>When a commit is acknowledged.</summary>
public enum Durability
{
    /// <summary>When its changes are on the device, and survive crashes and power failures.</summary>
    Durable,

    /// <summary>
    /// When its changes are visible to readers. They become durable in commit order: within <see cref="StorageOptions.LazyInterval"/>, or earlier
    /// with the next durable commit, or when many lazy commits are waiting. After a crash, a power failure or a failed write, the most recent lazy
    /// commits may be missing, but never a commit before one that survives.
    /// </summary>
    Lazy,
}
