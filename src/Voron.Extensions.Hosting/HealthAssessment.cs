using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Voron.Extensions.Hosting;

/// <summary>Concludes the health of an open environment from its statistics.</summary>
/// <param name="path">The directory, or "memory".</param>
/// <param name="options">The options of the environment.</param>
/// <param name="statistics">Its statistics.</param>
/// <param name="settings">The thresholds.</param>
/// <param name="now">The time.</param>
internal sealed class HealthAssessment(
    string path, StorageOptions options, EnvironmentStatistics statistics, VoronHealthCheckSettings settings, DateTimeOffset now)
{
    // A clock that is being adjusted deserves no alarm.
    private static readonly TimeSpan ClockTolerance = TimeSpan.FromMinutes(1);

    // An environment that is open for reading only writes nothing.
    private bool IsDiskNearlyFull => !options.ReadOnly && statistics.VolumeFreeBytes < settings.MinVolumeFreeBytes;

    private bool HasSlowReader =>
        settings.SlowReaderAge >= TimeSpan.Zero
        && statistics.OldestReaderTransactionId < statistics.PublishedTransactionId
        && statistics.OldestReaderAge >= settings.SlowReaderAge
        && Math.Max(statistics.LiveJournalBytes, statistics.VersionBytes) >= settings.SlowReaderBytes;

    /// <summary>Returns the result of the check.</summary>
    /// <param name="failed">The status that the application has chosen for a failure.</param>
    /// <param name="isSlowed">True if writers are being slowed, or were a moment ago.</param>
    /// <param name="ofTables">A sentence for each table that is not ready.</param>
    public HealthCheckResult Assess(HealthStatus failed, bool isSlowed, IEnumerable<string> ofTables)
    {
        var reasons = new List<string>();
        if (statistics.IsPoisoned)
            reasons.Add("A write has failed, so the environment accepts no more writes. Restart the application: the next opening recovers all durable transactions.");
        if (isSlowed)
            reasons.Add("Writers are slowed, because the journal or the page versions have reached their limit.");
        if (HasSlowReader)
            reasons.Add($"A reader that has been open for {statistics.OldestReaderAge} keeps newer changes in memory and in the journal.");
        if (IsDiskNearlyFull)
            reasons.Add(FormattableString.Invariant($"The volume has {statistics.VolumeFreeBytes} bytes left, fewer than {settings.MinVolumeFreeBytes}."));
        if (statistics.PublishedAt is { } last && last - now > ClockTolerance)
        {
            reasons.Add(FormattableString.Invariant(
                $"The last commit has the time {last:u}, but the clock shows {now:u}: one of the two clocks was wrong. Until then, all commits have the same time."));
        }

        reasons.AddRange(ofTables);
        if (reasons.Count == 0)
            return HealthCheckResult.Healthy($"The environment in '{path}' is healthy.", Data());

        // The application may treat failures as degradations, but nothing here makes a degradation worse than that.
        var status = statistics.IsPoisoned ? failed : HealthStatus.Degraded;
        return new HealthCheckResult(status, $"The environment in '{path}' is not healthy. {string.Join(' ', reasons)}", null, Data());
    }

    private Dictionary<string, object> Data()
    {
        var data = new Dictionary<string, object>
        {
            [nameof(EnvironmentStatistics.IsPoisoned)] = statistics.IsPoisoned,
            [nameof(EnvironmentStatistics.IsBackPressureActive)] = statistics.IsBackPressureActive,
            [nameof(EnvironmentStatistics.BackPressureWaits)] = statistics.BackPressureWaits,
            [nameof(EnvironmentStatistics.LiveJournalBytes)] = statistics.LiveJournalBytes,
            [nameof(StorageOptions.JournalLimitBytes)] = options.JournalLimitBytes,
            [nameof(EnvironmentStatistics.VersionBytes)] = statistics.VersionBytes,
            [nameof(StorageOptions.ScratchLimitBytes)] = options.ScratchLimitBytes,
            [nameof(EnvironmentStatistics.OpenReaders)] = statistics.OpenReaders,
            [nameof(EnvironmentStatistics.DataFileBytes)] = statistics.DataFileBytes,
        };
        if (statistics.OldestReaderAge is { } age)
            data[nameof(EnvironmentStatistics.OldestReaderAge)] = age;
        if (statistics.VolumeFreeBytes is { } free)
            data[nameof(EnvironmentStatistics.VolumeFreeBytes)] = free;
        return data;
    }
}
