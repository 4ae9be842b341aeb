namespace Voron;

// The options that bound memory, and the shares of the limit that options get which are not set. The sum of the shares stays within the limit:
// 5/16 for page versions, 1/8 each for the key heads of readers and for journal records, 1/16 each for the key heads of the writer, for puts
// that wait, and for dictionaries with what decompressing takes. The last quarter is for lists, with at most 120 bytes for each version of a
// page. All versions and those of a transaction take up to eight times the limit (ScratchLimitBytes and MaxTransactionBytes), and 120 bytes for
// each 4 KiB of that are less than a quarter.
public sealed partial class StorageOptions
{
    /// <summary>The smallest limit with which an environment works: a few chunks of page versions, and buffers.</summary>
    private const long MinMemoryLimit = 16 * MiB;

    private const long MinScratchMemory = 4 * MiB;

    /// <summary>An environment gets one part in this many of the memory that the runtime reports.</summary>
    private const int PartOfAvailable = 4;

    private long? _memoryLimitBytes;

    // The limit of an open environment whose options set none; a copy of those options has it too.
    private long? _actualMemoryLimit;
    private long? _scratchMemoryBytes;
    private long? _scratchLimitBytes;
    private long? _keyHeadCacheBytes;
    private long? _maxTransactionBytes;
    private long? _maxGroupCommitBytes;

    /// <summary>
    /// The maximum number of bytes of native memory that the environment uses: at least 16 MiB; null, the default, for a quarter of the memory
    /// that the runtime reports as available (<see cref="GCMemoryInfo.TotalAvailableMemoryBytes"/>), which takes the limits of a container and
    /// of the garbage collector's heap into account.
    /// </summary>
    /// <remarks>
    /// <see cref="ScratchMemoryBytes"/>, <see cref="ScratchLimitBytes"/>, <see cref="KeyHeadCacheBytes"/>, <see cref="MaxTransactionBytes"/>,
    /// <see cref="MaxGroupCommitBytes"/> and the sizes of buffers follow from the limit unless they are set; beyond 2 GiB, nothing grows with
    /// it. Page versions and journal records that do not fit go to temporary files. The mapped data file is not included: it is page cache,
    /// which the system takes back when it needs memory. Tables of 12 bytes for each page of the data file that has been changed since it was
    /// opened are not included either, nor the content of an environment in memory. Page versions that are in temporary files keep about 120
    /// bytes each in memory, so more of them than the defaults allow may exceed the limit: a <see cref="ScratchLimitBytes"/> or
    /// <see cref="MaxTransactionBytes"/> that is set higher admits them, and so does the recovery of a journal that was written with a higher limit.
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
    /// The number of bytes of page versions that are kept in memory; versions beyond that go to a temporary file. The default is five
    /// sixteenths of <see cref="MemoryLimitBytes"/>, and at most 512 MiB.
    /// </summary>
    public long ScratchMemoryBytes
    {
        get => _scratchMemoryBytes
            ?? Math.Max(MinScratchMemory, Math.Min(_scratchLimitBytes ?? long.MaxValue, Math.Min(512 * MiB, MemoryLimit / 16 * 5)));
        set => _scratchMemoryBytes = Changed(NullIfDerived(_scratchMemoryBytes, ScratchMemoryBytes, value), nameof(ScratchMemoryBytes));
    }

    /// <summary>
    /// The number of bytes of page versions, plus 64 for each version, above which writers are slowed until the flusher has caught up. A
    /// flush begins at half this limit, and not later than at twice <see cref="ScratchMemoryBytes"/>. The default is four times
    /// <see cref="MemoryLimitBytes"/>, but at most 2 GiB, and not less than <see cref="ScratchMemoryBytes"/>.
    /// </summary>
    /// <remarks>
    /// Most of these bytes are on disk when the limit is larger than <see cref="ScratchMemoryBytes"/>, but about 120 for each version are in memory.
    /// An environment with readers that stay open for long may need a higher limit, because their versions cannot be flushed.
    /// </remarks>
    public long ScratchLimitBytes
    {
        get => _scratchLimitBytes ?? Math.Max(_scratchMemoryBytes ?? 0, 4 * Math.Min(512 * MiB, MemoryLimit));
        set => _scratchLimitBytes = Changed(NullIfDerived(_scratchLimitBytes, ScratchLimitBytes, value), nameof(ScratchLimitBytes));
    }

