namespace Voron.Compaction;

/// <summary>What became of a value that was to be moved.</summary>
internal enum ValueOutcome
{
    /// <summary>It was moved, or it is not there any more.</summary>
    Done,

    /// <summary>It was moved to lower pages, but not out of the tail: nowhere before the tail were enough free pages in a row.</summary>
    StillInTail,

    /// <summary>There are not enough free pages in a row for it.</summary>
    NoPlace,

    /// <summary>Other callers have needed the tail from which it was to be moved.</summary>
    NoTail,
}
