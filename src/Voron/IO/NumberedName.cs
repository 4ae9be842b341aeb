using System.Globalization;
using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// Names of the engine's files that carry a number: prefix, digits, suffix. One spelling for a number and no other, so that a name is
/// the engine's or it is not: what only looks like one belongs to somebody else.
/// </summary>
internal static class NumberedName
{
    private const int MinDigits = 8;

    public static string Of(string prefix, long number, string suffix) =>
        string.Create(CultureInfo.InvariantCulture, $"{prefix}{number:D8}{suffix}");

    /// <summary>The number in a name, from 1 on; -1 when it is not exactly such a name.</summary>
    public static long Parse(string name, string prefix, string suffix)
    {
        if (name.Length < prefix.Length + MinDigits + suffix.Length
            || !name.StartsWith(prefix, StringComparison.Ordinal) || !name.EndsWith(suffix, StringComparison.Ordinal))
            return -1;
        ReadOnlySpan<char> digits = name.AsSpan(prefix.Length, name.Length - prefix.Length - suffix.Length);
        bool isCanonical = digits.Length == MinDigits || digits[0] != '0' || PlantedFault.AcceptAnySpelling;
        return isCanonical && !digits.ContainsAnyExceptInRange('0', '9')
            && long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long number) && number > 0
            ? number
            : -1;
    }
}
