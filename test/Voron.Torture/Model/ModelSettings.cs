namespace Voron.Torture.Model;

/// <summary>How one run is set up; all of it follows from the seed.</summary>
internal sealed record ModelSettings(
    int Seed, StorageOptions Options, bool InMemory, int TargetEntries, int Trees, bool Background)
{
    private static readonly int[] PageSizes = [4096, 8192, 16384, 32768, 65536];

    public static ModelSettings For(int seed)
    {
        // The first numbers walk through the combinations, so that a short run has all page sizes and both of each switch.
        var random = new Random(seed * 7919 + 13);
        var pageSize = seed % 2 == 0 ? 4096 : PageSizes[seed / 2 % PageSizes.Length];
        var background = random.Next(4) == 0;
        var journal = random.Next(3) == 0 ? 1 << 20 : 64 << 10;
        var options = new StorageOptions
        {
            PageSize = pageSize,
            JournalCompression = (seed / 3 % 3) switch
            {
                0 => JournalCompression.Always,
                1 => JournalCompression.Never,
                _ => JournalCompression.Auto,
            },
            VerifyEveryRead = seed / 2 % 3 == 0,
            BackgroundFlush = background,
            FlushThresholdBytes = background ? 256 << 10 : 64 << 20,
            FlushInterval = background ? TimeSpan.FromMilliseconds(50) : TimeSpan.FromSeconds(10),
            InitialJournalFileBytes = journal,
            MaxJournalFileBytes = journal * random.Next(1, 3),
            JournalLimitBytes = 64 << 20,
            LargeValueBytes = random.Next(3) switch { 0 => 16 << 10, 1 => 64 << 10, _ => 100_000 },
            MaxTransactionBytes = random.Next(8) == 0 ? 1 << 20 : 256 << 20,
            SearchMemoryBytes = random.Next(3) switch { 0 => 0, 1 => 16 << 10, _ => 80 << 20 },
            MaxMergedBytes = random.Next(2) == 0 ? 1 << 14 : 4 << 20,
            MaxGrowthBytes = random.Next(2) == 0 ? 1 << 20 : 64 << 20,
            PreferredFreeFraction = random.Next(2) == 0 ? 0.25 : 0.9,
        };
        var target = pageSize <= 8192 ? random.Next(100, 1500) : random.Next(20, 300);
        return new ModelSettings(seed, options, seed % 3 != 0, target, random.Next(1, 7), background);
    }

    public override string ToString() =>
        $"seed {Seed}: pages of {Options.PageSize}, compression {Options.JournalCompression}, verify every read {Options.VerifyEveryRead}, " +
        $"background flush {Background}, journal files {Options.InitialJournalFileBytes} to {Options.MaxJournalFileBytes}, large values from " +
        $"{Options.LargeValueBytes}, {(InMemory ? "in memory" : "in a directory")}, {Trees} trees of about {TargetEntries}";
}
