using System.CommandLine;
using System.Globalization;
using System.Text;
using System.Xml.Linq;
using Spectre.Console;
using Voron.Simulation.Harness;

namespace Voron.Torture.Commands;

/// <summary>Lists the branches of the engine that the tests did not take, from a report in Cobertura format.</summary>
internal static class CoverageCommand
{
    private static readonly string[] Columns = ["folder", "lines", "covered", "branches", "covered"];

    public static Command Create()
    {
        var file = new Argument<string>("report") { Description = "A coverage.cobertura.xml; scripts/coverage.sh makes one." };
        var folders = new Option<string[]>("--folders")
        {
            Description = "The folders whose missing branches are listed.",
            AllowMultipleArgumentsPerToken = true,
            DefaultValueFactory = _ => ["Journal", "Transactions", "Flushing", "FreeSpace", "Paging"],
        };
        var markdown = new Option<string?>("--markdown") { Description = "Also writes the table and the list to this file.", HelpName = "FILE" };
        var command = new Command("coverage", "Lists the branches of the engine that the tests have not taken.") { file, folders, markdown };
        command.SetAction(parsed =>
        {
            var lines = Load(parsed.GetRequiredValue(file));
            var listed = parsed.GetValue(folders) ?? [];
            var table = new Table().Border(TableBorder.Rounded).AddColumns(Columns);
            var text = new StringBuilder();
            text.AppendLine($"| {string.Join(" | ", Columns)} |").AppendLine("|---|---:|---:|---:|---:|");
            foreach (var folder in lines.GroupBy(line => line.Folder).OrderBy(group => group.Key, StringComparer.Ordinal))
            {
                var row = Row(folder);
                table.AddRow(row);
                text.AppendLine($"| {string.Join(" | ", row)} |");
            }
            AnsiConsole.Write(table);
            text.AppendLine();
            foreach (var missing in Missing(lines, listed))
            {
                Console.WriteLine(missing);
                text.AppendLine($"- {missing}");
            }
            if (parsed.GetValue(markdown) is { } path)
                File.WriteAllText(path, text.ToString());
        });
        return command;
    }

    // The report lists a line once for each method that contains it, including closures and generic instances.
    private static List<SourceLine> Load(string path)
    {
        if (!File.Exists(path))
            throw new TortureException($"{path} does not exist.");
        return
        [
            .. XDocument.Load(path).Descendants("class")
                .SelectMany(type => type.Element("lines")!.Elements("line").Select(line => Parse((string)type.Attribute("filename")!, line)))
                .Where(line => line.Folder != "obj")
                .GroupBy(line => (line.File, line.Number))
                .Select(group => group.MaxBy(line => (line.Taken, line.IsHit))!),
        ];
    }

    private static SourceLine Parse(string file, XElement line)
    {
        var at = file.Replace('\\', '/').LastIndexOf("src/Voron/", StringComparison.Ordinal);
        var name = at < 0 ? file : file[(at + "src/Voron/".Length)..];
        var taken = 0;
        var branches = 0;

        // The attribute has the form "50% (1/2)".
        if ((string?)line.Attribute("condition-coverage") is { } coverage && coverage.Split('(', '/', ')') is [_, var some, var all, ..])
        {
            taken = int.Parse(some, CultureInfo.InvariantCulture);
            branches = int.Parse(all, CultureInfo.InvariantCulture);
        }
        return new SourceLine(name, (int)line.Attribute("number")!, (long)line.Attribute("hits")! > 0, taken, branches);
    }

    private static string[] Row(IGrouping<string, SourceLine> folder)
    {
        var lines = folder.Count();
        var branches = folder.Sum(line => line.Branches);
        return
        [
            folder.Key.Length == 0 ? "(root)" : folder.Key,
            lines.ToString("N0", CultureInfo.InvariantCulture),
            Share(folder.Count(line => line.IsHit), lines),
            branches.ToString("N0", CultureInfo.InvariantCulture),
            Share(folder.Sum(line => line.Taken), branches),
        ];
    }

    private static IEnumerable<string> Missing(List<SourceLine> lines, string[] folders) =>
        lines.Where(line => folders.Contains(line.Folder) && line.Taken < line.Branches)
            .GroupBy(line => line.File)
            .OrderBy(group => group.Key, StringComparer.Ordinal)
            .Select(group => $"{group.Key}: {string.Join(", ", group.OrderBy(line => line.Number))}");

    private static string Share(int part, int whole) => whole == 0 ? "-" : ((double)part / whole).ToString("P1", CultureInfo.InvariantCulture);

    private sealed record SourceLine(string File, int Number, bool IsHit, int Taken, int Branches)
    {
        public override string ToString() => $"{Number} ({Taken}/{Branches})";

        public string Folder => File.Contains('/', StringComparison.Ordinal) ? File[..File.IndexOf('/', StringComparison.Ordinal)] : "";
    }
}
