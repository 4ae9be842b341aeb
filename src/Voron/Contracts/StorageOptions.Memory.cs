namespace Voron;

// The options that bound memory, and the shares of the limit for the options that are not set. The shares add up to no more than the limit: 5/16 for
// page versions, 1/8 each for the readers' key heads and for journal records, and 1/16 each for the writer's key heads, for waiting puts, and for
// dictionaries and decompression. The last quarter is for lists, with at most 120 bytes per page version. All versions and those of a transaction
// take up to eight times the limit (ScratchLimitBytes and MaxTransactionBytes), and 120 bytes for each 4 KiB of that are less than a quarter.
public sealed partial class StorageOptions
{
    /// <summary>The smallest workable limit: a few chunks of page versions, and buffers.</summary>
    private const long MinMemoryLimit = 16 * MiB;

    private const long MinScratchMemory = 4 * MiB;

    /// <summary>The default limit is one part in this many of the memory that the runtime reports.</summary>
    private const int PartOfAvailable = 4;

    private long? _memoryLimitBytes;

    // The actual limit of an open environment whose options set none. A copy of those options keeps it.
    private long? _actualMemoryLimit;
    private long? _scratchMemoryBytes;
    private long? _scratchLimitBytes;
    private long? _keyHeadCacheBytes;
    private long? _maxTransactionBytes;
    private long? _maxGroupCommitBytes;

    /// <summary>
    /// The maximum number of bytes of native memory that the environment uses: at least 16 MiB. Null, the default, stands for a quarter of the memory
    /// that the runtime reports as available (<see cref="GCMemoryInfo.TotalAvailableMemoryBytes"/>), which accounts for the limits of a container and
    /// of the garbage-collected heap.
    /// </summary>
    /// <remarks>
    /// <see cref="ScratchMemoryBytes"/>, <see cref="ScratchLimitBytes"/>, <see cref="KeyHeadCacheBytes"/>, <see cref="MaxTransactionBytes"/>,
    /// <see cref="MaxGroupCommitBytes"/> and the sizes of buffers follow from the limit unless they are set; above 2 GiB, they grow no further. Page
    /// versions and journal records that do not fit go to temporary files. The mapped data file is not included: it is page cache, which the system
    /// reclaims when it needs memory. Nor are tables of 12 bytes for each page of the data file changed since the opening, or the content of an
    /// in-memory environment. A page version in a temporary file still takes about 120 bytes of memory, so more versions than the defaults allow may
    /// exceed the limit: a higher <see cref="ScratchLimitBytes"/> or <see cref="MaxTransactionBytes"/> admits them, and so does the recovery of a
    /// journal written with a higher limit.
    /// </remarks>
    public long? MemoryLimitBytes
    {
        get => _memoryLimitBytes ?? _actualMemoryLimit;
        set
        {
            _memoryLimitBytes = Changed(value);
            _actualMemoryLimit = null;
        }
    }

    /// <summary>
    /// The number of bytes of page versions kept in memory: at least 4 MiB. Further versions go to a temporary file. The default is five sixteenths
    /// of <see cref="MemoryLimitBytes"/>, but at most 512 MiB, and at most <see cref="ScratchLimitBytes"/> if that is set.
    /// </summary>
    public long ScratchMemoryBytes
    {
        get => _scratchMemoryBytes
            ?? Math.Max(MinScratchMemory, Math.Min(_scratchLimitBytes ?? long.MaxValue, Math.Min(512 * MiB, MemoryLimit / 16 * 5)));
        set => _scratchMemoryBytes = Changed(NullIfDerived(_scratchMemoryBytes, ScratchMemoryBytes, value), nameof(ScratchMemoryBytes));
    }

    /// <summary>
    /// The number of bytes of page versions, plus 64 for each version, above which writers are slowed until the flusher has caught up. A flush begins
    /// at half this limit, and no later than at twice <see cref="ScratchMemoryBytes"/>. The default is four times <see cref="MemoryLimitBytes"/>, but
    /// at most 2 GiB, and no less than <see cref="ScratchMemoryBytes"/>.
    /// </summary>
    /// <remarks>
    /// Bytes beyond <see cref="ScratchMemoryBytes"/> are in a temporary file, but each version also takes about 120 bytes of memory. An environment
    /// with long-running readers may need a higher limit, because changes after their snapshots cannot be flushed.
    /// </remarks>
    public long ScratchLimitBytes
    {
        get => _scratchLimitBytes ?? Math.Max(_scratchMemoryBytes ?? 0, 4 * Math.Min(512 * MiB, MemoryLimit));
        set => _scratchLimitBytes = Changed(NullIfDerived(_scratchLimitBytes, ScratchLimitBytes, value), nameof(ScratchLimitBytes));
    }

