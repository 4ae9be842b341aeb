using System.CommandLine;
using System.Globalization;
using System.Text;
using Spectre.Console;
using Voron.Torture.Faults;

namespace Voron.Torture.Commands;

/// <summary>Tests the suites themselves: plants one fault after the other, and reports which suite has found which fault.</summary>
internal static class FaultsCommand
{
    private static readonly string[] Columns = ["fault", "suite", "found", "cases", "seconds", "how"];

    public static Command Create()
    {
        var names = new Argument<string[]>("names") { Description = "The faults to plant; all if none is given.", Arity = ArgumentArity.ZeroOrMore };
        var seed = new Option<long>("--seed") { Description = "Decides all choices.", DefaultValueFactory = _ => 1, HelpName = "S" };
        var markdown = new Option<string?>("--markdown") { Description = "Also writes the table to this file.", HelpName = "FILE" };
        var command = new Command("faults", "Plants each fault of the catalog in the engine, and shows which suite finds it.") { names, seed, markdown };
        command.SetAction(parsed =>
        {
            var chosen = parsed.GetValue(names) ?? [];
            FaultCase[] faults = chosen.Length == 0 ? [.. PlantedFaultCatalog.All] : [.. chosen.Select(PlantedFaultCatalog.Find)];
            var outcomes = Hunt(faults, parsed.GetValue(seed));
            Write(outcomes);
            var isClean = Control(outcomes, parsed.GetValue(seed));
            if (parsed.GetValue(markdown) is { } path)
                File.WriteAllText(path, ToMarkdown(outcomes));
            return isClean && outcomes.All(outcome => outcome.Finding is not null) ? 0 : Program.ExitFailure;
        });
        return command;
    }

    private static List<FaultOutcome> Hunt(FaultCase[] faults, long seed)
    {
        var outcomes = new List<FaultOutcome>();
        AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .Start(context =>
            {
                var task = context.AddTask("faults", maxValue: faults.Length);
                foreach (var fault in faults)
                {
                    task.Description = fault.Name;
                    outcomes.Add(FaultHunt.Run(fault, seed));
                    task.Increment(1);
                }
            });
        return outcomes;
    }

    // A finding that a suite makes with the same runs in a sound engine would have been made with any fault.
    private static bool Control(List<FaultOutcome> outcomes, long seed)
    {
        var isClean = true;
        foreach (var hunts in outcomes.GroupBy(outcome => outcome.Fault.Suite))
        {
            var cases = hunts.Max(outcome => outcome.Cases);
            var finding = FaultHunt.RunControl(hunts.Key, cases, seed);
            isClean &= finding is null;
            Console.WriteLine($"{hunts.Key} without a fault, the same runs: {finding ?? "nothing found"}.");
        }
        return isClean;
    }

    private static void Write(List<FaultOutcome> outcomes)
    {
        var table = new Table().Border(TableBorder.Rounded).AddColumns(Columns);
        foreach (var outcome in outcomes)
            table.AddRow([.. Cells(outcome).Select(Markup.Escape)]);
        AnsiConsole.Write(table);
        Console.WriteLine($"{outcomes.Count(outcome => outcome.Finding is not null)} of {outcomes.Count} planted faults were found.");
        foreach (var missed in outcomes.Where(outcome => outcome.Finding is null))
            Console.WriteLine($"{missed.Fault.Name} was not found by {missed.Fault.Suite}: a hole in the suite.");
    }

    private static string[] Cells(FaultOutcome outcome) =>
    [
        outcome.Fault.Name,
        outcome.Fault.Suite,
        outcome.Finding is null ? "NO" : "yes",
        outcome.Cases.ToString("N0", CultureInfo.InvariantCulture),
        outcome.Seconds.ToString("0.0", CultureInfo.InvariantCulture),
        outcome.Finding ?? outcome.Missed ?? "",
    ];

    private static string ToMarkdown(List<FaultOutcome> outcomes)
    {
        var text = new StringBuilder();
        text.AppendLine($"| {string.Join(" | ", Columns)} |");
        text.AppendLine("|---|---|---|---:|---:|---|");
        foreach (var outcome in outcomes)
            text.AppendLine($"| {string.Join(" | ", Cells(outcome).Select(cell => cell.Replace("|", "\\|", StringComparison.Ordinal)))} |");
        return text.ToString();
    }
}
