using System.Xml.Linq;

namespace Voron.Benchmarks.Reporting;

/// <summary>
/// A picture of the rates: a field for each workload, with a bar for each engine, whose length is its share of the greatest rate of the field.
/// It follows the colours of the page that shows it, light or dark.
/// </summary>
internal sealed class ComparisonChart(
    IReadOnlyList<WorkloadDefinition> workloads, IReadOnlyList<string> engines, Medians medians, Medians durable)
{
    private const int FieldsInRow = 3;
    private const int Margin = 16;
    private const int FieldWidth = 380;
    private const int TitleHeight = 28;
    private const int HeadHeight = 52;
    private const int BarHeight = 11;
    private const int BarDistance = 16;
    private const int NameWidth = 108;
    private const int MaxBarWidth = 150;
    private const int Gap = 6;

    private const string Style = """
        text { font: 12px system-ui, sans-serif; fill: #1f2328 }
        .title { font-weight: 600; font-size: 13px }
        .head { font-weight: 600; font-size: 16px }
        .name { text-anchor: end }
        .ours { fill: #0969da } .peer { fill: #8c959f } .lazy { fill: none; stroke: #8c959f; stroke-dasharray: 3 2 }
        @media (prefers-color-scheme: dark) {
          text { fill: #d1d7e0 }
          .ours { fill: #58a6ff } .peer { fill: #7d8590 } .lazy { stroke: #7d8590 }
        }
        """;

    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";

    private int FieldHeight => TitleHeight + (engines.Count * BarDistance) + Margin;

    public XDocument ToSvg()
    {
        var rows = (workloads.Count + FieldsInRow - 1) / FieldsInRow;
        var width = (2 * Margin) + (FieldsInRow * FieldWidth);
        var height = HeadHeight + (rows * FieldHeight);
        return new XDocument(new XElement(
            Svg + "svg",
            new XAttribute("viewBox", Text($"0 0 {width} {height}")),
            new XAttribute("width", width),
            new XAttribute("height", height),
            new XElement(Svg + "style", Style),
            Label("head", Margin, 22, "Operations a second of Voron, and those of its peers as a multiple of them"),
            Label(null, Margin, 42, "Longer is faster, within a workload. Dashed: not each commit is durable."),
            workloads.Select((workload, i) =>
                Field(workload, Margin + (i % FieldsInRow * FieldWidth), HeadHeight + (i / FieldsInRow * FieldHeight)))));
    }

    private XElement Field(WorkloadDefinition workload, int left, int top)
    {
        var greatest = engines.Max(engine => medians.Rate(workload, engine)) ?? 1;
        var ours = medians.Rate(workload, EngineCatalog.Voron);
        return new XElement(
            Svg + "g",
            new XAttribute("transform", Text($"translate({left} {top})")),
            Label("title", Gap, TitleHeight - 8, workload.Title),
            engines.Select((engine, i) => Bar(workload, engine, TitleHeight + (i * BarDistance), greatest, ours)));
    }

    private IEnumerable<XElement> Bar(WorkloadDefinition workload, string engine, int top, double greatest, double? ours)
    {
        var rate = medians.Rate(workload, engine);
        var width = (rate ?? 0) / greatest * MaxBarWidth;
        var kind = durable.Rate(workload, engine) is null ? "lazy" : EngineCatalog.Find(engine).IsOurs ? "ours" : "peer";
        yield return Label("name", NameWidth, top + BarHeight - 1, engine);
        if (rate is not null)
        {
            yield return new XElement(
                Svg + "rect", new XAttribute("class", kind), new XAttribute("x", NameWidth + Gap), new XAttribute("y", top),
                new XAttribute("width", Text($"{width:0.#}")), new XAttribute("height", BarHeight));
        }
        var figure = rate is null ? "not measured" : engine == EngineCatalog.Voron || ours is null ? Figures.Count(rate) : Figures.Ratio(rate / ours);
        yield return Label(null, (int)(NameWidth + (2 * Gap) + width), top + BarHeight - 1, figure);
    }

    private static XElement Label(string? kind, int left, int baseline, string text) => new(
        Svg + "text", kind is null ? null : new XAttribute("class", kind), new XAttribute("x", left), new XAttribute("y", baseline), text);

    private static string Text(FormattableString text) => FormattableString.Invariant(text);
}
