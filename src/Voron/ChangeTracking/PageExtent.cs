namespace Voron.ChangeTracking;

/// <summary>Adjacent pages.</summary>
internal readonly record struct PageExtent(long First, long Pages) : IComparable<PageExtent>
{
    /// <summary>The page after the last one.</summary>
    public long End => First + Pages;

    public int CompareTo(PageExtent other) => First.CompareTo(other.First);
}
