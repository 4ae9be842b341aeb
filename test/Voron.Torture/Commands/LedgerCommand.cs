using System.CommandLine;
using System.Globalization;
using System.Text;
using Spectre.Console;
using Voron.Simulation.Harness;

namespace Voron.Torture.Commands;

/// <summary>Prints all results in a ledger, summed up by suite and engine.</summary>
internal static class LedgerCommand
{
    private const int ShownSeeds = 4;

    private static readonly string[] Columns =
        ["suite", "engine", "seeds", "runs", "cases", "of a full run", "unit", "minutes", "failures", "not covered"];

    public static Command Create()
    {
        var file = new Argument<string>("ledger") { Description = "A file that --ledger has written." };
        var markdown = new Option<string?>("--markdown") { Description = "Also writes the table to this file.", HelpName = "FILE" };
        var command = new Command("ledger", "Sums up the runs and their results.") { file, markdown };
        command.SetAction(parsed =>
        {
            var path = parsed.GetRequiredValue(file);
            if (!File.Exists(path))
                throw new TortureException($"{path} does not exist.");
            string[][] rows =
            [
                .. Ledger.Load(path)
                    .Where(result => result.Fault is null)
                    .GroupBy(result => (result.Suite, Version: result.EngineVersion))
                    .Select(group => Row(group.Key.Suite, group.Key.Version, [.. group])),
            ];
            var table = new Table().Border(TableBorder.Rounded).AddColumns(Columns);
            var text = new StringBuilder();
            text.AppendLine($"| {string.Join(" | ", Columns)} |").AppendLine("|---|---|---|---:|---:|---:|---|---:|---:|---|");
            foreach (var row in rows)
            {
                table.AddRow([.. row.Select(Markup.Escape)]);
                text.AppendLine($"| {string.Join(" | ", row)} |");
            }
            AnsiConsole.Write(table);
            if (parsed.GetValue(markdown) is { } target)
                File.WriteAllText(target, text.ToString());
        });
        return command;
    }

    private static string[] Row(string suite, string version, SuiteResult[] results)
    {
        (var runs, var cases) = Ledger.Distinct(results);
        string[] seeds = [.. results.Select(result => result.Seed.ToString(CultureInfo.InvariantCulture)).Distinct()];
        return
        [
            suite,
            version,
            string.Join(' ', seeds.Take(ShownSeeds)) + (seeds.Length > ShownSeeds ? $" and {seeds.Length - ShownSeeds} more" : ""),
            Number(runs),
            Number(cases),
            results.Any(result => result.IsComplete)
                ? "all"
                : ((double)cases / Math.Max(1, results[^1].FullCount)).ToString("P2", CultureInfo.InvariantCulture),
            results[^1].Unit,
            (results.Sum(result => result.Seconds) / 60).ToString("0.0", CultureInfo.InvariantCulture),
            Number(results.Sum(result => result.Failures.Count)),
            string.Join("; ", results[^1].NotCovered),
        ];
    }

    private static string Number(long number) => number.ToString("N0", CultureInfo.InvariantCulture);
}
