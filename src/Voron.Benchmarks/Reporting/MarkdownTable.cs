using System.Text;

namespace Voron.Benchmarks.Reporting;

/// <summary>A table in Markdown; the first columns are text, the others numbers.</summary>
internal static class MarkdownTable
{
    public static void Append(StringBuilder text, string title, int textColumns, string[] columns, IEnumerable<string[]> rows)
    {
        text.AppendLine().Append("## ").AppendLine(title).AppendLine();
        AppendRow(text, columns);
        text.Append('|');
        for (int i = 0; i < columns.Length; i++)
            text.Append(i < textColumns ? "---|" : "---:|");
        text.AppendLine();
        foreach (string[] row in rows)
            AppendRow(text, row);
    }

    private static void AppendRow(StringBuilder text, string[] cells)
    {
        text.Append('|');
        foreach (string cell in cells)
            text.Append(' ').Append(cell.Replace("|", "\\|", StringComparison.Ordinal)).Append(" |");
        text.AppendLine();
    }
}
