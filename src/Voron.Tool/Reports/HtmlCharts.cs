using System.Globalization;
using System.Text;
using static Voron.Tool.Reports.HtmlText;

namespace Voron.Tool.Reports;

/// <summary>The drawings of the page, in SVG. Their colors come from the style of the page: light, dark, or for paper.</summary>
internal static class HtmlCharts
{
    /// <summary>The steps of the scale from free to used.</summary>
    private const int Shades = 6;

    private const int Width = 960;
    private const int BarHeight = 150;
    private const int MostBars = 60;

    /// <summary>The width of the smallest bar, so that it can be seen.</summary>
    private const double Least = 0.8;

    /// <summary>Draws the parts of the data file as squares, from left to right and from top to bottom, in shades from free to used.</summary>
    public static string HeatMap(IReadOnlyList<SpaceCell> cells, int pageSize)
    {
        const int Step = 15;
        var columns = Math.Clamp((int)Math.Ceiling(Math.Sqrt(cells.Count * 4.0)), 1, 64);
        var rows = (cells.Count + columns - 1) / columns;
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"<svg viewBox=\"0 0 {columns * Step} {rows * Step}\" style=\"max-width:{columns * Step}px\" ");
        text.Append("role=\"img\" aria-label=\"Used pages by place in the data file\">");
        for (var i = 0; i < cells.Count; i++)
        {
            var cell = cells[i];
            var from = Sizes.Bytes(cell.FirstPage * (double)pageSize);
            var to = Sizes.Bytes((cell.FirstPage + cell.Pages) * (double)pageSize);
            text.Append(
                CultureInfo.InvariantCulture,
                $"<rect class=\"u{ShadeOf(cell.UsedFraction)}\" x=\"{i % columns * Step}\" y=\"{i / columns * Step}\" width=\"13\" height=\"13\">");
            text.Append(CultureInfo.InvariantCulture, $"<title>{from} to {to}: {Percent(cell.UsedFraction)} used</title></rect>");
        }

        return text.Append("</svg>").ToString();
    }

    /// <summary>Draws a square of a class of the style, for a legend.</summary>
    public static string Key(string kind) => $"<svg class=\"key\" viewBox=\"0 0 13 13\"><rect class=\"{kind}\" width=\"13\" height=\"13\"/></svg>";

    /// <summary>Explains the shades of <see cref="HeatMap"/>.</summary>
    public static string HeatLegend()
    {
        var text = new StringBuilder("<p class=\"legend\">free ");
        for (var shade = 0; shade < Shades; shade++)
            text.Append(Key($"u{shade}"));
        return text.Append(" all used</p>").ToString();
    }

    /// <summary>Draws a bar of which parts have a kind each.</summary>
    /// <param name="parts">The class of each part in the style, and its size.</param>
    /// <param name="whole">The size that the whole width stands for.</param>
    public static string Bar(IReadOnlyList<(string Kind, double Size)> parts, double whole)
    {
        var text = new StringBuilder("<svg class=\"bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
        text.Append("<rect class=\"rest\" width=\"100\" height=\"4\"/>");
        var total = parts.Sum(part => part.Size);
        var scale = total <= 0 ? 0 : Math.Max(100 / Math.Max(whole, total), Least / total);
        var at = 0.0;
        foreach (var (kind, size) in parts)
        {
            var width = Math.Min(size * scale, 100 - at);
            text.Append(CultureInfo.InvariantCulture, $"<rect class=\"{kind}\" x=\"{Number(at)}\" width=\"{Number(width)}\" height=\"4\"/>");
            at += width;
        }

        return text.Append("</svg>").ToString();
    }

    /// <summary>Draws columns.</summary>
    /// <param name="label">A description of them.</param>
    /// <param name="columns">The height of each, and what is said of it.</param>
    /// <param name="below">The text below the first column, in the middle, and below the last one.</param>
    public static string Columns(
        string label, IReadOnlyList<(double Height, string Remark)> columns, (string First, string Middle, string Last) below)
    {
        var step = Width / (double)Math.Max(1, columns.Count);
        var highest = Math.Max(1e-9, columns.Max(column => column.Height));
        var text = new StringBuilder("<figure><svg class=\"columns\" preserveAspectRatio=\"none\" role=\"img\" ");
        text.Append(CultureInfo.InvariantCulture, $"viewBox=\"0 0 {Width} {BarHeight}\" aria-label=\"{Escape(label)}\">");
        for (var i = 0; i < columns.Count; i++)
        {
            var height = Math.Max(columns[i].Height > 0 ? 1.5 : 0, BarHeight * columns[i].Height / highest);
            text.Append(CultureInfo.InvariantCulture, $"<rect class=\"leaf\" x=\"{Number(i * step)}\" y=\"{Number(BarHeight - height)}\" ");
            text.Append(CultureInfo.InvariantCulture, $"width=\"{Number(step * 0.85)}\" height=\"{Number(height)}\">");
            text.Append(CultureInfo.InvariantCulture, $"<title>{Escape(columns[i].Remark)}</title></rect>");
        }

        text.Append(CultureInfo.InvariantCulture, $"</svg><figcaption><span>{Escape(below.First)}</span>");
        text.Append(CultureInfo.InvariantCulture, $"<span>{Escape(below.Middle)}</span><span>{Escape(below.Last)}</span></figcaption></figure>");
        return text.ToString();
    }

    /// <summary>Adds up neighbours until there are no more than can be drawn.</summary>
    public static List<FlushRecord> Gather(IReadOnlyList<FlushRecord> flushes)
    {
        var each = (flushes.Count + MostBars - 1) / MostBars;
        return flushes.Count == 0
            ? []
            : [.. flushes.Chunk(each).Select(part => new FlushRecord(part[0].From, part[^1].To, part.Sum(flush => flush.Pages)))];
    }

    // Only what is wholly free or wholly used has the outer shades.
    private static int ShadeOf(double used) => used <= 0 ? 0 : used >= 1 ? Shades - 1 : 1 + (int)(used * (Shades - 2));
}
