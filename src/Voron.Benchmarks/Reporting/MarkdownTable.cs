using System.Text;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Voron.Benchmarks.Reporting;

/// <summary>A table in Markdown; the first columns are text, the others numbers.</summary>
internal static class MarkdownTable
{
    public static void Append(StringBuilder text, string title, int textColumns, string[] columns, IEnumerable<string[]> rows)
    {
        text.AppendLine().Append("### ").AppendLine(title).AppendLine();
        AppendRow(text, columns);
        text.Append('|');
        for (int i = 0; i < columns.Length; i++)
            text.Append(i < textColumns ? "---|" : "---:|");
        text.AppendLine();
        foreach (string[] row in rows)
            AppendRow(text, row);
    }

    /// <summary>A table made for the terminal; its first column is text.</summary>
    public static void Append(StringBuilder text, Table table) => Append(
        text,
        Plain(new Markup(table.Title?.Text ?? "")),
        textColumns: 1,
        [.. table.Columns.Select(column => Plain(column.Header))],
        table.Rows.Select(row => row.Select(Plain).ToArray()));

    private static string Plain(IRenderable cell) =>
        string.Concat(cell.GetSegments(AnsiConsole.Console).Select(segment => segment.Text)).Trim().ReplaceLineEndings(" ");

    private static void AppendRow(StringBuilder text, string[] cells)
    {
        text.Append('|');
        foreach (string cell in cells)
            text.Append(' ').Append(cell.Replace("|", "\\|", StringComparison.Ordinal)).Append(" |");
        text.AppendLine();
    }
}
