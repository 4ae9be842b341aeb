namespace Voron.Tables;

/// <summary>How long <see cref="TableEvolution.EvolveAsync"/> keeps other writers waiting at a time, and the memory that it takes.</summary>
/// <remarks>
/// Each step is a separate transaction, so smaller steps cost more commits. A step ends at the first limit that it reaches, but reads at least
/// one row.
/// </remarks>
public sealed record EvolveOptions
{
    private readonly TimeSpan _maxHold = TimeSpan.FromMilliseconds(2);
    private readonly long _maxBytes = 16 << 20;
    private readonly long? _memoryBytes;

    /// <summary>The number of rows from which on keys are sorted before they are added to an index. Fewer rows are a few steps.</summary>
    internal long FewestSortedRows { get; init; } = 10_000;

    /// <summary>The time for which a step holds the writer: 2 ms unless set.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The time is not positive, or longer than a minute.</exception>
    public TimeSpan MaxHold
    {
        get => _maxHold;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(value, TimeSpan.Zero);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, TimeSpan.FromMinutes(1));
            _maxHold = value;
        }
    }

    /// <summary>The number of row bytes after which a step ends: 16 MiB unless set.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    public long MaxBytes
    {
        get => _maxBytes;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            _maxBytes = value;
        }
    }

    /// <summary>
    /// The memory for sorting keys, in bytes: at least 1 MiB. Keys beyond it go to a temporary file, which vanishes with the call, or with the
    /// process. Null, the default, for a quarter of <see cref="StorageOptions.MemoryLimitBytes"/>, of which this memory is not part.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The number is less than 1 MiB.</exception>
    public long? MemoryBytes
    {
        get => _memoryBytes;
        init
        {
            if (value is { } bytes)
                ArgumentOutOfRangeException.ThrowIfLessThan(bytes, BulkLoadOptions.MinMemoryBytes, nameof(value));
            _memoryBytes = value;
        }
    }
}

/// <summary>The progress of <see cref="TableEvolution.EvolveAsync"/>.</summary>
/// <param name="Indexes">The names of the indexes that are being built.</param>
/// <param name="RowsRead">The number of rows that the call has read so far.</param>
/// <param name="RowIdsPassed">The number of row ids passed so far, of <paramref name="RowIdsTotal"/>, including those of deleted rows.</param>
/// <param name="RowIdsTotal">The first row id whose keys the writers add.</param>
public readonly record struct EvolveProgress(IReadOnlyList<string> Indexes, long RowsRead, long RowIdsPassed, long RowIdsTotal);
