using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>Options at their limits and beyond them.</summary>
internal static class OptionBoundaries
{
    public static void Options()
    {
        StorageOptions[] good =
        [
            new() { InitialJournalFileBytes = 64 << 10, MaxJournalFileBytes = 64 << 10 },
            new() { FlushThresholdBytes = 1, JournalLimitBytes = 256 << 10 },
            new() { ScratchMemoryBytes = 4 << 20, ScratchLimitBytes = 4 << 20 }, new() { KeyHeadCacheBytes = 0 },
            new() { MaxTransactionBytes = 1 << 20 },
            new() { MaxGroupCommitBytes = 1 }, new() { LargeValueBytes = 16 << 10 }, new() { LargeValueBytes = 1 << 30 },
            new() { MaxJournalFileBytes = 1L << 40 },
            new() { PreferredFreeFraction = 1 },
            new() { PreferredFreeFraction = double.Epsilon }, new() { MaxGrowthBytes = 1 << 20 }, new() { ScrubBytesPerSecond = 0 },
            new() { ScrubInterval = TimeSpan.FromDays(24) }, new() { ScrubInterval = Timeout.InfiniteTimeSpan },
            new() { LazyInterval = TimeSpan.FromMilliseconds(1) }, new() { LazyInterval = StorageOptions.LongestLazyInterval },
            new() { FlushInterval = TimeSpan.FromTicks(1) }, new() { SlowReaderInterval = TimeSpan.FromTicks(1) }, new() { PageSize = 65536 },
            new() { MemoryLimitBytes = 16 << 20 }, new() { MemoryLimitBytes = 16 << 20, PageSize = 65536 },
            new() { MemoryLimitBytes = long.MaxValue },
            new() { MemoryLimitBytes = 16 << 20, ScratchMemoryBytes = 12 << 20, KeyHeadCacheBytes = 4 << 20 },
            new() { LockTimeout = TimeSpan.FromDays(24) }, new() { LockTimeout = Timeout.InfiniteTimeSpan },
            new() { StatusInterval = TimeSpan.Zero }, new() { StatusInterval = Timeout.InfiniteTimeSpan },
            new() { StatusInterval = TimeSpan.FromMilliseconds(10) }, new() { StatusInterval = TimeSpan.FromDays(24) },
            new() { ChangeLogBytes = 1 << 20 }, new() { ChangeLogBytes = 1L << 40 },
            new() { OpenMode = OpenMode.CreateNew }, new() { Trees = { new string('t', 255) } },
        ];
        foreach (var options in good)
        {
            using var environment = StorageEnvironment.OpenInMemory(options);
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("t").Put([1], new byte[20_000]);
                writing.Commit();
            }
            environment.Flush();
            Require(environment.Verify().IsSound && environment.Options.MaxGrowthBytes == options.MaxGrowthBytes,
                "options at their limit do not work");
        }
        StorageOptions[] bad =
        [
            new() { PageSize = 0 }, new() { PageSize = 2048 }, new() { PageSize = 131072 }, new() { PageSize = 4097 },
            new() { InitialJournalFileBytes = (64 << 10) - 1 }, new() { FlushThresholdBytes = 0 },
            new() { InitialJournalFileBytes = 1 << 20, MaxJournalFileBytes = (1 << 20) - 1 },
            new() { FlushThresholdBytes = 1, JournalLimitBytes = (256 << 10) - 1 },
            new() { FlushThresholdBytes = (256 << 10) + 1, JournalLimitBytes = 256 << 10 }, new() { ScratchMemoryBytes = (4 << 20) - 1 },
            new() { ScratchMemoryBytes = 8 << 20, ScratchLimitBytes = (8 << 20) - 1 }, new() { KeyHeadCacheBytes = -1 },
            new() { KeyHeadCacheBytes = (1L << 40) + 1 },
            new() { MaxTransactionBytes = (1 << 20) - 1 }, new() { MaxGroupCommitBytes = 0 }, new() { LargeValueBytes = (16 << 10) - 1 },
            new() { LargeValueBytes = (1 << 30) + 1 }, new() { MaxJournalFileBytes = (1L << 40) + 1 }, new() { MaxJournalFileBytes = long.MaxValue },
            new() { PreferredFreeFraction = 0 },
            new() { PreferredFreeFraction = 1.01 }, new() { PreferredFreeFraction = double.NaN }, new() { MaxGrowthBytes = (1 << 20) - 1 },
            new() { ScrubBytesPerSecond = -1 }, new() { ScrubInterval = TimeSpan.Zero },
            new() { ScrubInterval = TimeSpan.FromDays(24) + TimeSpan.FromTicks(1) },
            new() { LazyInterval = TimeSpan.FromMilliseconds(1) - TimeSpan.FromTicks(1) },
            new() { LazyInterval = StorageOptions.LongestLazyInterval + TimeSpan.FromTicks(1) }, new() { Durability = (Durability)2 },
            new() { FlushInterval = TimeSpan.Zero }, new() { SlowReaderInterval = TimeSpan.Zero },
            new() { JournalCompression = (JournalCompression)3 }, new() { TornPageProtection = (TornPageProtection)2 },
            new() { MemoryLimitBytes = (16 << 20) - 1 },
            new() { MemoryLimitBytes = 16 << 20, ScratchMemoryBytes = 12 << 20, KeyHeadCacheBytes = (4 << 20) + 1 },
            new() { LockTimeout = TimeSpan.FromDays(24) + TimeSpan.FromTicks(1) }, new() { LockTimeout = TimeSpan.FromTicks(-1) },
            new() { StatusInterval = TimeSpan.FromMilliseconds(10) - TimeSpan.FromTicks(1) },
            new() { StatusInterval = TimeSpan.FromDays(24) + TimeSpan.FromTicks(1) }, new() { StatusInterval = TimeSpan.FromTicks(-1) },
            new() { ChangeLogBytes = (1 << 20) - 1 }, new() { ChangeLogBytes = (1L << 40) + 1 },
            new() { OpenMode = (OpenMode)3 }, new() { OpenMode = OpenMode.CreateNew, ReadOnly = true },
            new() { Trees = { new string('t', 256) } }, new() { Trees = { "" } },
        ];
        foreach (var options in bad)
        {
            Throws<ArgumentException>(options.Validate, "options behind their limit");
            Throws<ArgumentException>(() => StorageEnvironment.OpenInMemory(options).Dispose(), "options behind their limit");
        }
    }
}
