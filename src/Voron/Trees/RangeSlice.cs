namespace Voron.Trees;

/// <summary>Selects the entries of a range to return, and their order. Entries can be cut off at either end of the range.</summary>
/// <remarks>
/// Initially, entries are skipped and taken from the start of the range or, if it is reversed, from its end. Reversing a slice that has already been
/// cut turns it: from then on, entries are cut off at its other end.
/// </remarks>
internal readonly record struct RangeSlice
{
    private RangeSlice(long take) => (Limit, OuterLimit) = (take, take);

    /// <summary>All entries in key order.</summary>
    public static RangeSlice All => new(long.MaxValue);

    /// <summary>True if the first cuts are made at the end of the range. Entries are then in descending order unless the slice is turned.</summary>
    public bool IsReversed { get; private init; }

    /// <summary>The number of entries cut off first.</summary>
    public long Skipped { get; private init; }

    /// <summary>The maximum number of entries after those skipped.</summary>
    public long Limit { get; private init; }

    /// <summary>True if the slice was reversed after the first cuts.</summary>
    public bool IsTurned { get; private init; }

    /// <summary>In a turned slice, the number of entries cut off at the other end of the first slice.</summary>
    public long OuterSkipped { get; private init; }

    /// <summary>In a turned slice, the maximum number of entries after those skipped at that end.</summary>
    public long OuterLimit { get; private init; }

    /// <summary>True if the slice can be reversed: it has not been turned and then cut.</summary>
    public bool CanReverse => !IsTurned || (OuterSkipped == 0 && OuterLimit == long.MaxValue);

    /// <summary>The number of entries in the range beyond which further ones make no difference.</summary>
    public long EntriesNeeded => Sum(Skipped, Limit);

    public RangeSlice Reversed()
    {
        if (IsTurned)
            return this with { IsTurned = false };
        return Skipped == 0 && Limit == long.MaxValue ? this with { IsReversed = !IsReversed } : this with { IsTurned = true };
    }

    public RangeSlice Skipping(long count) => IsTurned
        ? this with { OuterSkipped = Sum(OuterSkipped, count), OuterLimit = Rest(OuterLimit, count) }
        : this with { Skipped = Sum(Skipped, count), Limit = Rest(Limit, count) };

    public RangeSlice Taking(long count) =>
        IsTurned ? this with { OuterLimit = Math.Min(OuterLimit, count) } : this with { Limit = Math.Min(Limit, count) };

    /// <summary>Returns the number of entries in this slice of a range with <paramref name="rangeCount"/> entries.</summary>
    public long Count(long rangeCount)
    {
        var count = Math.Clamp(rangeCount - Skipped, 0, Limit);
        return IsTurned ? Math.Clamp(count - OuterSkipped, 0, OuterLimit) : count;
    }

    /// <summary>Describes the slice for a debugger or a log; empty for all entries in key order.</summary>
    public string Describe() =>
        Text(IsReversed, ", reversed") + Text(Skipped > 0, $", without {Skipped}") + Text(Limit < long.MaxValue, $", at most {Limit}")
        + Text(IsTurned, ", reversed") + Text(OuterSkipped > 0, $", without {OuterSkipped}")
        + Text(IsTurned && OuterLimit < long.MaxValue, $", at most {OuterLimit}");

    private static string Text(bool isShown, string text) => isShown ? text : "";

    private static long Sum(long one, long other) => one > long.MaxValue - other ? long.MaxValue : one + other;

    private static long Rest(long take, long skipped) => take == long.MaxValue ? take : Math.Max(0, take - skipped);
}
