using Spectre.Console;

namespace Voron.Benchmarks.Reporting;

/// <summary>One look for every table: the first column names the row, the others are numbers.</summary>
internal static class Tables
{
    public static Table Create(string title, string firstColumn, params ReadOnlySpan<string> numberColumns)
    {
        Table table = new Table()
            .Border(TableBorder.Rounded)
            .Title(new TableTitle($"[bold]{Markup.Escape(title)}[/]"))
            .AddColumn(new TableColumn(Markup.Escape(firstColumn)));
        foreach (string column in numberColumns)
            table.AddColumn(new TableColumn(Markup.Escape(column)).RightAligned());
        return table;
    }
}
