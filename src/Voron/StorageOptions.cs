using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options with which an environment is opened. <see cref="Validate"/> checks all of them together.</summary>
public sealed class StorageOptions
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The size in bytes of the largest journal file that can be configured: at most ten are kept, counted in 63 bits.</summary>
    internal const long LargestJournalFile = 1L << 40;

    /// <summary>The size in bytes of the largest value that may be journaled in full; with its page headers it must stay below 2 GiB.</summary>
    internal const int MaxLargeValue = 1 << 30;

    private const long MiB = 1 << 20;

    private const UnixFileMode ReadAndWrite = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>Four times the smallest journal file. A quiet journal holds far less than this when everything has been flushed.</summary>
    private const long MinJournalLimit = 256 << 10;

    /// <summary>The longest time for which a thread can wait.</summary>
    private static readonly TimeSpan LongestInterval = TimeSpan.FromDays(24);

    private int? _pageSize;

    /// <summary>
    /// The page size, in bytes, of an environment that is created: 4096, 8192, 16384, 32768 or 65536; the default is 4096. An existing
    /// environment keeps its own page size, and logs a warning if another one was set. <see cref="StorageEnvironment.Options"/> has the
    /// actual page size.
    /// </summary>
    public int PageSize
    {
        get => _pageSize ?? 4096;
        init => _pageSize = value;
    }

    /// <summary>
    /// The permissions, on Linux and macOS, of created files, before the process's umask is applied; by default, only the owner has access.
    /// In a created directory, read permission includes search permission.
    /// </summary>
    public UnixFileMode FileMode { get; init; } = OwnerOnly;

    /// <summary>Whether to open the environment for reading only. Nothing is written then, not even by recovery, which works in memory.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>Whether journal records are compressed. An environment written with one setting can be opened with any other.</summary>
    public JournalCompression JournalCompression { get; init; } = JournalCompression.Auto;

    /// <summary>
    /// The information that the journal records about pages before they are overwritten. An environment written with one setting can be
    /// opened with any other.
    /// </summary>
    public TornPageProtection TornPageProtection { get; init; } = TornPageProtection.Checksums;

    /// <summary>The size of the first journal file in bytes; later ones double in size up to <see cref="MaxJournalFileBytes"/>.</summary>
    public long InitialJournalFileBytes { get; init; } = 4 * MiB;

    /// <summary>The maximum size of a journal file in bytes, unless a single transaction, or the page images of a flush, need more.</summary>
    public long MaxJournalFileBytes { get; init; } = 16 * MiB;

    /// <summary>
    /// The number of journal bytes since the checkpoint at which the flusher starts. It also starts at this number of bytes of large values,
    /// which bypass the journal: of those written, or of those whose space was freed, whichever is more.
    /// </summary>
    public long FlushThresholdBytes { get; init; } = 64 * MiB;

    /// <summary>The longest time that a durable change stays out of the data file while the environment is idle.</summary>
    public TimeSpan FlushInterval { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The number of bytes of journal records needed for replay above which writers are slowed until the flusher has caught up: at least
    /// 256 KiB, and no less than <see cref="FlushThresholdBytes"/>. Free space in journal files, and records in them that are no longer
    /// needed, come on top, so the files together, or even a single file, may be larger than this. A flush begins at half this limit.
    /// </summary>
    public long JournalLimitBytes { get; init; } = 512 * MiB;

    /// <summary>The number of bytes of page versions that are kept in memory; versions beyond that go to a temporary file.</summary>
    public long ScratchMemoryBytes { get; init; } = 512 * MiB;

    /// <summary>
    /// The number of bytes of page versions, plus 64 for each version, above which writers are slowed until the flusher has caught up. A
    /// flush begins at half this limit.
    /// </summary>
    public long ScratchLimitBytes { get; init; } = 2048 * MiB;

    /// <summary>
    /// The maximum number of bytes of memory for key heads, which speed up key lookups: 256 for each leaf page that is searched, and a few
    /// thousand for each branch page. The memory is taken as it is needed; 0 for none.
    /// </summary>
    public long KeyHeadCacheBytes { get; init; } = 80 * MiB;

    /// <summary>The maximum number of bytes of changed pages that one transaction may leave; more is refused before anything is written.</summary>
    public long MaxTransactionBytes { get; init; } = 1024 * MiB;

    /// <summary>
    /// The number of bytes of changed pages after which a group commit takes no more operations into its transaction: see
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>.
    /// </summary>
    public long MaxGroupCommitBytes { get; init; } = 4 * MiB;

    /// <summary>
    /// The maximum number of operations of <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> that may
    /// wait to be started. A further call throws <see cref="StorageFullException"/>, because a caller that does not await its writes would
    /// otherwise fill the memory. A waiting operation takes about 300 bytes, plus the objects it refers to. Callers that block in <c>Write</c>
    /// are not limited.
    /// </summary>
    public int MaxQueuedOperations { get; init; } = 1 << 20;

    /// <summary>The size in bytes from which a value is written once, directly to the data file, instead of through the journal.</summary>
    public int LargeValueBytes { get; init; } = 16 << 10;

    /// <summary>The fraction of a 4 MiB section that must be free for allocation to move there because the section is near.</summary>
    public double PreferredFreeFraction { get; init; } = 0.25;

    /// <summary>The maximum number of bytes by which the data file grows at a time.</summary>
    public long MaxGrowthBytes { get; init; } = 64 * MiB;

    /// <summary>Whether to verify the checksum of a page each time it is read from the data file, rather than at its first use.</summary>
    public bool VerifyEveryRead { get; init; }

    /// <summary>
    /// The interval at which everything is read and verified in the background, to find bytes that have rotted at rest;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for never. The verification works in slices of at most a quarter of a second, each with its own
    /// snapshot. Only <see cref="StorageEnvironment.Verify"/> checks that each page in use has exactly one owner.
    /// </summary>
    public TimeSpan ScrubInterval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>The maximum number of bytes that the background verification reads per second; 0 for no limit.</summary>
    public long ScrubBytesPerSecond { get; init; } = 16 * MiB;

    /// <summary>
    /// Whether to start the background threads, flusher and scrubber. Without them, the application must call
    /// <see cref="StorageEnvironment.Flush"/>.
    /// </summary>
    public bool BackgroundFlush { get; init; } = true;

    /// <summary>
    /// Whether to record where each transaction is opened, so that reports of leaked or slow transactions can name the place. Costs a stack
    /// trace for each transaction: microseconds, and garbage.
    /// </summary>
    public bool CaptureTransactionStacks { get; init; }

    /// <summary>
    /// The logger of the environment; null for no logging. Messages reach it a moment after the event, on a thread-pool thread or on a
    /// caller's thread at the end of its call, never with a lock held. So the logger may throw, block, and call the environment.
    /// </summary>
    public ILogger? Logger { get; init; }

    /// <summary>
    /// Called for each durable commit, in commit order, after the commit is published: on a caller's thread at the end of its call, or on a
    /// thread-pool thread. If only one thread commits, the observer has been called by the time Commit returns.
    /// </summary>
    /// <remarks>
    /// This observer and <see cref="FlushObserver"/> are called one at a time, in the order of the events. Every observer is called with no
    /// lock held. It may throw (the exception is logged), block (which delays only the reports behind it, and the call at whose end it was
    /// called), call any member of the environment, and dispose the environment.
    /// </remarks>
    public Action<CommitReport>? CommitObserver { get; init; }

    /// <summary>
    /// Called after each flush, on a caller's thread at the end of its call, or on a thread-pool thread. May do everything that any observer
    /// may do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<FlushReport>? FlushObserver { get; init; }

    /// <summary>
    /// Called on a thread-pool thread when a reader holds the flusher back and half of <see cref="JournalLimitBytes"/> or
    /// <see cref="ScratchLimitBytes"/> is reached: once per reader in each <see cref="SlowReaderInterval"/>. May do everything that any
    /// observer may do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<SlowReaderReport>? SlowReaderObserver { get; init; }

    /// <summary>The time for which a reader that has been reported as slow is not reported again.</summary>
    public TimeSpan SlowReaderInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The time for which a transaction that was never ended is left as it is after the garbage collector has found it, because a span that
    /// came from it may still be in use.
    /// </summary>
    internal TimeSpan LeakGrace { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>The time for which a group commit keeps taking more operations into its batch.</summary>
    internal TimeSpan MaxGroupCommitDuration { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>The longest time for which a commit that finds no room looks for free pages to return, while it holds the writer.</summary>
    internal TimeSpan LongestPunch { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>The interval at which the flusher's thread checks whether free space can be returned to the file system.</summary>
    internal TimeSpan ReclaimInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Makes transactions journal each changed page in full, never as a difference; a reference for tests of differences.</summary>
    internal bool JournalsFullPages { get; init; }

    /// <summary>
    /// Called after each background verification, on a thread-pool thread. May do everything that any observer may do: see
    /// <see cref="CommitObserver"/>.
    /// </summary>
    public Action<VerificationReport>? ScrubObserver { get; init; }

    /// <summary>True if a page size was set, rather than left at the default.</summary>
    internal bool IsPageSizeSet => _pageSize != null;

    /// <summary>Returns the same options with the page size of an existing environment.</summary>
    internal StorageOptions WithPageSize(int pageSize)
    {
        var options = (StorageOptions)MemberwiseClone();
        options._pageSize = pageSize;
        return options;
    }

    /// <summary>The clock of the background verification; null for the system clock.</summary>
    internal ScrubClock? ScrubClock { get; init; }

    /// <summary>Checks all options together.</summary>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    public void Validate()
    {
        var faults = new List<string>();
        void Check(bool isFine, [InterpolatedStringHandlerArgument(nameof(isFine))] ref FaultText fault)
        {
            if (!isFine)
                faults.Add(fault.ToStringAndClear());
        }

        Check(PageSize is 4096 or 8192 or 16384 or 32768 or 65536, $"{nameof(PageSize)} is {PageSize}; it must be 4096, 8192, 16384, 32768 or 65536.");
        Check(
            (FileMode & OwnerOnly) == OwnerOnly && (FileMode & ~ReadAndWrite) == 0,
            $"{nameof(FileMode)} is {FileMode}; it must let the owner read and write, and must not make files executable.");
        Check(JournalCompression is JournalCompression.Auto or JournalCompression.Always or JournalCompression.Never, $"{nameof(JournalCompression)} is {(int)JournalCompression}, which is not a valid setting.");
        Check(TornPageProtection is TornPageProtection.Checksums or TornPageProtection.FullPageImages, $"{nameof(TornPageProtection)} is {(int)TornPageProtection}, which is not a valid setting.");
        Check(InitialJournalFileBytes >= 64 << 10, $"{nameof(InitialJournalFileBytes)} is {InitialJournalFileBytes}; it must be at least 65536.");
        Check(MaxJournalFileBytes <= LargestJournalFile, $"{nameof(MaxJournalFileBytes)} is {MaxJournalFileBytes}; it must be at most {LargestJournalFile}.");
        Check(MaxJournalFileBytes >= InitialJournalFileBytes, $"{nameof(MaxJournalFileBytes)} ({MaxJournalFileBytes}) is below {nameof(InitialJournalFileBytes)} ({InitialJournalFileBytes}).");
        Check(FlushThresholdBytes > 0, $"{nameof(FlushThresholdBytes)} is {FlushThresholdBytes}; it must be positive.");
        Check(FlushInterval > TimeSpan.Zero, $"{nameof(FlushInterval)} is {FlushInterval}; it must be positive.");
        Check(
            ScrubInterval == Timeout.InfiniteTimeSpan || (ScrubInterval > TimeSpan.Zero && ScrubInterval <= LongestInterval),
            $"{nameof(ScrubInterval)} is {ScrubInterval}; it must be positive and at most {LongestInterval}, or infinite.");
        Check(SlowReaderInterval > TimeSpan.Zero, $"{nameof(SlowReaderInterval)} is {SlowReaderInterval}; it must be positive.");
        Check(ScrubBytesPerSecond >= 0, $"{nameof(ScrubBytesPerSecond)} is {ScrubBytesPerSecond}; it must not be negative.");
        Check(JournalLimitBytes >= MinJournalLimit, $"{nameof(JournalLimitBytes)} is {JournalLimitBytes}; it must be at least {MinJournalLimit}.");
        Check(JournalLimitBytes >= FlushThresholdBytes, $"{nameof(JournalLimitBytes)} ({JournalLimitBytes}) is below {nameof(FlushThresholdBytes)} ({FlushThresholdBytes}).");
        Check(ScratchMemoryBytes >= 4 * MiB, $"{nameof(ScratchMemoryBytes)} is {ScratchMemoryBytes}; it must be at least {4 * MiB}.");
        Check(ScratchLimitBytes >= ScratchMemoryBytes, $"{nameof(ScratchLimitBytes)} ({ScratchLimitBytes}) is below {nameof(ScratchMemoryBytes)} ({ScratchMemoryBytes}).");
        Check(KeyHeadCacheBytes is >= 0 and <= 1L << 40, $"{nameof(KeyHeadCacheBytes)} is {KeyHeadCacheBytes}; it must be between 0 and {1L << 40}.");
        Check(MaxTransactionBytes >= MiB, $"{nameof(MaxTransactionBytes)} is {MaxTransactionBytes}; it must be at least {MiB}.");
        Check(MaxQueuedOperations > 0, $"{nameof(MaxQueuedOperations)} is {MaxQueuedOperations}; it must be positive.");
        Check(MaxGroupCommitBytes > 0, $"{nameof(MaxGroupCommitBytes)} is {MaxGroupCommitBytes}; it must be positive.");
        Check(
            LargeValueBytes is >= 16 << 10 and <= MaxLargeValue,
            $"{nameof(LargeValueBytes)} is {LargeValueBytes}; it must be between 16384 and {MaxLargeValue}.");
        Check(PreferredFreeFraction is > 0 and <= 1, $"{nameof(PreferredFreeFraction)} is {PreferredFreeFraction}; it must be above 0 and at most 1.");
        Check(MaxGrowthBytes >= MiB, $"{nameof(MaxGrowthBytes)} is {MaxGrowthBytes}; it must be at least {MiB}.");
        if (faults.Count > 0)
            throw new ArgumentException("The storage options are not valid: " + string.Join(" ", faults));
    }

    /// <summary>A message that is built only if there is a fault, so that opening an environment does not format messages in vain.</summary>
    [InterpolatedStringHandler]
    private ref struct FaultText
    {
        private DefaultInterpolatedStringHandler _text;

        public FaultText(int literalLength, int formattedCount, bool isFine, out bool isNeeded)
        {
            isNeeded = !isFine;
            if (isNeeded)
                _text = new DefaultInterpolatedStringHandler(literalLength, formattedCount, CultureInfo.InvariantCulture);
        }

        public void AppendLiteral(string text) => _text.AppendLiteral(text);

        public void AppendFormatted<T>(T value) => _text.AppendFormatted(value);

        public string ToStringAndClear() => _text.ToStringAndClear();
    }
}
