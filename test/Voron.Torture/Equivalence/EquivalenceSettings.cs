namespace Voron.Torture.Equivalence;

/// <summary>The ways in which transactions are committed.</summary>
internal enum CommitMode
{
    /// <summary>One after the other.</summary>
    Waiting,

    /// <summary>Several under way at a time.</summary>
    Pipelined,

    /// <summary>As operations that share transactions.</summary>
    GroupCommit,
}

/// <summary>The times at which durable versions are flushed to the data file.</summary>
internal enum FlushPace
{
    /// <summary>When the environment is closed.</summary>
    AtClose,

    /// <summary>Every few commits.</summary>
    Often,

    /// <summary>Every few commits, as far as a long-lived reader allows.</summary>
    BehindReader,

    /// <summary>In the background, all the time.</summary>
    Background,
}

/// <summary>Options that must make no difference to the content of an environment.</summary>
internal sealed record EquivalenceSettings(
    int PageSize, JournalCompression Compression, bool WholePages, CommitMode Commits, FlushPace Pace, TornPageProtection Form, int LargeValueBytes)
{
    private static readonly int[] PageSizes = [4096, 8192, 16384, 32768, 65536];
    private static readonly JournalCompression[] Compressions = Enum.GetValues<JournalCompression>();
    private static readonly bool[] FullPagesOrNot = [false, true];
    private static readonly CommitMode[] Modes = Enum.GetValues<CommitMode>();
    private static readonly FlushPace[] Paces = Enum.GetValues<FlushPace>();
    private static readonly TornPageProtection[] Forms = Enum.GetValues<TornPageProtection>();
    private static readonly int[] LargeBytes = [16 << 10, 64 << 10, 1 << 20];

    /// <summary>The number of combinations.</summary>
    public static int Count =>
        PageSizes.Length * Compressions.Length * FullPagesOrNot.Length * Modes.Length * Paces.Length * Forms.Length * LargeBytes.Length;

    public static EquivalenceSettings Of(int number)
    {
        T Take<T>(T[] values)
        {
            var value = values[number % values.Length];
            number /= values.Length;
            return value;
        }

        return new EquivalenceSettings(
            Take(PageSizes), Take(Compressions), Take(FullPagesOrNot), Take(Modes), Take(Paces), Take(Forms), Take(LargeBytes));
    }

    public StorageOptions ToOptions() => new()
    {
        PageSize = PageSize,
        JournalCompression = Compression,
        JournalsFullPages = WholePages,
        TornPageProtection = Form,
        LargeValueBytes = LargeValueBytes,
        JournaledValueBytes = Compression == JournalCompression.Never ? 64 << 10 : 0,
        DirectPageBytes = LargeValueBytes == 64 << 10 ? 1 : 1 << 20,
        BackgroundFlush = Pace == FlushPace.Background,
        Durability = Pace == FlushPace.Background ? Durability.Lazy : Durability.Durable,
        FlushThresholdBytes = Pace == FlushPace.Background ? 64 << 10 : 64 << 20,
        FlushInterval = Pace == FlushPace.Background ? TimeSpan.FromMilliseconds(20) : TimeSpan.FromSeconds(10),
        JournalLimitBytes = 64 << 20,
        InitialJournalFileBytes = 256 << 10,
        MaxJournalFileBytes = 512 << 10,
        ScratchMemoryBytes = 16 << 20,
        MaxGrowthBytes = 1 << 20,
        ScrubInterval = Timeout.InfiniteTimeSpan,
    };
}
