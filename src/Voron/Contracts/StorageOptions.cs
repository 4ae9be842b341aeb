using System.Collections.ObjectModel;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options for opening an environment. <see cref="Validate()"/> checks all of them together.</summary>
/// <remarks>
/// All options can be bound from configuration, except for the clock, the factories and the observers, which are set in code. An
/// environment copies the options when it is opened: later changes to the caller's object do not affect it, and the object can be reused
/// for other environments. <see cref="StorageEnvironment.Options"/> is that copy. It reports the actual values, and setting any of its
/// options throws an <see cref="InvalidOperationException"/>.
/// </remarks>
public sealed partial class StorageOptions
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The maximum configurable size of a journal file in bytes. At most ten are kept, and their total fits in 63 bits.</summary>
    internal const long LargestJournalFile = 1L << 40;

    /// <summary>The maximum size in bytes of a value journaled in full. With its page headers, it must stay below 2 GiB.</summary>
    internal const int MaxLargeValue = 1 << 30;

    private const long MiB = 1 << 20;

    private const int DefaultPageSize = 4096;

    /// <summary>The maximum length of a tree name in UTF-8 bytes.</summary>
    internal const int MaxTreeNameBytes = 255;

    /// <summary>The maximum of <see cref="LazyInterval"/>.</summary>
    internal static readonly TimeSpan LongestLazyInterval = TimeSpan.FromHours(1);

    private const long DefaultFlushThreshold = 64 * MiB;
    private const int DefaultLargeValue = 16 << 10;

    private long? _flushThresholdBytes;
    private int? _largeValueBytes;
    private bool _flushesByCost;
    private bool _isFrozen;

    /// <summary>Creates options with their default values.</summary>
    public StorageOptions() => Trees = new TreeNameList(this);

    /// <summary>Copies options. The copy can be changed, even if the original belongs to an open environment.</summary>
    /// <param name="options">The options to copy.</param>
    public StorageOptions(StorageOptions options)
        : this()
    {
        ArgumentNullException.ThrowIfNull(options);
        PageSize = options.PageSize;
        OpenMode = options.OpenMode;
        LockTimeout = options.LockTimeout;
        foreach (var name in options.Trees)
            Trees.Add(name);
        FileMode = options.FileMode;
        ReadOnly = options.ReadOnly;
        JournalCompression = options.JournalCompression;
        TornPageProtection = options.TornPageProtection;
        InitialJournalFileBytes = options.InitialJournalFileBytes;
        MaxJournalFileBytes = options.MaxJournalFileBytes;
        _flushThresholdBytes = options._flushThresholdBytes;
        _flushesByCost = options._flushesByCost;
        FlushInterval = options.FlushInterval;
        Durability = options.Durability;
        LazyInterval = options.LazyInterval;
        JournalLimitBytes = options.JournalLimitBytes;
        CopyMemory(options);
        MaxQueuedOperations = options.MaxQueuedOperations;
        FlowExecutionContext = options.FlowExecutionContext;
        _largeValueBytes = options._largeValueBytes;
        PreferredFreeFraction = options.PreferredFreeFraction;
        MaxGrowthBytes = options.MaxGrowthBytes;
        VerifyEveryRead = options.VerifyEveryRead;
        ScrubInterval = options.ScrubInterval;
        ScrubBytesPerSecond = options.ScrubBytesPerSecond;
        TrackChanges = options.TrackChanges;
        ChangeLogBytes = options.ChangeLogBytes;
        BackgroundFlush = options.BackgroundFlush;
        StatusInterval = options.StatusInterval;
        StatusClock = options.StatusClock;
        CaptureTransactionStacks = options.CaptureTransactionStacks;
        Name = options.Name;
        LoggerFactory = options.LoggerFactory;
        MeterFactory = options.MeterFactory;
        TimeProvider = options.TimeProvider;
        CommitObserver = options.CommitObserver;
        FlushObserver = options.FlushObserver;
        SlowReaderObserver = options.SlowReaderObserver;
        SlowReaderInterval = options.SlowReaderInterval;
        LeakGrace = options.LeakGrace;
        ClosingPatience = options.ClosingPatience;
        MaxGroupCommitDuration = options.MaxGroupCommitDuration;
        LongestPunch = options.LongestPunch;
        ReclaimInterval = options.ReclaimInterval;
        QuietTime = options.QuietTime;
        ThreadIdleTime = options.ThreadIdleTime;
        JournalsFullPages = options.JournalsFullPages;
        DirectPageBytes = options.DirectPageBytes;
        FormatVersion = options.FormatVersion;
        PagesOfDrop = options.PagesOfDrop;
        CommitClock = options.CommitClock;
        JournaledValueBytes = options.JournaledValueBytes;
        ScrubObserver = options.ScrubObserver;
        ScrubClock = options.ScrubClock;
    }

    /// <summary>
    /// The page size in bytes: 4096, 8192, 16384, 32768 or 65536. Null, the default, stands for the page size of the existing environment, or 4096
    /// for a new one. <see cref="StorageEnvironment.Options"/> reports the actual page size.
    /// </summary>
    /// <remarks>
    /// This is the only option that cannot be changed from one opening to the next. If it is set and the existing environment has a different page
    /// size, the opening fails with an <see cref="ArgumentException"/> that names both.
    /// </remarks>
    public int? PageSize { get; set => field = Changed(value); }

    /// <summary>
    /// Whether a missing environment is created, and whether an existing one is opened. With <see cref="ReadOnly"/>, nothing is created:
    /// <see cref="OpenMode.OpenOrCreate"/> acts like <see cref="OpenMode.OpenExisting"/>, and <see cref="OpenMode.CreateNew"/> is not valid.
    /// </summary>
    public OpenMode OpenMode { get; set => field = Changed(value); }

    /// <summary>
    /// The maximum time that an opening waits while another process, or this one, has the environment open, as during a rolling restart;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for no limit. The default is zero: the opening fails immediately with an
    /// <see cref="EnvironmentInUseException"/>. A waiting opening tries again at least every half second.
    /// </summary>
    public TimeSpan LockTimeout { get; set => field = Changed(value); }

    /// <summary>
    /// The names of trees that exist from the start: missing ones are created in one durable transaction before the opening returns, so every
    /// reader finds them. A read-only opening cannot create them, and fails with a <see cref="KeyNotFoundException"/> if one is missing. A name may
    /// appear more than once.
    /// </summary>
    public IList<string> Trees { get; }

    /// <summary>
    /// The permissions of created files on Linux and macOS, before the process's umask is applied. By default, only the owner has access. In created
    /// directories, read permission includes search permission.
    /// </summary>
    public UnixFileMode FileMode { get; set => field = Changed(value); } = OwnerOnly;

    /// <summary>Whether to open the environment for reading only. Nothing is then written, not even by recovery, which works in memory.</summary>
    public bool ReadOnly { get; set => field = Changed(value); }

    /// <summary>Whether journal records are compressed. An environment written with one setting can be opened with any other.</summary>
    public JournalCompression JournalCompression { get; set => field = Changed(value); } = JournalCompression.Auto;

    /// <summary>
    /// The information that the journal records about pages before they are overwritten. An environment written with one setting can be
    /// opened with any other.
    /// </summary>
    public TornPageProtection TornPageProtection { get; set => field = Changed(value); } = TornPageProtection.Checksums;

    /// <summary>
    /// The size of the first journal file in bytes: at least 64 KiB, the default. Each new file is four times as large as the largest before it, up
    /// to <see cref="MaxJournalFileBytes"/>. A larger value takes more space in a rarely used environment, but spares the first commits after an
    /// opening the switches between small files.
    /// </summary>
    public long InitialJournalFileBytes { get; set => field = Changed(value); } = 64 << 10;

    /// <summary>The maximum size of a journal file in bytes, unless one transaction or a flush's page images need more: 16 MiB by default.</summary>
    public long MaxJournalFileBytes { get; set => field = Changed(value); } = 16 * MiB;

    /// <summary>
    /// The number of journal bytes since the checkpoint at which the flusher starts. It also starts after this number of bytes that bypass the
    /// journal, as large values or as new pages of large transactions. These are the bytes written, or those whose space was freed, whichever is
    /// more. The default is 64 MiB.
    /// </summary>
    /// <remarks>
    /// While the option has its default, the flusher waits for half as many bytes again if transactions change the same pages often, because fewer
    /// flushes then write fewer bytes. Any other value is used as is.
    /// </remarks>
    public long FlushThresholdBytes
    {
        get => _flushThresholdBytes ?? DefaultFlushThreshold;
        set => _flushThresholdBytes = Changed(NullIfDerived(_flushThresholdBytes, FlushThresholdBytes, value), nameof(FlushThresholdBytes));
    }

    /// <summary>When a commit is acknowledged if its transaction sets no <see cref="WriteTransaction.Durability"/>. Durable by default.</summary>
    public Durability Durability { get; set => field = Changed(value); }

    /// <summary>
    /// The maximum time until a lazy commit is written, so a crash can undo at most the commits of that time: 1 ms to 1 hour, 100 ms by default. A
    /// durable commit, a flush or a backup makes earlier lazy commits durable immediately, and so does the eighth waiting lazy commit.
    /// </summary>
    public TimeSpan LazyInterval { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(100);

    /// <summary>The maximum time that a durable change stays out of the data file while the environment is idle: 10 seconds by default.</summary>
    public TimeSpan FlushInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The number of bytes of journal records needed for replay above which writers are slowed until the flusher has caught up: at least 256 KiB, no
    /// less than <see cref="FlushThresholdBytes"/>, and 512 MiB by default. Free space in journal files, and records that are no longer needed, are
    /// not counted, so the files together, or even a single file, may be larger. A flush begins at half this limit.
    /// </summary>
    public long JournalLimitBytes { get; set => field = Changed(value); } = 512 * MiB;

    /// <summary>
    /// The maximum number of operations of <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> that may wait
    /// to be started: 1,048,576 by default. A further call throws <see cref="StorageFullException"/>, because a caller that does not await its
    /// writes would otherwise exhaust memory. A waiting operation takes about 300 bytes, plus the objects it refers to. Callers that block in
    /// <c>Write</c> are not limited.
    /// </summary>
    public int MaxQueuedOperations { get; set => field = Changed(value); } = 1 << 20;

    /// <summary>
    /// Whether an operation of <c>Write</c> or <c>WriteAsync</c> runs in the execution context of its caller: with the caller's <c>AsyncLocal</c>
    /// values, current activity and logging scopes. The default is true. If false, the operation runs in the default context, as it does when the
    /// caller has suppressed the flow (<see cref="ExecutionContext.SuppressFlow"/>).
    /// </summary>
    public bool FlowExecutionContext { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The size in bytes from which a value is written once, directly to the data file, not through the journal: 16 KiB, the default, to 1 GiB.
    /// </summary>
    /// <remarks>
    /// While the option has its default, a transaction still writes such values to the journal if they add up to at most 64 KiB, those of the last
    /// transaction that put any did too, and no flush is due: one write to the device is then faster than two. Large values from streams, and large
    /// staged values, are always written directly. Any other value of the option, such as 16,385, is used as is.
    /// </remarks>
    public int LargeValueBytes
    {
        get => _largeValueBytes ?? DefaultLargeValue;
        set => _largeValueBytes = Changed(NullIfDerived(_largeValueBytes, LargeValueBytes, value), nameof(LargeValueBytes));
    }

    /// <summary>The fraction of a 4 MiB section that must be free for allocation to move there only because it is near: 0.25 by default.</summary>
    public double PreferredFreeFraction { get; set => field = Changed(value); } = 0.25;

    /// <summary>The maximum number of bytes by which the data file grows at a time, unless one allocation needs more: 64 MiB by default.</summary>
    public long MaxGrowthBytes { get; set => field = Changed(value); } = 64 * MiB;

    /// <summary>Whether to verify the checksum of a page each time it is read from the data file, rather than only at its first use.</summary>
    public bool VerifyEveryRead { get; set => field = Changed(value); }

    /// <summary>
    /// The interval at which everything is read and verified in the background, to detect bytes that have decayed at rest: 1 day by default;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for never. The verification works in slices of at most a quarter of a second, each with its own
    /// snapshot. Only <see cref="StorageEnvironment.Verify"/> checks that each page in use has exactly one owner.
    /// </summary>
    public TimeSpan ScrubInterval { get; set => field = Changed(value); } = TimeSpan.FromDays(1);

    /// <summary>The maximum number of bytes that the background verification reads per second: 16 MiB by default; 0 for no limit.</summary>
    public long ScrubBytesPerSecond { get; set => field = Changed(value); } = 16 * MiB;

    /// <summary>
    /// True, the default, to keep a change log from the first backup on: a backup then delays no flush for long, and later backups can copy only the
    /// changed pages (<see cref="BackupOptions.Since"/>). False to keep none: each backup then holds one snapshot from beginning to end.
    /// </summary>
    public bool TrackChanges { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The maximum size of the change log in bytes: at least 1 MiB, 64 MiB by default. When it is exceeded, the entries of the older half are merged,
    /// so an incremental backup since an old one copies somewhat more than the changed pages.
    /// </summary>
    public long ChangeLogBytes { get; set => field = Changed(value); } = 64 * MiB;

    /// <summary>
    /// Whether to run the background threads: the flusher and the scrubber. Without them, the application must call
    /// <see cref="StorageEnvironment.Flush"/>.
    /// </summary>
    public bool BackgroundFlush { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The interval at which the environment writes its figures to the file <c>voron.status</c>, where other processes such as <c>voron top</c> read
    /// them: at least 10 ms, 1 second by default; zero or <see cref="Timeout.InfiniteTimeSpan"/> for no such file.
    /// </summary>
    /// <remarks>
    /// The environment writes one 4 KiB block without a sync, and only after new activity. Callers never wait for the write, and a failed write is
    /// logged and otherwise ignored. The file is deleted when the environment is closed. No file is written without
    /// <see cref="BackgroundFlush"/>, with <see cref="ReadOnly"/>, or for an environment in memory.
    /// </remarks>
    public TimeSpan StatusInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Whether to record where each transaction is opened, so that reports of leaked or slow transactions can name the place. Each transaction then
    /// costs a stack trace: microseconds, and garbage.
    /// </summary>
    public bool CaptureTransactionStacks { get; set => field = Changed(value); }

    /// <summary>
    /// The name of the environment in metrics and activities (<c>db.namespace</c>); null for its path. If the process already has an open environment
    /// of that name, a number is added: see <see cref="StorageEnvironment.Name"/>.
    /// </summary>
    public string? Name { get; set => field = Changed(value); }

    /// <summary>
    /// Creates the loggers of the environment, one per category: <c>Voron</c>, <c>Voron.Flushing</c> and others; null for no logging.
    /// </summary>
    /// <remarks>
    /// Messages reach a logger a moment after the event, on a thread-pool thread or on a caller's thread at the end of its call, never with a lock
    /// held. A logger is created when its first message is due. The factory and the loggers may therefore throw, block, and call the environment.
    /// </remarks>
    public ILoggerFactory? LoggerFactory { get; set => field = Changed(value); }

    /// <summary>
    /// Creates the meter <c>Voron</c> for the environment's metrics; null for the meter shared by the process. Called once, when the environment is
    /// opened. An exception that it throws fails the opening.
    /// </summary>
    public IMeterFactory? MeterFactory { get; set => field = Changed(value); }

    /// <summary>
    /// The clock by which rows expire (<see cref="Tables.TableDefinition{TKey, TRow}.Expire"/>), and nothing else; null for the system clock.
    /// </summary>
    /// <remarks>A transaction reads it once, when it first opens a table with expiring rows. An exception from the clock fails that call.</remarks>
    public TimeProvider? TimeProvider { get; set => field = Changed(value); }

    /// <summary>
    /// Called for each durable commit, in commit order, after the commit is published: on a caller's thread at the end of its call, or on a
    /// thread-pool thread. If only one thread commits, and all its commits are durable, the observer has been called by the time Commit returns.
    /// </summary>
    /// <remarks>
    /// This observer and <see cref="FlushObserver"/> are called one at a time, in the order of the events. Every observer is called with no lock
    /// held. It may throw (the exception is logged), block (which delays only later reports and the call at whose end it runs), call any member of
    /// the environment, and dispose of the environment.
    /// </remarks>
    public Action<CommitReport>? CommitObserver { get; set => field = Changed(value); }

    /// <summary>
    /// Called after each flush, on a caller's thread at the end of its call, or on a thread-pool thread. It may do whatever any observer may
    /// do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<FlushReport>? FlushObserver { get; set => field = Changed(value); }

    /// <summary>
    /// Called on a thread-pool thread when a reader holds the flusher back and half of <see cref="JournalLimitBytes"/> or
    /// <see cref="ScratchLimitBytes"/> is reached: once per reader in each <see cref="SlowReaderInterval"/>. It may do whatever any observer may
    /// do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<SlowReaderReport>? SlowReaderObserver { get; set => field = Changed(value); }

    /// <summary>The time during which a reader reported as slow is not reported again: 1 minute by default.</summary>
    public TimeSpan SlowReaderInterval { get; set => field = Changed(value); } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The time for which a leaked transaction is left open after the garbage collector has found it, because a span read through it
    /// may still be in use.
    /// </summary>
    internal TimeSpan LeakGrace { get; set => field = Changed(value); } = TimeSpan.FromSeconds(10);

    /// <summary>The maximum time that closing waits for user code, and for a write transaction that stays open. Settable for tests.</summary>
    internal TimeSpan ClosingPatience { get; set => field = Changed(value); } = TimeSpan.FromSeconds(5);

    /// <summary>The time for which a group commit keeps adding operations to its batch.</summary>
    internal TimeSpan MaxGroupCommitDuration { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(20);

    /// <summary>The maximum time that a commit without enough space searches for free pages to return, while it holds the writer.</summary>
    internal TimeSpan LongestPunch { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(250);

    /// <summary>The interval at which the flusher's thread checks whether free space can be returned to the file system.</summary>
    internal TimeSpan ReclaimInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(30);

    /// <summary>The time without a commit after which blocks are written ahead of need. Settable for tests.</summary>
    internal TimeSpan QuietTime { get; set => field = Changed(value); } = TimeSpan.FromSeconds(1);

    /// <summary>The idle time after which a thread of the environment ends. The next work starts another one.</summary>
    internal TimeSpan ThreadIdleTime { get; set => field = Changed(value); } = TimeSpan.FromSeconds(30);

    /// <summary>The format version of a new environment. Settable for tests.</summary>
    internal int FormatVersion { get; set => field = Changed(value); } = 2;

    /// <summary>
    /// The maximum number of pages of dropped trees that a transaction frees. However scattered they are, the record of such a transaction fits into
    /// the journal's reserve, so a full disk can be emptied. Settable for tests, whose trees are small.
    /// </summary>
    internal int PagesOfDrop { get; set => field = Changed(value); } = 1000;

    /// <summary>The clock for the times of commits. Settable for tests.</summary>
    internal TimeProvider CommitClock { get; set => field = Changed(value); } = TimeProvider.System;

    /// <summary>The clock and the timer of the status file. Settable for tests.</summary>
    internal TimeProvider StatusClock { get; set => field = Changed(value); } = TimeProvider.System;

    /// <summary>The number of bytes of new and nearly full pages from which a transaction writes them directly to the data file.</summary>
    internal long DirectPageBytes { get; set => field = Changed(value); } = 512 << 10;

    /// <summary>The maximum number of bytes of large values that a transaction journals; 0 if <see cref="LargeValueBytes"/> is set.</summary>
    internal int JournaledValueBytes { get => _largeValueBytes == null ? field : 0; set => field = Changed(value); } = 64 << 10;

    /// <summary>Whether the number of changes per page adjusts the flush threshold; true while that has its default. Settable for tests.</summary>
    internal bool FlushesByCost { get => _flushesByCost || _flushThresholdBytes == null; set => _flushesByCost = Changed(value); }

    /// <summary>Makes transactions journal each changed page in full, never as a difference: a reference for tests of differences.</summary>
    internal bool JournalsFullPages { get; set => field = Changed(value); }

    /// <summary>
    /// Called after each background verification, on a thread-pool thread. It may do whatever any observer may do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<VerificationReport>? ScrubObserver { get; set => field = Changed(value); }

    /// <summary>The clock of the background verification; null for the system clock.</summary>
    internal ScrubClock? ScrubClock { get; set => field = Changed(value); }

    /// <summary>Returns the options of an open environment: an immutable copy with the actual values.</summary>
    /// <param name="pageSize">The page size of the environment.</param>
    internal StorageOptions Freeze(int pageSize)
    {
        var limit = MemoryLimit;
        return new StorageOptions(this) { PageSize = pageSize, _actualMemoryLimit = limit, _isFrozen = true };
    }

    private T Changed<T>(T value, [CallerMemberName] string option = "")
    {
        ThrowIfFrozen(option);
        return value;
    }

    private void ThrowIfFrozen(string option)
    {
        if (_isFrozen)
        {
            throw new InvalidOperationException(
                $"{option} cannot be changed: these are the options of an open environment. Copy them with new {nameof(StorageOptions)}(options), " +
                "change the copy, and open the environment again with it.");
        }
    }

    /// <summary>The names of declared trees; they can be changed as long as the options can.</summary>
    private sealed class TreeNameList(StorageOptions options) : Collection<string>
    {
        protected override void InsertItem(int index, string item)
        {
            ArgumentNullException.ThrowIfNull(item);
            options.ThrowIfFrozen(nameof(Trees));
            base.InsertItem(index, item);
        }

        protected override void SetItem(int index, string item)
        {
            ArgumentNullException.ThrowIfNull(item);
            options.ThrowIfFrozen(nameof(Trees));
            base.SetItem(index, item);
        }

        protected override void RemoveItem(int index)
        {
            options.ThrowIfFrozen(nameof(Trees));
            base.RemoveItem(index);
        }

        protected override void ClearItems()
        {
            options.ThrowIfFrozen(nameof(Trees));
            base.ClearItems();
        }
    }
}
