using System.Globalization;

namespace Voron.Tool;

/// <summary>Numbers as a person reads them.</summary>
internal static class Sizes
{
    private static readonly string[] Units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

    /// <summary>Returns a number of bytes with its unit, such as "1.5 MiB".</summary>
    public static string Bytes(double bytes)
    {
        var unit = 0;
        while (Math.Abs(bytes) >= 1024 && unit < Units.Length - 1)
        {
            bytes /= 1024;
            unit++;
        }

        var format = unit == 0 || Math.Abs(bytes) >= 100 ? "0" : Math.Abs(bytes) >= 10 ? "0.#" : "0.##";
        return $"{bytes.ToString(format, CultureInfo.InvariantCulture)} {Units[unit]}";
    }

    /// <summary>Returns a number with separators of thousands.</summary>
    public static string Count(double number) =>
        number.ToString(number is > -10 and < 10 && number != Math.Floor(number) ? "N1" : "N0", CultureInfo.InvariantCulture);

    /// <summary>Returns a duration, such as "0.4 s", "12 min" or "3.5 h".</summary>
    public static string Seconds(double seconds) => seconds switch
    {
        < 120 => string.Create(CultureInfo.InvariantCulture, $"{seconds:F1} s"),
        < 7_200 => string.Create(CultureInfo.InvariantCulture, $"{seconds / 60:F0} min"),
        < 172_800 => string.Create(CultureInfo.InvariantCulture, $"{seconds / 3_600:F1} h"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{seconds / 86_400:F1} days"),
    };
}
