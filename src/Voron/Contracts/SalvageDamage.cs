namespace Voron;

/// <summary>Damage found by a salvage: see <see cref="SalvageReport"/>.</summary>
/// <param name="File">The name of the file.</param>
/// <param name="Page">The number of the page; null if the damage does not concern a page of the data file.</param>
/// <param name="Offset">The offset in the file, in bytes; null if the damage has no particular position.</param>
/// <param name="Expected">The expected value, such as a checksum; null if there is nothing to compare.</param>
/// <param name="Actual">The value found; null if there is nothing to compare.</param>
/// <param name="Message">A sentence that describes the damage.</param>
public sealed record SalvageDamage(string File, long? Page, long? Offset, string? Expected, string? Actual, string Message)
{
    /// <inheritdoc/>
    public override string ToString() => Message;
}

/// <summary>How much is known about a salvaged entry.</summary>
public enum SalvageGrade
{
    /// <summary>Reached from a verified root through verified pages of one state.</summary>
    Proven,

    /// <summary>
    /// In a verified page that a verified map marks as used, but not reached from a root. Or reached from a root, but the header, the journal and the
    /// data file may be from different moments.
    /// </summary>
    Current,

    /// <summary>In a verified page that is free, or of unknown use: perhaps deleted, or an older version.</summary>
    Stale,
}
