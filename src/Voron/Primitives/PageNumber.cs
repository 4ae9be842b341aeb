namespace Voron.Primitives;

/// <summary>The number of a page in the data file: its byte offset divided by the page size.</summary>
/// <remarks>Page 0 always holds a section map, so 0 also serves as "no page" wherever a tree or an extent is named.</remarks>
internal readonly record struct PageNumber(long Value) : IComparable<PageNumber>
{
    /// <summary>No page. Never the number of a tree page or of an overflow extent.</summary>
    public static readonly PageNumber None;

    public bool IsNone => Value == 0;

    public static PageNumber operator +(PageNumber page, long pages) => new(page.Value + pages);

    public static long operator -(PageNumber left, PageNumber right) => left.Value - right.Value;

    public static bool operator <(PageNumber left, PageNumber right) => left.Value < right.Value;

    public static bool operator >(PageNumber left, PageNumber right) => left.Value > right.Value;

    public static bool operator <=(PageNumber left, PageNumber right) => left.Value <= right.Value;

    public static bool operator >=(PageNumber left, PageNumber right) => left.Value >= right.Value;

    public int CompareTo(PageNumber other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
