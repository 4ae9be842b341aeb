using Voron.Format;

namespace Voron.Recovery;

/// <summary>The end of the chain, and the reason why it may end there.</summary>
internal sealed record JournalChainEnd
{
    /// <summary>The position after the last record.</summary>
    public required JournalPosition End { get; init; }

    /// <summary>The number of records in the chain.</summary>
    public required long Records { get; init; }

    /// <summary>The size of these records in bytes, padding included.</summary>
    public required long Bytes { get; init; }

    /// <summary>Records after the end, from writes that were in progress; null when there are none.</summary>
    public required DroppedTail? Dropped { get; init; }

    /// <summary>
    /// Seals that a new file must contain: for the file where the chain ends, as far as it was read, and for all later files.
    /// </summary>
    public required JournalSeal[] Seals { get; init; }

    /// <summary>
    /// The names of the live files after the end that have no record, not even one of a write that was in progress.
    /// </summary>
    public required IReadOnlyList<string> Unused { get; init; }

    /// <summary>The end of the chain's last record in each file.</summary>
    public required JournalSeal[] Ends { get; init; }

    /// <summary>
    /// True if the last record confirms the durability of all records before it, or if there is no record; in that case the header that
    /// names the start confirms it.
    /// </summary>
    public required bool IsDurabilityConfirmed { get; init; }
}
