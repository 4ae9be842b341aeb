using System.Globalization;
using System.Net;
using System.Text;

namespace Voron.Tool.Reports;

/// <summary>Text of an environment within a page of HTML.</summary>
internal static class HtmlText
{
    /// <summary>The number of characters of a name that are shown.</summary>
    private const int LongestName = 120;

    /// <summary>Returns text that is shown as it is, whatever it has. It may be used between tags and within quoted attributes.</summary>
    public static string Escape(string text)
    {
        var plain = new StringBuilder(text.Length);
        foreach (var rune in text.EnumerateRunes())
        {
            // A page must not have these, and what a person cannot see would hide what the name is.
            if (Rune.GetUnicodeCategory(rune) is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator
                or UnicodeCategory.ParagraphSeparator or UnicodeCategory.PrivateUse or UnicodeCategory.OtherNotAssigned)
            {
                plain.Append(CultureInfo.InvariantCulture, $"\\u{{{rune.Value:X}}}");
            }
            else
            {
                plain.Append(rune);
            }
        }

        return WebUtility.HtmlEncode(plain.ToString());
    }

    /// <summary>Returns the name of a tree, which is cut if it is long. Its direction of writing does not affect the text around it.</summary>
    public static string Name(string name)
    {
        if (name.Length <= LongestName)
            return $"<bdi>{Escape(name)}</bdi>";
        var length = char.IsHighSurrogate(name[LongestName - 1]) ? LongestName - 1 : LongestName;
        return $"<bdi title=\"{Escape(name)}\">{Escape(name[..length])}…</bdi>";
    }

    /// <summary>Returns a number for an attribute of SVG.</summary>
    public static string Number(double number) => number.ToString("0.##", CultureInfo.InvariantCulture);

    /// <summary>Returns a part of a whole, such as "12.5 %".</summary>
    public static string Percent(double fraction) => fraction is > 0 and < 0.001
        ? "&lt; 0.1 %"
        : fraction.ToString(fraction is > 0 and < 0.1 ? "P1" : "P0", CultureInfo.InvariantCulture);

    /// <summary>Returns a time in UTC.</summary>
    public static string Time(DateTimeOffset time) => time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
}
