namespace Voron.FreeSpace;

/// <summary>Contiguous free pages reserved for the bytes of a value that no transaction has taken yet.</summary>
/// <remarks>Its owner may change its length until it is ended. <see cref="ReservedPages"/> keeps the pages.</remarks>
internal sealed class PageReservation(long first, long pages)
{
    private int _isEnded;

    /// <summary>The first page.</summary>
    public long First { get; } = first;

    /// <summary>The number of pages.</summary>
    public long Pages { get; set; } = pages;

    /// <summary>The page after the last one.</summary>
    public long End => First + Pages;

    /// <summary>The next one in the list of ended reservations.</summary>
    public PageReservation? Next { get; set; }

    /// <summary>Claims the right to end the reservation; returns true for one caller only.</summary>
    public bool TryEnd() => Interlocked.Exchange(ref _isEnded, 1) == 0;
}
