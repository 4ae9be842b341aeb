namespace Voron;

/// <summary>How much is known of an entry that a salvage has found.</summary>
public enum SalvageGrade
{
    /// <summary>Reached from a verified root through verified pages of one state.</summary>
    Proven,

    /// <summary>
    /// In a verified page that a verified map marks as used, but not reached from a root; or reached, but header, journal and data file may be from
    /// different moments.
    /// </summary>
    Current,

    /// <summary>In a verified page that is free, or whose use is not known: perhaps deleted, or of an older version.</summary>
    Stale,
}
