using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>The options of environments whose crashes are examined.</summary>
internal static class CrashOptions
{
    public static StorageOptions Choose(Tape random, TornPageProtection form)
    {
        var options = new StorageOptions
        {
            TornPageProtection = form,
            BackgroundFlush = false,
            LazyInterval = TimeSpan.FromHours(1),
            MaxGroupCommitDuration = TimeSpan.FromDays(1),
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = random.Next(2) == 0 ? 64 << 10 : 128 << 10,
            LargeValueBytes = 16 << 10,
            ScratchMemoryBytes = 4 << 20,
            ScratchLimitBytes = 256 << 20,
            KeyHeadCacheBytes = random.Next(4) == 3 ? 1 << 20 : 0,
            MaxGrowthBytes = 1 << 20,
            JournalCompression = random.Next(2) == 0 ? JournalCompression.Always : JournalCompression.Never,
            JournalsFullPages = random.Next(8) == 7,
        };

        // Even a single page, in half of the runs, and few bytes of values through the journal in a quarter; chosen without another draw.
        options.DirectPageBytes = options.MaxJournalFileBytes == 64 << 10 ? 1 : 1 << 20;
        options.JournaledValueBytes = options.KeyHeadCacheBytes > 0 ? 64 << 10 : 0;
        return options;
    }
}
