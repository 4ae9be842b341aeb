using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>Whether transaction records are compressed before they are written.</summary>
public enum JournalCompression
{
    /// <summary>When writing the device is slower than compressing, as measured while running.</summary>
    Auto,

    /// <summary>Whenever it makes a record smaller.</summary>
    Always,

    /// <summary>Not at all.</summary>
    Never,
}

/// <summary>What the journal says of pages before a flush overwrites them in the data file.</summary>
public enum TornPageProtection
{
    /// <summary>
    /// Their checksums. Enough for a device where a sector that is being written when the power fails holds old bytes, new
    /// ones, or some of each; anything else is found out when the environment is opened, and reported as corruption.
    /// </summary>
    Checksums,

    /// <summary>
    /// The pages themselves, compressed, as far as the journal cannot make them otherwise. Repairs whatever such a sector
    /// holds, and writes changed pages twice; the journal takes as much more room.
    /// </summary>
    FullPageImages,
}

/// <summary>What a commit wrote, as told to <see cref="StorageOptions.CommitObserver"/>.</summary>
/// <param name="TransactionId">The transaction.</param>
/// <param name="PagesChanged">Pages of which it left a new version.</param>
/// <param name="JournalBytes">Bytes of its record in the journal, padding included.</param>
public readonly record struct CommitReport(long TransactionId, int PagesChanged, long JournalBytes);

/// <summary>What a flush wrote, as told to <see cref="StorageOptions.FlushObserver"/>.</summary>
/// <param name="TransactionId">The state that the data file holds now.</param>
/// <param name="Pages">Pages written, those of runs counted one by one.</param>
/// <param name="Leaves">How many of them are leaves.</param>
/// <param name="Branches">How many of them are branches.</param>
/// <param name="Overflows">How many of them belong to overflow runs.</param>
/// <param name="Seeks">Stretches of neighbouring pages: places the device had to go to.</param>
/// <param name="Bytes">Bytes written to the data file.</param>
/// <param name="Transactions">Transactions since the flush before.</param>
/// <param name="Duration">From choosing the state to the durable checkpoint.</param>
public readonly record struct FlushReport(
    long TransactionId, int Pages, int Leaves, int Branches, int Overflows, int Seeks, long Bytes, long Transactions, TimeSpan Duration);

/// <summary>
/// A reader that the flusher cannot get past, as told to <see cref="StorageOptions.SlowReaderObserver"/> when half the limit of
/// journal or scratch is reached.
/// </summary>
/// <param name="TransactionId">The snapshot that it reads.</param>
/// <param name="JournalBytes">Bytes of journal that are kept.</param>
/// <param name="ScratchBytes">Bytes of scratch memory in use.</param>
/// <param name="OpenedAt">Where it was opened, when <see cref="StorageOptions.CaptureTransactionStacks"/> is set; else null.</param>
/// <param name="Age">For how long it has been open.</param>
/// <param name="ThreadId">The managed thread that began it.</param>
public readonly record struct SlowReaderReport(
    long TransactionId, long JournalBytes, long ScratchBytes, string? OpenedAt, TimeSpan Age, int ThreadId);

/// <summary>How an environment is opened. Checked as a whole by <see cref="Validate"/>.</summary>
public sealed class StorageOptions
{
    /// <summary>Bytes of the largest journal file that may be asked for: ten of them are kept at most, and are counted in 63 bits.</summary>
    internal const long LargestJournalFile = 1L << 40;

    /// <summary>The largest value that may be journaled as a whole; with its pages' headers it must stay below 2 GiB.</summary>
    internal const int MaxLargeValue = 1 << 30;

    private const long MiB = 1 << 20;

    private const UnixFileMode ReadAndWrite = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>Four of the smallest journal files: what a quiet journal holds when nothing is left to be flushed is far below.</summary>
    private const long MinJournalLimit = 256 << 10;

    /// <summary>A thread cannot wait for longer.</summary>
    private static readonly TimeSpan LongestInterval = TimeSpan.FromDays(24);

    private int? _pageSize;

    /// <summary>
    /// Bytes of a page when an environment is created: 4096, 8192, 16384, 32768 or 65536; 4096 unless set. An existing environment keeps its
    /// own, with a warning in the log when another one was set; <see cref="StorageEnvironment.Options"/> has the actual one.
    /// </summary>
    public int PageSize
    {
        get => _pageSize ?? 4096;
        init => _pageSize = value;
    }

