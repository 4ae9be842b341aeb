namespace Voron;

/// <summary>The result of salvaging a tree: see <see cref="SalvageReport"/>.</summary>
public sealed record SalvagedTree
{
    /// <summary>The name of the tree in the new environment. Begins with <c>lost+found</c> if its name in the old one is not known.</summary>
    public required string Name { get; init; }

    /// <summary>The id of the tree in the old environment; null if it is not known.</summary>
    public required long? TreeId { get; init; }

    /// <summary>The number of entries that the tree had, according to its header; null if that is lost.</summary>
    public required long? Expected { get; init; }

    /// <summary>The number of entries that are <see cref="SalvageGrade.Proven"/>.</summary>
    public required long Proven { get; init; }

    /// <summary>The number of entries that are <see cref="SalvageGrade.Current"/>.</summary>
    public required long Current { get; init; }

    /// <summary>The number of entries that are <see cref="SalvageGrade.Stale"/>.</summary>
    public required long Stale { get; init; }

    /// <summary>
    /// The number of entries that were left out because a newer page has the same key, or because their page is stale and its value is gone.
    /// </summary>
    public required long Superseded { get; init; }

    /// <summary>The ranges of keys whose pages are lost; at most 10,000.</summary>
    public required IReadOnlyList<LostRange> LostRanges { get; init; }

    /// <summary>The entries whose values are lost; at most 10,000.</summary>
    public required IReadOnlyList<LostValue> LostValues { get; init; }

    /// <summary>The number of entries in the new environment.</summary>
    public long Found => Proven + Current + Stale;

    /// <summary>
    /// True if entries of the tree are missing: its header counts more than were found, a value is lost, or a range is lost and the header is, too.
    /// </summary>
    public bool HasLosses => LostValues.Count > 0 || (Expected is { } expected ? Found < expected : LostRanges.Count > 0);
}

/// <summary>
/// A range of keys whose page is lost. A key of a fixed-size tree is shown as 8 bytes, big-endian, with its highest bit inverted.
/// </summary>
/// <param name="Low">The lowest key that the range can contain; null if it has no lower end.</param>
/// <param name="High">The first key above the range; null if it has no upper end.</param>
/// <param name="Page">The number of the lost page.</param>
/// <param name="Found">The number of entries of the range that were found in pages to which no reference led.</param>
/// <param name="Reason">A sentence that describes the fault of the page.</param>
public sealed record LostRange(byte[]? Low, byte[]? High, long Page, long Found, string Reason);

/// <summary>An entry whose value is lost, or whose set of ids or values has lost some members.</summary>
/// <param name="Key">The key.</param>
/// <param name="Length">The size of the lost value in bytes; for a set, the bytes of its lost values, or nine bytes for each lost id.</param>
/// <param name="Reason">A sentence that describes the fault of the value.</param>
public sealed record LostValue(byte[] Key, long Length, string Reason);
