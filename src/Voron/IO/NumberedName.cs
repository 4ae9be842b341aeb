using System.Globalization;
using Voron.Testing;

namespace Voron.IO;

/// <summary>
/// The numbered names of the engine's files: prefix, digits, suffix. A number has exactly one spelling, so that a name either belongs to the
/// engine or does not: a name that only looks similar belongs to another owner.
/// </summary>
internal static class NumberedName
{
    private const int MinDigits = 8;

    public static string Of(string prefix, long number, string suffix) =>
        string.Create(CultureInfo.InvariantCulture, $"{prefix}{number:D8}{suffix}");

    /// <summary>Returns the number in a name, from 1 on; -1 when the name is not exactly of this form.</summary>
    public static long Parse(string name, string prefix, string suffix)
    {
        if (name.Length < prefix.Length + MinDigits + suffix.Length
            || !name.StartsWith(prefix, StringComparison.Ordinal) || !name.EndsWith(suffix, StringComparison.Ordinal))
            return -1;
        var digits = name.AsSpan(prefix.Length, name.Length - prefix.Length - suffix.Length);
        var isCanonical = digits.Length == MinDigits || digits[0] != '0' || PlantedFault.AcceptAnySpelling;
        return isCanonical && !digits.ContainsAnyExceptInRange('0', '9')
            && long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number > 0
            ? number
            : -1;
    }
}
