using System.Globalization;

namespace Voron.Tables;

/// <summary>The version of a row: a number that rises with each change of the row.</summary>
/// <remarks>
/// A caller that read a row earlier passes its version with a change, which is then refused if the row has been changed since. Only versions of
/// the same key are comparable. The number is suitable for an ETag.
/// </remarks>
/// <param name="Value">The number: at least 1, or 0 if the row does not exist.</param>
public readonly record struct RowVersion(long Value)
{
    /// <summary>The version of a row that does not exist: a change that expects it is refused if the row exists.</summary>
    public static RowVersion None => default;

    /// <summary>Returns the number as text.</summary>
    public override string ToString() => Value.ToString(CultureInfo.InvariantCulture);
}