    /// <summary>
    /// Permissions of the files that are made, on Linux and macOS, before the process's mask: for the owner alone unless set. A directory that
    /// is made may also be searched by those who may read.
    /// </summary>
    public UnixFileMode FileMode { get; init; } = IO.FileSystemDisk.OwnerOnly;

    /// <summary>Opens for reading only: nothing is written, not even by recovery, which then happens in memory.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>Whether journal records are compressed. Either way the environment can be opened with any setting.</summary>
    public JournalCompression JournalCompression { get; init; } = JournalCompression.Auto;

    /// <summary>
    /// What the journal says of pages before they are overwritten. Either way the environment can be opened with any setting.
    /// </summary>
    public TornPageProtection TornPageProtection { get; init; } = TornPageProtection.Checksums;

    /// <summary>Bytes of the first journal file; later ones double up to <see cref="MaxJournalFileBytes"/>.</summary>
    public long InitialJournalFileBytes { get; init; } = 4 * MiB;

    /// <summary>Bytes that a journal file has at most, unless a single transaction, or the images of a flush, need more.</summary>
    public long MaxJournalFileBytes { get; init; } = 16 * MiB;

    /// <summary>
    /// Bytes of journal since the checkpoint at which the flusher starts; or bytes of large values, which pass the journal by: those written,
    /// or those that took their place, whichever is more.
    /// </summary>
    public long FlushThresholdBytes { get; init; } = 64 * MiB;

