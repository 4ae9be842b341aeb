namespace Voron.Salvaging;

/// <summary>A range of keys whose page is lost.</summary>
/// <param name="Low">The separator before the page; null if the range has no lower end.</param>
/// <param name="High">The separator after the page; null if the range has no upper end.</param>
/// <param name="Page">The page.</param>
/// <param name="Reason">A sentence that describes its fault.</param>
internal sealed record LostKeys(byte[]? Low, byte[]? High, long Page, string Reason)
{
    /// <summary>The number of entries of the range that were found elsewhere.</summary>
    public long Found { get; set; }

    /// <summary>False if the range is below an unreachable page, so that its ends may be missing.</summary>
    public bool IsRoom { get; init; } = true;

    public bool Contains(ReadOnlySpan<byte> key) =>
        (Low == null || key.SequenceCompareTo(Low) >= 0) && (High == null || key.SequenceCompareTo(High) < 0);
}
