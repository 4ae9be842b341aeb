namespace Voron.Benchmarks.Reporting;

/// <summary>Formats numbers for the tables.</summary>
internal static class Figures
{
    public const string None = "n/a";

    public static string Count(double? value) => value?.ToString("N0", CultureInfo.InvariantCulture) ?? None;

    public static string Decimal(double? value) => value?.ToString("N2", CultureInfo.InvariantCulture) ?? None;

    public static string Microseconds(double? value) => value?.ToString("N1", CultureInfo.InvariantCulture) ?? None;

    public static string Percent(double? share) => share is null ? None : (share.Value * 100).ToString("N1", CultureInfo.InvariantCulture) + " %";

    public static string Ratio(double? value) => value is null ? None : value.Value.ToString("N2", CultureInfo.InvariantCulture) + "x";

    /// <summary>Uses decimal units, like the published figures.</summary>
    public static string Bytes(double? value) => value switch
    {
        null => None,
        >= 1e9 => $"{value / 1e9:N2} GB",
        >= 1e6 => $"{value / 1e6:N1} MB",
        >= 1e3 => $"{value / 1e3:N1} KB",
        _ => $"{value:N0} B",
    };

    /// <summary>Returns the middle value, or the mean of the two middle ones.</summary>
    public static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        var middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>Returns the median of the runs that have a figure, or null if none has.</summary>
    public static double? Median<T>(IEnumerable<T> runs, Func<T, double?> figure)
    {
        double[] known = [.. runs.Select(figure).OfType<double>()];
        return known.Length == 0 ? null : Median(known);
    }
}
