using System.Globalization;

namespace Voron.Tables;

/// <summary>The version of a row: a number that rises with each change of the row.</summary>
/// <remarks>
/// A caller that read a row earlier passes its version with a change, which is then refused if the row has been changed since. Only versions of
/// the same key are comparable. The number is suitable for an ETag.
/// </remarks>
/// <param name="Value">The number: 1 or more, and 0 where there is no row.</param>
public readonly record struct RowVersion(long Value)
{
    /// <summary>The version where there is no row: a change that expects it is refused if the key has a row.</summary>
    public static RowVersion None => default;

    /// <summary>Returns the number as text.</summary>
    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
