namespace Voron.FreeSpace;

/// <summary>
/// The sections from which nothing is allocated although they have free pages: single ones, while their blocks are being returned or allocated,
/// and the tail of the file while a compaction empties it. Used only by the holder of the writer.
/// </summary>
internal sealed class WithheldSections
{
    private const long NoTail = long.MaxValue;

    private readonly HashSet<long> _single = [];

    /// <summary>The first section of the tail; greater than all sections when there is no tail.</summary>
    public long TailStart { get; private set; } = NoTail;

    /// <summary>
    /// The first page that is to become free: in the first section of the tail, which is not offered to others either, or in the first section of
    /// the file.
    /// </summary>
    public long TailPage { get; private set; } = NoTail;

    /// <summary>True while the tail of the file is withheld.</summary>
    public bool HasTail => TailStart != NoTail;

    /// <summary>True if nothing may be allocated from the section.</summary>
    public bool Contains(long section) => section >= TailStart || IsSingle(section);

    /// <summary>True if the section is withheld because blocks of its pages are being returned or allocated.</summary>
    public bool IsSingle(long section) => _single.Count > 0 && _single.Contains(section);

    /// <summary>Withholds a single section; returns false if it is withheld already.</summary>
    public bool Add(long section) => _single.Add(section);

    /// <summary>Ends the withholding of a single section.</summary>
    public void Remove(long section) => _single.Remove(section);

    /// <summary>Withholds all sections from one on, and no section before it except single ones.</summary>
    /// <param name="section">The first section.</param>
    /// <param name="page">The first page that is to become free.</param>
    public void SetTail(long section, long page) => (TailStart, TailPage) = (section, page);

    /// <summary>Ends the withholding of the tail.</summary>
    public void RemoveTail() => SetTail(NoTail, NoTail);
}
