namespace Voron.Extensions.Caching;

/// <summary>The options of a <see cref="VoronCache"/>.</summary>
public sealed class VoronCacheOptions
{
    /// <summary>
    /// The directory of an environment that belongs to the cache: opened by the first use, and closed with the cache. Not used if the cache
    /// is made with an environment of the application.
    /// </summary>
    public string? Directory { get; set; }

    /// <summary>
    /// The name of the tree that stores the entries; a second tree, with the suffix ".expiry", orders them by expiration time. Caches with different
    /// names can share an environment.
    /// </summary>
    public string TreeName { get; set; } = "cache";

    /// <summary>
    /// The time for which an entry without any expiration of its own may stay unused; null, the default, for no limit.
    /// </summary>
    public TimeSpan? DefaultSlidingExpiration { get; set; }

    /// <summary>
    /// The interval at which expired entries are deleted. Expired entries are never returned, not even before their deletion. At the same interval,
    /// access times are written for entries with a sliding expiration: a crash loses the access times since the last write, and such an entry may
    /// then expire earlier by up to this interval.
    /// </summary>
    public TimeSpan ExpirationScanInterval { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The total size of the values, in bytes, above which the next scan deletes entries, starting with those that expire first; null, the default,
    /// for no limit.
    /// </summary>
    public long? SizeLimitBytes { get; set; }

    /// <summary>
    /// When a change is acknowledged. Lazy by default: readers see it at once, and it becomes durable within
    /// <see cref="StorageOptions.LazyInterval"/> of the environment. A crash in between undoes it, so that a key may have its former value again, or
    /// a removed one be back. Where that would be wrong, choose <see cref="Voron.Durability.Durable"/>.
    /// </summary>
    public Durability Durability { get; set; } = Durability.Lazy;

    /// <summary>Checks all options together.</summary>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    public void Validate()
    {
        var faults = new List<string>();
        if (string.IsNullOrEmpty(TreeName))
            faults.Add($"{nameof(TreeName)} is empty.");
        if (DefaultSlidingExpiration is { } sliding && sliding <= TimeSpan.Zero)
            faults.Add($"{nameof(DefaultSlidingExpiration)} is {sliding}; it must be positive.");
        if (ExpirationScanInterval <= TimeSpan.Zero || ExpirationScanInterval > TimeSpan.FromDays(24))
            faults.Add($"{nameof(ExpirationScanInterval)} is {ExpirationScanInterval}; it must be positive and at most 24 days.");
        if (SizeLimitBytes is <= 0)
            faults.Add($"{nameof(SizeLimitBytes)} is {SizeLimitBytes}; it must be positive.");
        if (Durability is not (Durability.Durable or Durability.Lazy))
            faults.Add($"{nameof(Durability)} is {(int)Durability}, which is not a valid setting.");
        if (faults.Count > 0)
            throw new ArgumentException($"The options of the cache are not valid: {string.Join(' ', faults)}");
    }
}
