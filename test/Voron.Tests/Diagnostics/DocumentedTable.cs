namespace Voron.Tests.Diagnostics;

/// <summary>The rows of a table in a document of the project.</summary>
internal static class DocumentedTable
{
    /// <summary>Returns the cells of each row of the first table with that heading, without back quotes.</summary>
    public static IReadOnlyList<string[]> Read(string path, params string[] heading)
    {
        var lines = File.ReadAllLines(SourceTree.File(path));
        var first = Array.FindIndex(lines, line => line.StartsWith('|') && Cells(line).SequenceEqual(heading));
        first.Should().BeGreaterThanOrEqualTo(0, $"{path} has a table with the heading {string.Join(", ", heading)}");
        return lines.Skip(first + 2).TakeWhile(line => line.StartsWith('|')).Select(Cells).ToList();
    }

    private static string[] Cells(string line) =>
        line.Trim().Trim('|').Split('|').Select(cell => cell.Trim().Replace("`", "", StringComparison.Ordinal)).ToArray();
}
