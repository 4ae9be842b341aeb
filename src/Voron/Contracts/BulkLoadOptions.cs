namespace Voron;

/// <summary>Options of a bulk load.</summary>
public sealed class BulkLoadOptions
{
    /// <summary>The minimum of <see cref="MemoryBytes"/>.</summary>
    internal const long MinMemoryBytes = 1 << 20;

    /// <summary>
    /// True if the keys come in ascending order, each at most repeated directly: then nothing is sorted or spilled. A key below the last one is
    /// refused by an <see cref="InvalidOperationException"/>. For a table, these are the primary keys as it stores them. False by default.
    /// </summary>
    public bool Sorted { get; set; }

    /// <summary>
    /// What happens if the source has a key several times, or the tree has it already; the last value wins by default. For a table, this is the
    /// primary key.
    /// </summary>
    public DuplicateKeys Duplicates { get; set; }

    /// <summary>
    /// The memory for sorting, in bytes: at least 1 MiB. Entries beyond it go to a temporary file, which vanishes with the load, or with the process.
    /// Null, the default, for a quarter of <see cref="StorageOptions.MemoryLimitBytes"/>. This memory is not part of that limit, and is allocated as
    /// it is needed. Each index of a table takes a part of it, at least a megabyte or so.
    /// </summary>
    public long? MemoryBytes { get; set; }

    /// <summary>
    /// The directory of the temporary file; null, the default, for that of the environment. The file takes about the space of the entries, at most
    /// twice as much.
    /// </summary>
    public string? SpillDirectory { get; set; }

    /// <summary>
    /// Called for each 64 thousand entries or so, on the thread that takes or stores them, with no lock held; null for none. An exception from it
    /// ends the load.
    /// </summary>
    public IProgress<BulkLoadProgress>? Progress { get; set; }

    internal BulkLoadOptions Copy() => (BulkLoadOptions)MemberwiseClone();
}

/// <summary>What a bulk load does with a key that it finds several times. An entry or a row that exists already counts as the first.</summary>
public enum DuplicateKeys
{
    /// <summary>The last value is stored.</summary>
    LastWins,

    /// <summary>The first value is stored.</summary>
    FirstWins,

    /// <summary>The load ends with an <see cref="InvalidOperationException"/> that names the key.</summary>
    Refuse,
}

/// <summary>The progress of a bulk load.</summary>
/// <param name="EntriesTaken">The number of entries that the source has delivered.</param>
/// <param name="EntriesStored">The number of entries that were written to the tree, in key order.</param>
/// <param name="BytesTaken">The number of bytes of keys and values that the source has delivered.</param>
/// <param name="BytesSpilled">The number of bytes that the temporary file has.</param>
public readonly record struct BulkLoadProgress(long EntriesTaken, long EntriesStored, long BytesTaken, long BytesSpilled);

/// <summary>Describes a finished bulk load.</summary>
public sealed record BulkLoadReport
{
    /// <summary>The number of entries that the source has delivered.</summary>
    public long EntriesTaken { get; init; }

    /// <summary>The number of entries that were stored: fewer if keys were repeated.</summary>
    public long EntriesStored { get; init; }

    /// <summary>The number of bytes of keys and values that the source has delivered.</summary>
    public long BytesTaken { get; init; }

    /// <summary>The number of bytes that the temporary file had; 0 if there was none.</summary>
    public long BytesSpilled { get; init; }

    /// <summary>
    /// True if all entries became visible in one commit; false if the tree or table had entries, or was recorded, or shares an index with others, so
    /// that they were stored in several transactions.
    /// </summary>
    public bool IsAtomic { get; init; }

    /// <summary>The duration of the load, from its beginning.</summary>
    public TimeSpan Duration { get; init; }
}
