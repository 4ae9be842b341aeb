using System.Globalization;

namespace Voron.Extensions.Hosting;

/// <summary>The thresholds of the health check of an environment.</summary>
public sealed class VoronHealthCheckSettings
{
    /// <summary>
    /// The number of bytes below which the free space of the volume is nearly used up, so that the environment is degraded; 0 for never. The
    /// default is 1 GiB: the journal may grow up to <see cref="StorageOptions.JournalLimitBytes"/>, 512 MiB by default, while the data file grows
    /// too. An environment that is in memory, or open for reading only, needs no space.
    /// </summary>
    public long MinVolumeFreeBytes { get; set; } = 1L << 30;

    /// <summary>
    /// The age at which a reader that keeps newer changes out of the data file counts as slow: the environment is then degraded, if
    /// <see cref="SlowReaderBytes"/> is reached too. The default is one minute; <see cref="Timeout.InfiniteTimeSpan"/> for never.
    /// </summary>
    public TimeSpan SlowReaderAge { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The number of bytes, of the journal or of page versions, at which an old reader counts as slow. The default is 64 MiB: while little changes,
    /// an old reader does no harm.
    /// </summary>
    public long SlowReaderBytes { get; set; } = 64L << 20;

    /// <summary>
    /// The time for which the environment stays degraded after a check has noticed that writers were slowed since the check before, so that
    /// short delays between two checks do not go unnoticed; zero to report only writers that are being slowed at the moment of a check. The
    /// default is 30 seconds.
    /// </summary>
    public TimeSpan BackPressureWindow { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Tags of the health check, in addition to <c>voron</c>: applications select the checks of an endpoint by tag.</summary>
    public IList<string> Tags { get; } = [];

    internal void AddFaults(string name, List<string> faults)
    {
        if (MinVolumeFreeBytes < 0)
            faults.Add(string.Create(CultureInfo.InvariantCulture, $"{name}:{nameof(MinVolumeFreeBytes)} is {MinVolumeFreeBytes}; it must not be negative."));
        if (SlowReaderAge < TimeSpan.Zero && SlowReaderAge != Timeout.InfiniteTimeSpan)
            faults.Add($"{name}:{nameof(SlowReaderAge)} is {SlowReaderAge}; it must not be negative, unless it is infinite.");
        if (SlowReaderBytes < 0)
            faults.Add(string.Create(CultureInfo.InvariantCulture, $"{name}:{nameof(SlowReaderBytes)} is {SlowReaderBytes}; it must not be negative."));
        if (BackPressureWindow < TimeSpan.Zero)
            faults.Add($"{name}:{nameof(BackPressureWindow)} is {BackPressureWindow}; it must not be negative.");
        if (Tags.Any(string.IsNullOrEmpty))
            faults.Add($"{name}:{nameof(Tags)} has an empty tag.");
    }
}
