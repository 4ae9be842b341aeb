using System.Text;
using Spectre.Console;

namespace Voron.Benchmarks.Reporting;

/// <summary>A table of a report. The first columns are text and aligned to the left, the others are numbers.</summary>
internal sealed record ReportTable(string Title, int TextColumns, string[] Columns, IReadOnlyList<string[]> Rows)
{
    public void Write(IAnsiConsole console)
    {
        var table = new Table().Border(TableBorder.Rounded).Title(new TableTitle($"[bold]{Markup.Escape(Title)}[/]"));
        for (var i = 0; i < Columns.Length; i++)
        {
            var column = new TableColumn(Markup.Escape(Columns[i]));
            table.AddColumn(i < TextColumns ? column : column.RightAligned());
        }
        foreach (var row in Rows)
            table.AddRow(Array.ConvertAll(row, Markup.Escape));
        console.Write(table);
    }

    public void AppendMarkdown(StringBuilder text)
    {
        text.AppendLine().Append("## ").AppendLine(Title).AppendLine();
        AppendRow(text, Columns);
        text.Append('|');
        for (var i = 0; i < Columns.Length; i++)
            text.Append(i < TextColumns ? "---|" : "---:|");
        text.AppendLine();
        foreach (var row in Rows)
            AppendRow(text, row);
    }

    private static void AppendRow(StringBuilder text, string[] cells)
    {
        text.Append('|');
        foreach (var cell in cells)
            text.Append(' ').Append(cell.Replace("|", "\\|", StringComparison.Ordinal)).Append(" |");
        text.AppendLine();
    }
}

/// <summary>A table of goals and verdicts. A goal whose figure was not measured has no verdict.</summary>
internal sealed class TableGoals
{
    private readonly List<string[]> _rows = [];

    public void AtLeast(string figure, double? measured, double goal) => Add(figure, measured, $"at least {Figures.Decimal(goal)}", measured >= goal);

    public void AtMost(string figure, double? measured, double goal) => Add(figure, measured, $"at most {Figures.Decimal(goal)}", measured <= goal);

    public ReportTable ToTable() => new("Goals", TextColumns: 1, ["figure", "measured", "goal", "verdict"], _rows);

    private void Add(string figure, double? measured, string goal, bool isMet) =>
        _rows.Add([figure, Figures.Decimal(measured), goal, measured == null ? Figures.None : isMet ? "met" : "missed"]);
}
