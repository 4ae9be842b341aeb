using Voron.IO;

namespace Voron.Sorting;

/// <summary>How a sort works.</summary>
internal sealed record SortOptions
{
    /// <summary>
    /// The bytes of native memory that the sort uses at most, for everything; a number below <see cref="BulkLoadOptions.MinMemoryBytes"/> counts
    /// as that.
    /// </summary>
    public long MemoryBytes { get; init; } = 64 << 20;

    /// <summary>The length of the longest key that will come; more memory is used if that is not enough to sort it.</summary>
    public int LongestKeyBytes { get; init; }

    /// <summary>Which of several entries with the same key is kept; null to keep all, in order of arrival.</summary>
    public DuplicateKeys? Duplicates { get; init; } = DuplicateKeys.LastWins;

    /// <summary>Ends the sort: the next call, and work that is under way on other threads, then throws.</summary>
    public CancellationToken Cancellation { get; init; }

    /// <summary>Counts the native memory; null for none.</summary>
    public MemoryAccount? Account { get; init; }

    /// <summary>False to do all work on the calling thread, so that the order of disk calls follows from the calls of the sort.</summary>
    public bool UsesPool { get; init; } = true;
}