    /// <summary>How long a durable change stays out of the data file at most while the environment is idle.</summary>
    public TimeSpan FlushInterval { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Bytes of journal records that replay would need at which writers are slowed until the flusher has caught up: at least 256 KiB, and
    /// no less than <see cref="FlushThresholdBytes"/>. What journal files keep free, and what they hold of records that are not needed any
    /// more, comes on top, so the files may be larger than this, and even one of them may. From half of it on a flush is begun.
    /// </summary>
    public long JournalLimitBytes { get; init; } = 512 * MiB;

    /// <summary>Bytes of page versions that are kept in memory; beyond, they go to a temporary file.</summary>
    public long ScratchMemoryBytes { get; init; } = 512 * MiB;

    /// <summary>
    /// Bytes of page versions, 64 more for each, at which writers are slowed until the flusher has caught up. From half of it on a flush is begun.
    /// </summary>
    public long ScratchLimitBytes { get; init; } = 2048 * MiB;

    /// <summary>
    /// Bytes of memory at most for what speeds up lookups of keys: 256 for each leaf page that is searched, and a few thousand for each
    /// branch page. Taken as it is needed; 0 for none.
    /// </summary>
    public long KeyHeadCacheBytes { get; init; } = 80 * MiB;

    /// <summary>Bytes of changed pages that one transaction may leave; more is refused before anything is written.</summary>
    public long MaxTransactionBytes { get; init; } = 1024 * MiB;

    /// <summary>
    /// Bytes of changed pages after which no more operations are merged into a transaction: see
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>.
    /// </summary>
    public long MaxGroupCommitBytes { get; init; } = 4 * MiB;

    /// <summary>
    /// Operations of <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> that may wait to be started. A call
    /// beyond them throws <see cref="StorageFullException"/>: a caller that does not await its writes would fill the memory. An operation that
    /// waits takes some 300 bytes, and what it refers to. Callers that block in <c>Write</c> are not limited.
    /// </summary>
    public int MaxQueuedOperations { get; init; } = 1 << 20;

    /// <summary>Bytes from which on a value is written straight to the data file, once, instead of through the journal.</summary>
    public int LargeValueBytes { get; init; } = 16 << 10;

    /// <summary>The share of a 4 MiB section that must be free for allocation to move there because it is near.</summary>
    public double PreferredFreeFraction { get; init; } = 0.25;

    /// <summary>Bytes that the data file grows by at most at a time.</summary>
    public long MaxGrowthBytes { get; init; } = 64 * MiB;

    /// <summary>Verifies the checksum of a page each time it is read from the data file, rather than at its first use.</summary>
    public bool VerifyEveryRead { get; init; }

    /// <summary>
    /// How often everything is read and verified in the background, to find bytes that have rotted at rest;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for never. It goes in slices of a quarter of a second at most, each with a snapshot of its
    /// own; that each page in use has one owner, and no more, only <see cref="StorageEnvironment.Verify"/> tells.
    /// </summary>
    public TimeSpan ScrubInterval { get; init; } = TimeSpan.FromDays(1);

    /// <summary>Bytes a second that the background verification reads at most; 0 for no limit.</summary>
    public long ScrubBytesPerSecond { get; init; } = 16 * MiB;

    /// <summary>
    /// Starts the background threads: flusher and scrubber. Without them, <see cref="StorageEnvironment.Flush"/> has to be called.
    /// </summary>
    public bool BackgroundFlush { get; init; } = true;

    /// <summary>
    /// Notes where each transaction was opened, to name it when it leaks or is slow. Costs a stack trace each: microseconds, and garbage.
    /// </summary>
    public bool CaptureTransactionStacks { get; init; }

    /// <summary>
    /// Where the environment logs; nowhere when null. Written to a moment after the event, by a thread of the pool or by a caller at the end
    /// of its call, never with a lock held: it may throw, block, and call the environment.
    /// </summary>
    public ILogger? Logger { get; init; }

    /// <summary>
    /// Called for each durable commit, in their order, after it is published: by a caller at the end of its call, or by a thread of the
    /// pool. Where one thread commits, it has been called when Commit returns.
    /// </summary>
    /// <remarks>
    /// This and <see cref="FlushObserver"/> are called one at a time, in the order of what happened. What holds for every observer: no
    /// lock is held. It may throw (which is logged), block (which delays the reports behind, and the call at whose end it was made,
    /// and nothing else), call any member of the environment, and dispose it.
    /// </remarks>
    public Action<CommitReport>? CommitObserver { get; init; }

    /// <summary>Called after each flush: by a caller at the end of its call, or by a thread of the pool. May do what every observer may.</summary>
    public Action<FlushReport>? FlushObserver { get; init; }

    /// <summary>
    /// Called when a reader keeps the flusher back and half of <see cref="JournalLimitBytes"/> or <see cref="ScratchLimitBytes"/> is
    /// reached, on a thread of the pool: once for a reader in each <see cref="SlowReaderInterval"/>. May do what every observer may.
    /// </summary>
    public Action<SlowReaderReport>? SlowReaderObserver { get; init; }

    /// <summary>How long nothing is said again of a reader that has been named as slow.</summary>
    public TimeSpan SlowReaderInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// How long a transaction that was never ended stays as it is after the collector has found it: a span of it may be in use.
    /// </summary>
    internal TimeSpan LeakGrace { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>For how long a batch of merged operations goes on taking more of them.</summary>
    internal TimeSpan MaxGroupCommitDuration { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>How long a commit that finds no room looks for free pages to give back, with the writer held.</summary>
    internal TimeSpan LongestPunch { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>How often the flusher's thread looks whether free space can be given back to the file system.</summary>
    internal TimeSpan ReclaimInterval { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Transactions journal each changed page whole, never its difference: what tests hold differences against.</summary>
    internal bool JournalsFullPages { get; init; }

    /// <summary>Called after each background verification, on a thread of the pool. May do what every observer may.</summary>
    public Action<VerificationReport>? ScrubObserver { get; init; }

    /// <summary>A page size was asked for, rather than left open.</summary>
    internal bool IsPageSizeSet => _pageSize != null;

    /// <summary>The same options with the page size of an environment that exists.</summary>
    internal StorageOptions WithPageSize(int pageSize)
    {
        var options = (StorageOptions)MemberwiseClone();
        options._pageSize = pageSize;
        return options;
    }

    /// <summary>The time that the background verification goes by; null for that of the system.</summary>
    internal Maintenance.ScrubClock? ScrubClock { get; init; }

    /// <summary>Checks all options together.</summary>
    /// <exception cref="ArgumentException">One or more are out of range; the message names each of them.</exception>
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
            (FileMode & IO.FileSystemDisk.OwnerOnly) == IO.FileSystemDisk.OwnerOnly && (FileMode & ~ReadAndWrite) == 0,
            $"{nameof(FileMode)} is {FileMode}; it must let the owner read and write, and must not make files executable.");
        Check(JournalCompression is JournalCompression.Auto or JournalCompression.Always or JournalCompression.Never, $"{nameof(JournalCompression)} is {(int)JournalCompression}, which is no setting.");
        Check(TornPageProtection is TornPageProtection.Checksums or TornPageProtection.FullPageImages, $"{nameof(TornPageProtection)} is {(int)TornPageProtection}, which is no setting.");
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
            throw new ArgumentException("The options do not fit: " + string.Join(" ", faults));
    }

    /// <summary>A message that is put together only if there is a fault: opening an environment should not format what it does not say.</summary>
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
