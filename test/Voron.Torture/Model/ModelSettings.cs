namespace Voron.Torture.Model;

/// <summary>The configuration of one run; all of it is drawn, with the plainest choices first.</summary>
internal sealed record ModelSettings(StorageOptions Options, bool InMemory, int TargetEntries, int Trees, int Savepoints, bool Background)
{
    /// <summary>More trees than a transaction has buffers for, and than it finds without a table.</summary>
    private const int ManyTrees = 40;

    private const int FewSavepoints = 6;
    private const int ManySavepoints = 60;

    private static readonly int[] PageSizes = [4096, 8192, 16384, 32768, 65536];

    /// <summary>True if trees are dropped in steps, a few pages at a time.</summary>
    public bool Drops { get; private init; }

    /// <summary>Returns the same settings for a run that drops trees.</summary>
    public ModelSettings WithDrops(Random random)
    {
        Options.PagesOfDrop = random.Next(3) switch { 0 => 7, 1 => 1, _ => 40 };
        return this with { Drops = true };
    }

    /// <summary>True if trees are compressed, in some of the transactions.</summary>
    public bool Compresses { get; private init; }

    /// <summary>Returns the same settings for a run that compresses values.</summary>
    public ModelSettings WithCompression() => this with { Compresses = true };

    /// <param name="random">Makes the choices.</param>
    /// <param name="observer">Receives the reports of commits, flushes and verifications.</param>
    public static ModelSettings Draw(Random random, ModelObserver observer)
    {
        var pageSize = random.Next(2) == 0 ? 4096 : PageSizes[random.Next(PageSizes.Length)];
        var inMemory = random.Next(3) < 2;
        var target = random.Next(pageSize <= 8192 ? 1_400 : 280) + (pageSize <= 8192 ? 100 : 20);
        var trees = random.Next(4) == 3 ? ManyTrees : random.Next(1, 7);
        var savepoints = random.Next(4) == 3 ? ManySavepoints : FewSavepoints;
        var journal = random.Next(3) > 0 ? 64 << 10 : 1 << 20;
        var journalFactor = random.Next(1, 3);
        var compression = (JournalCompression)random.Next(3);
        var form = (TornPageProtection)random.Next(2);
        var verifyEveryRead = random.Next(3) == 2;
        var trackReaders = random.Next(6) == 5;
        var largeValueBytes = random.Next(3) switch { 0 => 16 << 10, 1 => 64 << 10, _ => 100_000 };
        var maxTransactionBytes = random.Next(8) == 7 ? 1 << 20 : 256 << 20;
        var keyHeadCacheBytes = random.Next(3) switch { 0 => 80 << 20, 1 => 16 << 10, _ => 0 };
        var scratchMemoryBytes = random.Next(3) == 2 ? 4 << 20 : 512 << 20;
        var hasLittleMemory = random.Next(2) == 0 && scratchMemoryBytes + keyHeadCacheBytes < 16 << 20;
        var groupCommitBytes = random.Next(2) == 0 ? 4 << 20 : 1 << 14;
        var growthBytes = random.Next(2) == 0 ? 64 << 20 : 1 << 20;
        var freeFraction = random.Next(2) == 0 ? 0.25 : 0.9;

        // A background flusher makes choices of its own, which no script records.
        var background = random.Next(4) == 3;
        var scrubs = random.Next(8) >= 4 && background;
        var options = new StorageOptions
        {
            PageSize = pageSize,
            JournalCompression = compression,
            TornPageProtection = form,
            VerifyEveryRead = verifyEveryRead,
            CaptureTransactionStacks = trackReaders,
            BackgroundFlush = background,
            Durability = background ? Durability.Lazy : Durability.Durable,
            LazyInterval = TimeSpan.FromMilliseconds(2),
            FlushThresholdBytes = background ? 256 << 10 : 64 << 20,
            FlushesByCost = background,
            QuietTime = TimeSpan.Zero,
            FlushInterval = background ? TimeSpan.FromMilliseconds(50) : TimeSpan.FromSeconds(10),
            ScrubInterval = scrubs ? TimeSpan.FromMilliseconds(20) : Timeout.InfiniteTimeSpan,

            // Slices of 64 KiB, the smallest, with a transaction or two between them.
            ScrubBytesPerSecond = 1,
            ScrubClock = new HurriedClock(),
            InitialJournalFileBytes = journal,
            MaxJournalFileBytes = journal * journalFactor,
            JournalLimitBytes = 64 << 20,
            LargeValueBytes = largeValueBytes,
            JournaledValueBytes = groupCommitBytes == 1 << 14 ? 0 : 64 << 10,
            DirectPageBytes = groupCommitBytes == 1 << 14 ? 1 : 1 << 20,
            MaxTransactionBytes = maxTransactionBytes,
            KeyHeadCacheBytes = keyHeadCacheBytes,
            MemoryLimitBytes = hasLittleMemory ? 16 << 20 : null,
            ScratchMemoryBytes = scratchMemoryBytes,
            MaxGroupCommitBytes = groupCommitBytes,
            MaxGrowthBytes = growthBytes,
            PreferredFreeFraction = freeFraction,
            SlowReaderInterval = TimeSpan.FromMilliseconds(1),
            CommitObserver = observer.OnCommit,
            FlushObserver = observer.OnFlush,
            ScrubObserver = observer.OnScrub,
            SlowReaderObserver = observer.OnSlowReader,
        };
        return new ModelSettings(options, inMemory, target, trees, savepoints, background);
    }

    /// <summary>True if transactions open many trees.</summary>
    public bool HasManyTrees => Trees == ManyTrees;

    /// <summary>True if transactions may become too large.</summary>
    public bool HasSmallTransactions => Options.MaxTransactionBytes < 16 << 20;

    /// <summary>True if savepoints are nested deeply.</summary>
    public bool HasManySavepoints => Savepoints == ManySavepoints;

    public override string ToString() =>
        $"pages of {Options.PageSizeOrDefault}, compression {Options.JournalCompression}, flush records {Options.TornPageProtection}, verify every read " +
        $"{Options.VerifyEveryRead}, background flush {Background}, journal files {Options.InitialJournalFileBytes} to {Options.MaxJournalFileBytes}, " +
        $"large values from {Options.LargeValueBytes}, memory {Options.MemoryLimitBytes}, scratch {Options.ScratchMemoryBytes}, search {Options.KeyHeadCacheBytes}, " +
        $"{(InMemory ? "in memory" : "in a directory")}, {Trees} trees of about {TargetEntries}, " +
        $"up to {Savepoints} savepoints";
}
