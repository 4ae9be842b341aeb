namespace Voron.Tables;

/// <summary>The sizes and bit positions of fixed-size fields that are not plain numbers.</summary>
internal static class FixedField
{
    /// <summary>The size of a 128-bit integer.</summary>
    public const int WideSize = 16;

    /// <summary>The size of a GUID, whose bytes are in the order of its text.</summary>
    public const int GuidSize = 16;

    /// <summary>The size of a point in time with its offset: ticks in UTC (8) and minutes (2).</summary>
    public const int DateTimeOffsetSize = sizeof(long) + sizeof(short);

    /// <summary>The position of the two kind bits above the ticks of a point in time.</summary>
    public const int KindShift = 62;
}