    /// <summary>
    /// The maximum number of bytes of memory for key heads, which speed up key lookups: 256 for each leaf page that is searched, and a few
    /// thousand for each branch page. The memory is taken as it is needed; 0 for none. The default is an eighth of
    /// <see cref="MemoryLimitBytes"/>, and at most 80 MiB.
    /// </summary>
    public long KeyHeadCacheBytes
    {
        get => _keyHeadCacheBytes ?? Math.Min(80 * MiB, MemoryLimit / 8);
        set => _keyHeadCacheBytes = Changed(NullIfDerived(_keyHeadCacheBytes, KeyHeadCacheBytes, value), nameof(KeyHeadCacheBytes));
    }

    /// <summary>
    /// The maximum number of bytes of changed pages that one transaction may leave; more is refused before anything is written. The default
    /// is four times <see cref="MemoryLimitBytes"/>, and at most 1 GiB. A transaction that is larger than memory goes to temporary files, but
    /// about 120 bytes for each changed page stay in memory.
    /// </summary>
    public long MaxTransactionBytes
    {
        get => _maxTransactionBytes ?? 4 * Math.Min(256 * MiB, MemoryLimit);
        set => _maxTransactionBytes = Changed(NullIfDerived(_maxTransactionBytes, MaxTransactionBytes, value), nameof(MaxTransactionBytes));
    }

    /// <summary>
    /// The number of bytes of changed pages after which a group commit takes no more operations into its transaction: see
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/>. The default is a sixteenth of <see cref="MemoryLimitBytes"/>, and at
    /// most 4 MiB.
    /// </summary>
    public long MaxGroupCommitBytes
    {
        get => _maxGroupCommitBytes ?? Math.Min(4 * MiB, MemoryLimit / 16);
        set => _maxGroupCommitBytes = Changed(NullIfDerived(_maxGroupCommitBytes, MaxGroupCommitBytes, value), nameof(MaxGroupCommitBytes));
    }

    /// <summary>
    /// The number of bytes of page versions at which a flush begins. Beyond the memory for them, each is written twice, to the temporary file
    /// and to the data file.
    /// </summary>
    internal long FlushVersionBytes =>
        Math.Min(ScratchLimitBytes / 2, ScratchMemoryBytes <= ScratchLimitBytes / 4 ? 2 * ScratchMemoryBytes : long.MaxValue);

    /// <summary>The memory for key heads of branches that the writer uses.</summary>
    internal long BranchKeyHeadBytes => Math.Min(32 * MiB, MemoryLimit / 16);

    /// <summary>The memory for the records of the journal, on their way to it and from it.</summary>
    internal long RecordMemoryBytes => Math.Min(256 * MiB, MemoryLimit / 8);

    /// <summary>
    /// The length of a data file from which on the system does not read ahead in its map: about half of the memory that there is for everything.
    /// </summary>
    internal long ReadAheadBytes => PartOfAvailable / 2 * Math.Min(1L << 50, MemoryLimit);

    /// <summary>The memory by which the buffers for waiting puts may grow.</summary>
    internal long PutBufferBytes => Math.Min(64 * MiB, MemoryLimit / 16);

    /// <summary>The memory for the dictionaries of compressed values, and for the values that readers decompress.</summary>
    internal long DictionaryBytes => Math.Min(64 * MiB, MemoryLimit / 16);

    private long MemoryLimit =>
        Math.Max(MinMemoryLimit, MemoryLimitBytes ?? GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / PartOfAvailable);

    // The generated configuration binder assigns to each option that it does not find its own value, which must not set the option.
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
