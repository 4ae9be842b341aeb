namespace Voron.Compaction;

/// <summary>The outcome of moving a value.</summary>
internal enum ValueOutcome
{
    /// <summary>It was moved, or is no longer in the tail.</summary>
    Done,

    /// <summary>It was moved to lower pages, but not out of the tail: there were not enough contiguous free pages before the tail.</summary>
    StillInTail,

    /// <summary>There are not enough contiguous free pages for it.</summary>
    NoPlace,

    /// <summary>Other callers have needed the tail that contains it.</summary>
    NoTail,
}
