using System.Collections.ObjectModel;
using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options with which an environment is opened. <see cref="Validate()"/> checks all of them together.</summary>
/// <remarks>
/// All options can be bound from configuration, except for the clock, the factories and the observers, which are set in code. An environment copies
/// the options when it is opened: later changes of the caller's object have no effect on it, and the object can be used for other environments.
/// The copy is <see cref="StorageEnvironment.Options"/>. It reports the actual values, and setting one of its options throws an
/// <see cref="InvalidOperationException"/>.
/// </remarks>
public sealed partial class StorageOptions
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The size in bytes of the largest journal file that can be configured: at most ten are kept, counted in 63 bits.</summary>
    internal const long LargestJournalFile = 1L << 40;

    /// <summary>The size in bytes of the largest value that may be journaled in full; with its page headers it must stay below 2 GiB.</summary>
    internal const int MaxLargeValue = 1 << 30;

    private const long MiB = 1 << 20;

    private const int DefaultPageSize = 4096;

    /// <summary>The maximum length in UTF-8 bytes of the name of a tree.</summary>
    internal const int MaxTreeNameBytes = 255;

    /// <summary>The longest interval of lazy commits.</summary>
    internal static readonly TimeSpan LongestLazyInterval = TimeSpan.FromHours(1);

    private const long DefaultFlushThreshold = 64 * MiB;
    private const int DefaultLargeValue = 16 << 10;

    private long? _flushThresholdBytes;
    private int? _largeValueBytes;
    private bool _flushesByCost;
    private bool _isFrozen;

    /// <summary>Creates options that have their defaults.</summary>
    public StorageOptions() => Trees = new TreeNameList(this);

    /// <summary>Copies options. The copy can be changed, also if it is one of the options of an open environment.</summary>
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
    /// The page size in bytes: 4096, 8192, 16384, 32768 or 65536; null, the default, for that of the existing environment, and 4096 for one that
    /// is created. <see cref="StorageEnvironment.Options"/> reports the actual page size.
    /// </summary>
    /// <remarks>
    /// This is the only option that cannot be changed from one opening to the next. If it is set, and the environment has another page size,
    /// the opening fails with an <see cref="ArgumentException"/> that names both.
    /// </remarks>
    public int? PageSize { get; set => field = Changed(value); }

    /// <summary>
    /// Whether an environment that is missing is created, and whether one that exists is opened. <see cref="ReadOnly"/> creates nothing: it
    /// treats <see cref="OpenMode.OpenOrCreate"/> as <see cref="OpenMode.OpenExisting"/>, and does not go with <see cref="OpenMode.CreateNew"/>.
    /// </summary>
    public OpenMode OpenMode { get; set => field = Changed(value); }

    /// <summary>
    /// The longest time for which an opening waits while another process, or this one, has the environment open, as during a rolling restart;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for no limit. The default is zero: the opening fails at once with an
    /// <see cref="EnvironmentInUseException"/>. The directory is tried again and again, every half second at least.
    /// </summary>
    public TimeSpan LockTimeout { get; set => field = Changed(value); }

    /// <summary>
    /// The names of trees that exist from the first moment: those that are missing are created in one durable transaction before the opening
    /// returns, so that every reader finds them. An opening for reading only cannot create them, and fails with a
    /// <see cref="KeyNotFoundException"/> if one is missing. A name may appear twice.
    /// </summary>
    public IList<string> Trees { get; }

    /// <summary>
    /// The permissions, on Linux and macOS, of created files, before the process's umask is applied; by default, only the owner has access.
    /// In a created directory, read permission includes search permission.
    /// </summary>
    public UnixFileMode FileMode { get; set => field = Changed(value); } = OwnerOnly;

    /// <summary>Whether to open the environment for reading only. Nothing is written then, not even by recovery, which works in memory.</summary>
    public bool ReadOnly { get; set => field = Changed(value); }

    /// <summary>Whether journal records are compressed. An environment written with one setting can be opened with any other.</summary>
    public JournalCompression JournalCompression { get; set => field = Changed(value); } = JournalCompression.Auto;

    /// <summary>
    /// The information that the journal records about pages before they are overwritten. An environment written with one setting can be
    /// opened with any other.
    /// </summary>
    public TornPageProtection TornPageProtection { get; set => field = Changed(value); } = TornPageProtection.Checksums;

    /// <summary>
    /// The size of the first journal file in bytes, at least 64 KiB. Each later file that is made is four times as large as the one before it, up
    /// to <see cref="MaxJournalFileBytes"/>. A larger value takes more space in a rarely used environment, but lets the first commits after an
    /// opening avoid small files.
    /// </summary>
    public long InitialJournalFileBytes { get; set => field = Changed(value); } = 64 << 10;

    /// <summary>The maximum size of a journal file in bytes, unless a single transaction, or the page images of a flush, need more.</summary>
    public long MaxJournalFileBytes { get; set => field = Changed(value); } = 16 * MiB;

    /// <summary>
    /// The number of journal bytes since the checkpoint at which the flusher starts. It also starts at this number of bytes that bypass the
    /// journal, large values and new pages of large transactions: of those written, or of those whose space was freed, whichever is more.
    /// The default is 64 MiB.
    /// </summary>
    /// <remarks>
    /// As long as the option has its default, the flusher waits for half as many bytes again while transactions change the same pages often,
    /// because fewer flushes then write fewer bytes. Any other value is taken as it is.
    /// </remarks>
    public long FlushThresholdBytes
    {
        get => _flushThresholdBytes ?? DefaultFlushThreshold;
        set => _flushThresholdBytes = Changed(NullIfDerived(_flushThresholdBytes, FlushThresholdBytes, value), nameof(FlushThresholdBytes));
    }

    /// <summary>When commits are acknowledged whose transactions set no <see cref="WriteTransaction.Durability"/>. Durable by default.</summary>
    public Durability Durability { get; set => field = Changed(value); }

    /// <summary>
    /// The time within which lazy commits are written, and so the most that a crash can undo: 1 ms to 1 hour, 100 ms by default. A durable commit,
    /// a flush or a backup makes earlier lazy commits durable at once; so does an eighth waiting lazy commit.
    /// </summary>
    public TimeSpan LazyInterval { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(100);

    /// <summary>The longest time that a durable change stays out of the data file while the environment is idle.</summary>
    public TimeSpan FlushInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The number of bytes of journal records needed for replay above which writers are slowed until the flusher has caught up: at least
    /// 256 KiB, and no less than <see cref="FlushThresholdBytes"/>. Free space in journal files, and records in them that are no longer
    /// needed, come on top, so the files together, or even a single file, may be larger than this. A flush begins at half this limit.
    /// </summary>
    public long JournalLimitBytes { get; set => field = Changed(value); } = 512 * MiB;

    /// <summary>
    /// The maximum number of operations of <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> that may
    /// wait to be started. A further call throws <see cref="StorageFullException"/>, because a caller that does not await its writes would
    /// otherwise fill the memory. A waiting operation takes about 300 bytes, plus the objects it refers to. Callers that block in <c>Write</c>
    /// are not limited.
    /// </summary>
    public int MaxQueuedOperations { get; set => field = Changed(value); } = 1 << 20;

    /// <summary>
    /// Whether an operation of <c>Write</c> or <c>WriteAsync</c> runs in the execution context of its caller: with the caller's values of
    /// <c>AsyncLocal</c>, the current activity and logging scopes. The default is true. Otherwise the operation runs in the default
    /// context, as it does when the caller has suppressed the flow (<see cref="ExecutionContext.SuppressFlow"/>).
    /// </summary>
    public bool FlowExecutionContext { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The size in bytes from which a value is written once, directly to the data file, instead of through the journal. The default is 16 KiB.
    /// </summary>
    /// <remarks>
    /// While the option has its default, a transaction still writes such values to the journal if they add up to at most 64 KiB, those of the last
    /// transaction did too, and no flush is due: one write to the device is then faster than two. Streams and staged
    /// values are always written directly. Any other value of the option, such as 16,385, is taken as it is.
    /// </remarks>
    public int LargeValueBytes
    {
        get => _largeValueBytes ?? DefaultLargeValue;
        set => _largeValueBytes = Changed(NullIfDerived(_largeValueBytes, LargeValueBytes, value), nameof(LargeValueBytes));
    }

    /// <summary>The fraction of a 4 MiB section that must be free for allocation to move there because the section is near.</summary>
    public double PreferredFreeFraction { get; set => field = Changed(value); } = 0.25;

    /// <summary>The maximum number of bytes by which the data file grows at a time.</summary>
    public long MaxGrowthBytes { get; set => field = Changed(value); } = 64 * MiB;

    /// <summary>Whether to verify the checksum of a page each time it is read from the data file, rather than at its first use.</summary>
    public bool VerifyEveryRead { get; set => field = Changed(value); }

    /// <summary>
    /// The interval at which everything is read and verified in the background, to find bytes that have rotted at rest;
    /// <see cref="Timeout.InfiniteTimeSpan"/> for never. The verification works in slices of at most a quarter of a second, each with its own
    /// snapshot. Only <see cref="StorageEnvironment.Verify"/> checks that each page in use has exactly one owner.
    /// </summary>
    public TimeSpan ScrubInterval { get; set => field = Changed(value); } = TimeSpan.FromDays(1);

    /// <summary>The maximum number of bytes that the background verification reads per second; 0 for no limit.</summary>
    public long ScrubBytesPerSecond { get; set => field = Changed(value); } = 16 * MiB;

    /// <summary>
    /// True, the default, to keep a change log from the first backup on: then a backup keeps no flush waiting for long, and later ones can copy only
    /// what has changed (<see cref="BackupOptions.Since"/>). False to keep none: backups then hold one snapshot from beginning to end.
    /// </summary>
    public bool TrackChanges { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The size in bytes of the change log, at least 1 MiB; 64 MiB by default. When it is exceeded, the older half is reduced, so that an incremental
    /// backup since an old one copies somewhat more than what has changed.
    /// </summary>
    public long ChangeLogBytes { get; set => field = Changed(value); } = 64 * MiB;

    /// <summary>
    /// Whether to start the background threads, flusher and scrubber. Without them, the application must call
    /// <see cref="StorageEnvironment.Flush"/>.
    /// </summary>
    public bool BackgroundFlush { get; set => field = Changed(value); } = true;

    /// <summary>
    /// The interval at which the environment writes its figures to the file <c>voron.status</c>, from which other processes read them, such as
    /// <c>voron top</c>: at least 10 ms, 1 second by default; zero or <see cref="Timeout.InfiniteTimeSpan"/> for no such file.
    /// </summary>
    /// <remarks>
    /// The environment writes one 4 KiB block without a sync, and only after new activity. Callers never wait for the write, and a failed write is
    /// logged and otherwise ignored. The file is deleted when the environment is closed. No file is written without
    /// <see cref="BackgroundFlush"/>, with <see cref="ReadOnly"/>, or for an environment in memory.
    /// </remarks>
    public TimeSpan StatusInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Whether to record where each transaction is opened, so that reports of leaked or slow transactions can name the place. Costs a stack
    /// trace for each transaction: microseconds, and garbage.
    /// </summary>
    public bool CaptureTransactionStacks { get; set => field = Changed(value); }

    /// <summary>
    /// The name of the environment in metrics and activities (<c>db.namespace</c>); null for its path. If the process has another open
    /// environment of that name, a number is added: see <see cref="StorageEnvironment.Name"/>.
    /// </summary>
    public string? Name { get; set => field = Changed(value); }

    /// <summary>
    /// Makes the loggers of the environment, one for each category: <c>Voron</c>, <c>Voron.Flushing</c> and others; null for no logging.
    /// </summary>
    /// <remarks>
    /// Messages reach a logger a moment after the event, on a thread-pool thread or on a caller's thread at the end of its call, never with a
    /// lock held. A logger is made when its first message is due. So factory and loggers may throw, block, and call the environment.
    /// </remarks>
    public ILoggerFactory? LoggerFactory { get; set => field = Changed(value); }

    /// <summary>
    /// Makes the meter <c>Voron</c> that has the environment's metrics; null for the meter of the process. Called once, when the environment is
    /// opened; an exception that it throws ends the opening.
    /// </summary>
    public IMeterFactory? MeterFactory { get; set => field = Changed(value); }

    /// <summary>
    /// The clock by which rows expire (<see cref="Tables.TableDefinition{TKey, TRow}.Expire"/>), and nothing else; null for that of the system.
    /// </summary>
    /// <remarks>A transaction reads it once, when it first opens a table whose rows expire. An exception that it throws reaches that call.</remarks>
    public TimeProvider? TimeProvider { get; set => field = Changed(value); }

    /// <summary>
    /// Called for each durable commit, in commit order, after the commit is published: on a caller's thread at the end of its call, or on a
    /// thread-pool thread. If only one thread commits, and durably, the observer has been called by the time Commit returns.
    /// </summary>
    /// <remarks>
    /// This observer and <see cref="FlushObserver"/> are called one at a time, in the order of the events. Every observer is called with no
    /// lock held. It may throw (the exception is logged), block (which delays only the reports behind it, and the call at whose end it was
    /// called), call any member of the environment, and dispose the environment.
    /// </remarks>
    public Action<CommitReport>? CommitObserver { get; set => field = Changed(value); }

    /// <summary>
    /// Called after each flush, on a caller's thread at the end of its call, or on a thread-pool thread. May do everything that any observer
    /// may do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<FlushReport>? FlushObserver { get; set => field = Changed(value); }

    /// <summary>
    /// Called on a thread-pool thread when a reader holds the flusher back and half of <see cref="JournalLimitBytes"/> or
    /// <see cref="ScratchLimitBytes"/> is reached: once per reader in each <see cref="SlowReaderInterval"/>. May do everything that any
    /// observer may do: see <see cref="CommitObserver"/>.
    /// </summary>
    public Action<SlowReaderReport>? SlowReaderObserver { get; set => field = Changed(value); }

    /// <summary>The time for which a reader that has been reported as slow is not reported again.</summary>
    public TimeSpan SlowReaderInterval { get; set => field = Changed(value); } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// The time for which a transaction that was never ended is left as it is after the garbage collector has found it, because a span that
    /// came from it may still be in use.
    /// </summary>
    internal TimeSpan LeakGrace { get; set => field = Changed(value); } = TimeSpan.FromSeconds(10);

    /// <summary>The time for which closing waits for the user's code, and for a write transaction that stays open. Settable for tests.</summary>
    internal TimeSpan ClosingPatience { get; set => field = Changed(value); } = TimeSpan.FromSeconds(5);

    /// <summary>The time for which a group commit keeps taking more operations into its batch.</summary>
    internal TimeSpan MaxGroupCommitDuration { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(20);

    /// <summary>The longest time for which a commit that finds no room looks for free pages to return, while it holds the writer.</summary>
    internal TimeSpan LongestPunch { get; set => field = Changed(value); } = TimeSpan.FromMilliseconds(250);

    /// <summary>The interval at which the flusher's thread checks whether free space can be returned to the file system.</summary>
    internal TimeSpan ReclaimInterval { get; set => field = Changed(value); } = TimeSpan.FromSeconds(30);

    /// <summary>The time without work after which a thread of the environment ends; the next work starts another one.</summary>
    internal TimeSpan ThreadIdleTime { get; set => field = Changed(value); } = TimeSpan.FromSeconds(30);

    /// <summary>The format version of a new environment. Settable for tests.</summary>
    internal int FormatVersion { get; set => field = Changed(value); } = 2;

    /// <summary>
    /// The largest number of pages of dropped trees that a transaction frees. Its record has room in the reserve of the journal, however scattered
    /// they are, so that a full disk can be emptied. Settable for tests, whose trees are small.
    /// </summary>
    internal int PagesOfDrop { get; set => field = Changed(value); } = 1000;

    /// <summary>The clock that commits take their time from. Settable for tests.</summary>
    internal TimeProvider CommitClock { get; set => field = Changed(value); } = TimeProvider.System;

    /// <summary>The clock of the status file, and its timer. Settable for tests.</summary>
    internal TimeProvider StatusClock { get; set => field = Changed(value); } = TimeProvider.System;

    /// <summary>The bytes of new and nearly full pages from which a transaction writes them directly to the data file.</summary>
    internal long DirectPageBytes { get; set => field = Changed(value); } = 512 << 10;

    /// <summary>The bytes of large values up to which a transaction journals them; 0 when the size of a large value is not the default.</summary>
    internal int JournaledValueBytes { get => _largeValueBytes == null ? field : 0; set => field = Changed(value); } = 64 << 10;

    /// <summary>Whether the number of changes to each page moves the threshold; always with its default. Settable for tests.</summary>
    internal bool FlushesByCost { get => _flushesByCost || _flushThresholdBytes == null; set => _flushesByCost = Changed(value); }

    /// <summary>Makes transactions journal each changed page in full, never as a difference; a reference for tests of differences.</summary>
    internal bool JournalsFullPages { get; set => field = Changed(value); }

    /// <summary>
    /// Called after each background verification, on a thread-pool thread. May do everything that any observer may do: see
    /// <see cref="CommitObserver"/>.
    /// </summary>
    public Action<VerificationReport>? ScrubObserver { get; set => field = Changed(value); }

    /// <summary>The page size in bytes of an environment that is created.</summary>
    internal int PageSizeOrDefault => PageSize ?? DefaultPageSize;

    /// <summary>The clock of the background verification; null for the system clock.</summary>
    internal ScrubClock? ScrubClock { get; set => field = Changed(value); }

    /// <summary>Returns the options of an open environment: a copy with the actual values, which cannot be changed.</summary>
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
