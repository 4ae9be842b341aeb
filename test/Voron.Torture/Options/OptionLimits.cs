using System.Reflection;
using Voron.Simulation.Harness;

namespace Voron.Torture.Options;

/// <summary>
/// The values of each numeric option that are worth trying: its limits, its default, and the neighbours of powers of two.
/// </summary>
internal static class OptionLimits
{
    private const long KiB = 1 << 10;
    private const long MiB = 1 << 20;

    private static readonly (string Name, object[] Values)[] Limits =
    [
        (nameof(StorageOptions.PageSize), [4096, 65536]),
        (nameof(StorageOptions.InitialJournalFileBytes), [64 * KiB, 64 * KiB + 1, MiB - 1, 4 * MiB]),
        (nameof(StorageOptions.MaxJournalFileBytes), [64 * KiB, 64 * KiB + 1, 16 * MiB, (long)int.MaxValue, StorageOptions.LargestJournalFile]),
        (nameof(StorageOptions.FlushThresholdBytes), [1L, 4096L, 64 * KiB, 64 * MiB, long.MaxValue]),
        (nameof(StorageOptions.JournalLimitBytes),
            [256 * KiB, 256 * KiB + 1, MiB, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1, 16 * MiB, 64 * MiB, 512 * MiB, (long)int.MaxValue + 1, long.MaxValue]),
        (nameof(StorageOptions.MemoryLimitBytes), [16 * MiB, 16 * MiB + 1, 64 * MiB, 2048 * MiB, long.MaxValue]),
        (nameof(StorageOptions.ScratchMemoryBytes), [4 * MiB, 4 * MiB + 1, 512 * MiB, (long)int.MaxValue, long.MaxValue]),
        (nameof(StorageOptions.ScratchLimitBytes), [4 * MiB, 2048 * MiB, (long)int.MaxValue, long.MaxValue]),
        (nameof(StorageOptions.KeyHeadCacheBytes), [0L, 1L, 80 * MiB, (long)int.MaxValue, (long)int.MaxValue + 1]),
        (nameof(StorageOptions.MaxTransactionBytes), [MiB, 1024 * MiB, (long)int.MaxValue + 1, long.MaxValue]),
        (nameof(StorageOptions.MaxGroupCommitBytes), [1L, 4096L, 64 * KiB, 4 * MiB, long.MaxValue]),
        (nameof(StorageOptions.MaxQueuedOperations), [1 << 10, 1 << 20, int.MaxValue]),
        (nameof(StorageOptions.LargeValueBytes), [16 << 10, (16 << 10) + 1, StorageOptions.MaxLargeValue]),
        (nameof(StorageOptions.PreferredFreeFraction), [double.Epsilon, 0.25, 1.0]),
        (nameof(StorageOptions.MaxGrowthBytes), [MiB, MiB + 1, 64 * MiB, long.MaxValue]),
        (nameof(StorageOptions.ScrubBytesPerSecond), [0L, 1L, 16 * MiB, long.MaxValue]),
        (nameof(StorageOptions.ChangeLogBytes), [MiB, 64 * MiB, StorageOptions.LargestJournalFile]),
        (nameof(StorageOptions.LockTimeout), [TimeSpan.Zero, TimeSpan.FromTicks(1), TimeSpan.FromDays(24), Timeout.InfiniteTimeSpan]),
        (nameof(StorageOptions.FlushInterval), [TimeSpan.FromTicks(1), TimeSpan.FromSeconds(10), TimeSpan.MaxValue]),
        (nameof(StorageOptions.LazyInterval), [TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(100), StorageOptions.LongestLazyInterval]),
        (nameof(StorageOptions.ScrubInterval), [TimeSpan.FromMilliseconds(1), TimeSpan.FromDays(24), Timeout.InfiniteTimeSpan]),
        (nameof(StorageOptions.StatusInterval),
            [TimeSpan.Zero, TimeSpan.FromMilliseconds(10), TimeSpan.FromDays(24), Timeout.InfiniteTimeSpan]),
        (nameof(StorageOptions.SlowReaderInterval), [TimeSpan.FromTicks(1), TimeSpan.FromMinutes(1), TimeSpan.MaxValue]),
    ];

    /// <summary>The numeric options of the engine that are missing in this list, and so would not be tried.</summary>
    public static IEnumerable<string> Untried =>
        typeof(StorageOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(option => (Nullable.GetUnderlyingType(option.PropertyType) ?? option.PropertyType) is var type
                && (type == typeof(int) || type == typeof(long) || type == typeof(double) || type == typeof(TimeSpan)))
            .Select(option => option.Name)
            .Except(Limits.Select(limit => limit.Name));

    /// <summary>Draws options: one or a few at their limits, or all of them.</summary>
    public static StorageOptions Draw(SuiteRun run)
    {
        var choices = run.Choices;
        var options = new StorageOptions
        {
            BackgroundFlush = choices.Next(4) > 0,
            JournalCompression = (JournalCompression)choices.Next(3),
            Durability = choices.Next(4) == 3 ? Durability.Lazy : Durability.Durable,
            TornPageProtection = choices.Next(3) == 2 ? TornPageProtection.FullPageImages : TornPageProtection.Checksums,
            CommitObserver = null,
        };
        run.Report($"background flush {options.BackgroundFlush}, {options.JournalCompression}, {options.TornPageProtection}");
        var all = choices.Next(4) == 3;
        for (var i = all ? Limits.Length : choices.Next(1, 4); i > 0 && choices.HasMore; i--)
        {
            choices.Mark();
            (var name, var values) = Limits[all ? i - 1 : choices.Next(Limits.Length)];
            Draw(name, values);
        }

        // Draws limits that a few commits reach, more often than by chance.
        if (choices.Next(4) == 3)
            Draw(nameof(StorageOptions.JournalLimitBytes), [256 * KiB, 256 * KiB + 1, MiB, 4 * MiB - 1, 4 * MiB, 4 * MiB + 1]);

        // With a greater flush threshold, as the default is, the limit would be refused.
        var limit = options.JournalLimitBytes;
        if (limit < options.FlushThresholdBytes && choices.Next(4) > 0)
            Draw(nameof(StorageOptions.FlushThresholdBytes), [1L, limit / 4, limit]);
        return options;

        void Draw(string name, object[] values)
        {
            var value = values[choices.Next(values.Length)];
            run.Step($"{name} = {value}");
            typeof(StorageOptions).GetProperty(name)!.SetValue(options, value);
        }
    }
}
