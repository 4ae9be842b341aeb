using System.Globalization;
using System.Net;
using System.Text;

namespace Voron.Benchmarks.Reporting;

/// <summary>One line of a line chart.</summary>
internal sealed record ChartLine(string Name, IReadOnlyList<(double X, double Y)> Points);

/// <summary>A bar and what it is called.</summary>
internal sealed record ChartBar(string Name, double Value, bool IsOurs = false);

/// <summary>Small charts as SVG text: bars beside names, or lines over a common axis. No script, no style sheet.</summary>
internal static class SvgChart
{
    private const int Width = 860;
    private const int Margin = 16;
    private const int TitleHeight = 40;
    private const int BarHeight = 22;
    private const int NameWidth = 250;
    private const int NumberWidth = 110;
    private const int PlotHeight = 300;
    private const int AxisWidth = 90;
    private const int LegendHeight = 28;
    private const int GridLines = 5;

    private static readonly string[] Colors = ["#2f6f9f", "#d9822b", "#4f9a57", "#a6495a", "#7a62a8", "#777777"];

    public static string Bars(string title, string unit, IReadOnlyList<ChartBar> bars)
    {
        int height = TitleHeight + (bars.Count * BarHeight) + Margin;
        double largest = bars.Count == 0 ? 1 : Math.Max(bars.Max(bar => bar.Value), double.Epsilon);
        StringBuilder text = Begin($"{title} ({unit})", height);
        int room = Width - NameWidth - NumberWidth - (2 * Margin);
        for (int i = 0; i < bars.Count; i++)
        {
            int top = TitleHeight + (i * BarHeight);
            double length = Math.Max(1, room * Math.Max(0, bars[i].Value) / largest);
            string color = Colors[bars[i].IsOurs ? 0 : 5];
            Text(text, Margin + NameWidth - 8, top + 15, "end", bars[i].Name);
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"<rect x=\"{Margin + NameWidth}\" y=\"{top + 3}\" width=\"{length:0.#}\" height=\"{BarHeight - 6}\" fill=\"{color}\"/>");
            Text(text, Margin + NameWidth + length + 6, top + 15, "start", Number(bars[i].Value));
        }
        return End(text);
    }

    public static string Lines(string title, string xUnit, string yUnit, IReadOnlyList<ChartLine> lines)
    {
        int height = TitleHeight + PlotHeight + (2 * LegendHeight) + Margin;
        StringBuilder text = Begin($"{title} ({yUnit})", height);
        double right = Math.Max(1, lines.SelectMany(line => line.Points).Select(point => point.X).DefaultIfEmpty(1).Max());
        double top = Math.Max(double.Epsilon, lines.SelectMany(line => line.Points).Select(point => point.Y).DefaultIfEmpty(1).Max());
        int plotWidth = Width - AxisWidth - (2 * Margin);
        int left = Margin + AxisWidth;
        for (int i = 0; i <= GridLines; i++)
        {
            double y = TitleHeight + PlotHeight - ((double)PlotHeight * i / GridLines);
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"<line x1=\"{left}\" y1=\"{y:0.#}\" x2=\"{left + plotWidth}\" y2=\"{y:0.#}\" stroke=\"#dddddd\"/>");
            Text(text, left - 6, y + 4, "end", Number(top * i / GridLines));
            Text(text, left + ((double)plotWidth * i / GridLines), TitleHeight + PlotHeight + 18, "middle", Number(right * i / GridLines));
        }
        Text(text, left + plotWidth, TitleHeight + PlotHeight + 34, "end", xUnit);
        for (int i = 0; i < lines.Count; i++)
        {
            string color = Colors[i % Colors.Length];
            string points = string.Join(' ', lines[i].Points.Select(point => string.Create(
                CultureInfo.InvariantCulture,
                $"{left + (plotWidth * point.X / right):0.#},{TitleHeight + PlotHeight - (PlotHeight * point.Y / top):0.#}")));
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>");
            int legend = left + (i * 220);
            int bottom = height - Margin;
            text.AppendLine(
                CultureInfo.InvariantCulture,
                $"<rect x=\"{legend}\" y=\"{bottom - 10}\" width=\"12\" height=\"12\" fill=\"{color}\"/>");
            Text(text, legend + 18, bottom, "start", lines[i].Name);
        }
        return End(text);
    }

    private static StringBuilder Begin(string title, int height)
    {
        var text = new StringBuilder();
        text.AppendLine(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{Width}\" height=\"{height}\" viewBox=\"0 0 {Width} {height}\"");
        text.AppendLine(" font-family=\"sans-serif\" font-size=\"12\">");
        text.AppendLine(CultureInfo.InvariantCulture, $"<rect width=\"{Width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        text.AppendLine(
            CultureInfo.InvariantCulture,
            $"<text x=\"{Margin}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{WebUtility.HtmlEncode(title)}</text>");
        return text;
    }

    private static string End(StringBuilder text) => text.AppendLine("</svg>").ToString();

    private static void Text(StringBuilder text, double x, double y, string anchor, string content) => text.AppendLine(
        CultureInfo.InvariantCulture,
        $"<text x=\"{x:0.#}\" y=\"{y:0.#}\" text-anchor=\"{anchor}\">{WebUtility.HtmlEncode(content)}</text>");

    private static string Number(double value) => Math.Abs(value) switch
    {
        >= 1e9 => (value / 1e9).ToString("0.##", CultureInfo.InvariantCulture) + " G",
        >= 1e6 => (value / 1e6).ToString("0.##", CultureInfo.InvariantCulture) + " M",
        >= 1e4 => (value / 1e3).ToString("0.#", CultureInfo.InvariantCulture) + " k",
        >= 100 => value.ToString("0", CultureInfo.InvariantCulture),
        _ => value.ToString("0.##", CultureInfo.InvariantCulture),
    };
}