    /// <summary>
    /// The maximum number of bytes of memory for key heads, which speed up key lookups: 256 for each leaf page searched, and a few thousand for each
    /// branch page. Memory is allocated as needed; 0 for none. The default is an eighth of <see cref="MemoryLimitBytes"/>, but at most 80 MiB.
    /// </summary>
    public long KeyHeadCacheBytes
    {
        get => _keyHeadCacheBytes ?? Math.Min(80 * MiB, MemoryLimit / 8);
        set => _keyHeadCacheBytes = Changed(NullIfDerived(_keyHeadCacheBytes, KeyHeadCacheBytes, value), nameof(KeyHeadCacheBytes));
    }

    /// <summary>
    /// The maximum number of bytes of changed pages in one transaction: at least 1 MiB. More is refused with a
    /// <see cref="TransactionTooLargeException"/> before anything is written. The default is four times <see cref="MemoryLimitBytes"/>, but at
    /// most 1 GiB. A transaction larger than memory goes to temporary files, but about 120 bytes for each changed page stay in memory.
    /// </summary>
    public long MaxTransactionBytes
    {
        get => _maxTransactionBytes ?? 4 * Math.Min(256 * MiB, MemoryLimit);
        set => _maxTransactionBytes = Changed(NullIfDerived(_maxTransactionBytes, MaxTransactionBytes, value), nameof(MaxTransactionBytes));
    }

    /// <summary>
    /// The number of bytes of changed pages after which a group commit adds no more operations to its transaction: see
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>. The default is a sixteenth of <see cref="MemoryLimitBytes"/>,
    /// but at most 4 MiB.
    /// </summary>
    public long MaxGroupCommitBytes
    {
        get => _maxGroupCommitBytes ?? Math.Min(4 * MiB, MemoryLimit / 16);
        set => _maxGroupCommitBytes = Changed(NullIfDerived(_maxGroupCommitBytes, MaxGroupCommitBytes, value), nameof(MaxGroupCommitBytes));
    }

    /// <summary>The page size of a new environment in bytes.</summary>
    internal int PageSizeOrDefault => PageSize ?? DefaultPageSize;

    /// <summary>
    /// The number of bytes of page versions at which a flush begins. Versions beyond <see cref="ScratchMemoryBytes"/> are written twice: to the
    /// temporary file and to the data file.
    /// </summary>
    internal long FlushVersionBytes =>
        Math.Min(ScratchLimitBytes / 2, ScratchMemoryBytes <= ScratchLimitBytes / 4 ? 2 * ScratchMemoryBytes : long.MaxValue);

    /// <summary>The default of <see cref="BulkLoadOptions.MemoryBytes"/>.</summary>
    internal long BulkLoadMemoryBytes => MemoryLimit / 4;

    /// <summary>The memory for the branch key heads that the writer uses, in bytes.</summary>
    internal long BranchKeyHeadBytes => Math.Min(32 * MiB, MemoryLimit / 16);

    /// <summary>The memory for journal records on their way to or from the journal, in bytes.</summary>
    internal long RecordMemoryBytes => Math.Min(256 * MiB, MemoryLimit / 8);

    /// <summary>
    /// The length of the data file in bytes from which the system does not read ahead in its mapping: about half of the available memory.
    /// </summary>
    internal long ReadAheadBytes => PartOfAvailable / 2 * Math.Min(1L << 50, MemoryLimit);

    /// <summary>The number of bytes by which the buffers for waiting puts may grow.</summary>
    internal long PutBufferBytes => Math.Min(64 * MiB, MemoryLimit / 16);

    /// <summary>The memory for the dictionaries of compressed values, and for the values that readers decompress, in bytes.</summary>
    internal long DictionaryBytes => Math.Min(64 * MiB, MemoryLimit / 16);

    private long MemoryLimit =>
        Math.Max(MinMemoryLimit, MemoryLimitBytes ?? GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / PartOfAvailable);

    // The generated configuration binder assigns each unconfigured option its own current value, which must not count as setting the option.
    private static T? NullIfDerived<T>(T? before, T actual, T value)
        where T : struct, IEquatable<T> => before == null && value.Equals(actual) ? null : value;

    private void CopyMemory(StorageOptions options)
    {
        _memoryLimitBytes = options._memoryLimitBytes;
        _actualMemoryLimit = options._actualMemoryLimit;
        _scratchMemoryBytes = options._scratchMemoryBytes;
        _scratchLimitBytes = options._scratchLimitBytes;
        _keyHeadCacheBytes = options._keyHeadCacheBytes;
        _maxTransactionBytes = options._maxTransactionBytes;
        _maxGroupCommitBytes = options._maxGroupCommitBytes;
    }
}
