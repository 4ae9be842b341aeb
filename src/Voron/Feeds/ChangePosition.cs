using System.Globalization;

namespace Voron.Feeds;

/// <summary>A position in a feed: after one change, and before the next one.</summary>
/// <remarks>
/// A consumer stores the position of the last batch that it has processed, and continues after it. Positions of one feed sort in the order of its
/// changes. A position belongs to one feed of one environment; a feed recognizes the positions of other feeds and of deleted feeds, and reports that
/// changes between them and its own may be lost.
/// </remarks>
/// <param name="TransactionId">The transaction of the change.</param>
/// <param name="Ordinal">The place of the change in its transaction. Ordinals rise, and may have gaps.</param>
/// <param name="Stamp">Identifies the feed, and its environment, to which the position belongs.</param>
public readonly record struct ChangePosition(long TransactionId, uint Ordinal, long Stamp) : IComparable<ChangePosition>
{
    /// <summary>The position before the first change that a feed has ever recorded.</summary>
    public static ChangePosition Start => default;

    /// <summary>Compares two positions. Only positions of one feed have an order.</summary>
    public int CompareTo(ChangePosition other) =>
        TransactionId != other.TransactionId ? TransactionId.CompareTo(other.TransactionId) : Ordinal.CompareTo(other.Ordinal);

    /// <summary>True if the first position is before the second one.</summary>
    public static bool operator <(ChangePosition left, ChangePosition right) => left.CompareTo(right) < 0;

    /// <summary>True if the first position is after the second one.</summary>
    public static bool operator >(ChangePosition left, ChangePosition right) => left.CompareTo(right) > 0;

    /// <summary>True if the first position is not after the second one.</summary>
    public static bool operator <=(ChangePosition left, ChangePosition right) => left.CompareTo(right) <= 0;

    /// <summary>True if the first position is not before the second one.</summary>
    public static bool operator >=(ChangePosition left, ChangePosition right) => left.CompareTo(right) >= 0;

    /// <summary>Returns the position as text, which <see cref="TryParse"/> reads.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{TransactionId}-{Ordinal}-{Stamp:x16}");

    /// <summary>Reads a position that <see cref="ToString"/> has written.</summary>
    /// <param name="text">The text.</param>
    /// <param name="position">The position; <see cref="Start"/> if the text is not one.</param>
    /// <returns>False if the text is not a position.</returns>
    public static bool TryParse(string? text, out ChangePosition position)
    {
        position = default;
        var parts = (text ?? "").Split('-');
        if (parts.Length != 3
            || !long.TryParse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture, out var transactionId)
            || !uint.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out var ordinal)
            || parts[2].Length != 2 * sizeof(long)
            || !long.TryParse(parts[2], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var stamp))
            return false;
        position = new ChangePosition(transactionId, ordinal, stamp);
        return true;
    }
}
