using System.Diagnostics.Metrics;
using System.Globalization;
using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>
/// The options of an environment in memory: see <see cref="StorageEnvironment.OpenInMemory(InMemoryOptions)"/>. The options for files, durability and
/// background verification do not apply to it.
/// </summary>
public sealed class InMemoryOptions
{
    /// <summary>The smallest limit: space for the pages that every environment has, and for some trees.</summary>
    private const long MinDataBytes = 1 << 20;

    /// <summary>The page size in bytes: 4096, 8192, 16384, 32768 or 65536; the default is 4096. Larger pages allow longer keys.</summary>
    public int PageSize { get; set; } = 4096;

    /// <summary>
    /// The maximum total size of the environment's pages in bytes, including free pages: at least 1 MiB; null, the default, for no limit. A
    /// transaction that needs more throws <see cref="StorageFullException"/> and is not committed. Page versions in use by open
    /// transactions are not counted.
    /// </summary>
    public long? MaxDataBytes { get; set; }

    /// <summary>The maximum number of bytes of changed pages in one transaction: at least 1 MiB, 1 GiB by default. More is refused.</summary>
    public long MaxTransactionBytes { get; set; } = 1L << 30;

    /// <summary>
    /// The number of bytes of changed pages after which a group commit adds no more operations to its transaction: 4 MiB by default. See
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>.
    /// </summary>
    public long MaxGroupCommitBytes { get; set; } = 4 << 20;

    /// <inheritdoc cref="StorageOptions.MaxQueuedOperations"/>
    public int MaxQueuedOperations { get; set; } = 1 << 20;

    /// <summary>
    /// The maximum number of bytes of memory for key heads, which speed up key lookups: 80 MiB by default; 0 for none. Memory is allocated as needed.
    /// </summary>
    public long KeyHeadCacheBytes { get; set; } = 80 << 20;

    /// <summary>
    /// The size in bytes from which a value is stored in separate pages, into which it is written once: 16 KiB, the default, to 1 GiB.
    /// </summary>
    public int LargeValueBytes { get; set; } = 16 << 10;

    /// <inheritdoc cref="StorageOptions.FlowExecutionContext"/>
    public bool FlowExecutionContext { get; set; } = true;

    /// <summary>The names of trees that are created, empty, before the environment is returned.</summary>
    public IList<string> Trees { get; } = [];

    /// <inheritdoc cref="StorageOptions.CaptureTransactionStacks"/>
    public bool CaptureTransactionStacks { get; set; }

    /// <inheritdoc cref="StorageOptions.Name"/>
    public string? Name { get; set; }

    /// <inheritdoc cref="StorageOptions.LoggerFactory"/>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <inheritdoc cref="StorageOptions.MeterFactory"/>
    public IMeterFactory? MeterFactory { get; set; }

    /// <inheritdoc cref="StorageOptions.TimeProvider"/>
    public TimeProvider? TimeProvider { get; set; }

    /// <inheritdoc cref="StorageOptions.CommitObserver"/>
    public Action<CommitReport>? CommitObserver { get; set; }

    /// <summary>Checks all options together.</summary>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    public void Validate() => ToValidStorageOptions(null);

    /// <summary>Returns the options with which the engine is opened, after a check of all options together.</summary>
    /// <param name="parameter">The parameter through which the caller passed the options; null for none.</param>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    internal StorageOptions ToValidStorageOptions(string? parameter)
    {
        var options = ToStorageOptions();
        var fault = MaxDataBytes < MinDataBytes
            ? string.Create(CultureInfo.InvariantCulture, $"{nameof(MaxDataBytes)} is {MaxDataBytes}; it must be at least {MinDataBytes}, or null.")
            : null;
        options.Validate(parameter, fault);
        return options;
    }

    /// <summary>Returns the options with which the engine is opened.</summary>
    private StorageOptions ToStorageOptions()
    {
        var options = new StorageOptions
        {
            PageSize = PageSize,
            MaxTransactionBytes = MaxTransactionBytes,
            MaxGroupCommitBytes = MaxGroupCommitBytes,
            MaxQueuedOperations = MaxQueuedOperations,
            KeyHeadCacheBytes = KeyHeadCacheBytes,
            LargeValueBytes = LargeValueBytes,
            FlowExecutionContext = FlowExecutionContext,
            CaptureTransactionStacks = CaptureTransactionStacks,
            Name = Name,
            LoggerFactory = LoggerFactory,
            MeterFactory = MeterFactory,
            TimeProvider = TimeProvider,
            CommitObserver = CommitObserver,

            // The journal is discarded as it is written, and takes no memory. Flushes only move pages from scratch memory to the data file.
            JournalCompression = JournalCompression.Never,
            JournalLimitBytes = long.MaxValue,
            FlushInterval = TimeSpan.MaxValue,

            // Page versions need no temporary file, which would be in memory too.
            ScratchMemoryBytes = 2L << 30,
            ScratchLimitBytes = 2L << 30,
            ScrubInterval = Timeout.InfiniteTimeSpan,
            StatusInterval = TimeSpan.Zero,
        };
        foreach (var name in Trees)
            options.Trees.Add(name ?? "");
        return options;
    }
}
