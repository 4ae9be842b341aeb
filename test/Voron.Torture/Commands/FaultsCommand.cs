using System.CommandLine;
using System.Globalization;
using System.Text;
using Voron.Torture.Faults;

namespace Voron.Torture.Commands;

/// <summary>Tests the suites themselves: plants one fault after the other, and reports which suite has found which fault.</summary>
internal static class FaultsCommand
{
    private static readonly string[] Columns = ["fault", "suite", "found", "cases", "seconds", "how"];

    public static Command Create()
    {
        var names = new Argument<string[]>("names") { Description = "The faults to plant; all if none is given.", Arity = ArgumentArity.ZeroOrMore };
        var seed = new Option<long?>("--seed")
        {
            Description = "Decides all choices; by default each hunt begins where the catalog says.",
            HelpName = "S",
        };
        var jobs = new Option<int>("--jobs")
        {
            Description = "The number of concurrent hunts; by default, the number of processors.",
            DefaultValueFactory = _ => Environment.ProcessorCount,
            HelpName = "N",
        };
        var noControl = new Option<bool>("--no-control") { Description = "Leaves out the same runs without a fault." };
        var markdown = new Option<string?>("--markdown") { Description = "Also writes the outcomes to this file.", HelpName = "FILE" };
        var command = new Command("faults", "Plants each fault of the catalog in the engine, and shows which suite finds it.")
        {
            names, seed, jobs, noControl, markdown,
        };
        command.SetAction(parsed =>
        {
            var chosen = parsed.GetValue(names) ?? [];
            FaultCase[] faults = chosen.Length == 0 ? [.. PlantedFaultCatalog.All] : [.. chosen.SelectMany(PlantedFaultCatalog.Find).Distinct()];
            foreach (var unfit in faults.Where(fault => fault.UnfitHere is not null))
                Console.WriteLine($"{unfit.Name} is NOT HUNTED by {unfit.Suite}: it {unfit.UnfitHere}.");
            faults = [.. faults.Where(fault => fault.UnfitHere is null)];
            var outcomes = Hunt(faults, parsed.GetValue(seed), parsed.GetValue(jobs));
            if (parsed.GetValue(markdown) is { } path)
                File.WriteAllText(path, ToMarkdown(outcomes));
            var findings = parsed.GetValue(noControl) ? 0 : Control(outcomes, parsed.GetValue(seed));
            var missed = outcomes.Count(outcome => outcome.Finding is null);
            Console.WriteLine($"{outcomes.Count - missed} passed, {missed + findings} failed");
            return missed + findings == 0 ? 0 : Program.ExitFailure;
        });
        return command;
    }

    // Each hunt is a process of its own, so several can run side by side.
    private static List<FaultOutcome> Hunt(FaultCase[] faults, long? seed, int jobs)
    {
        var outcomes = new FaultOutcome[faults.Length];
        Parallel.ForEach(Enumerable.Range(0, faults.Length), new ParallelOptions { MaxDegreeOfParallelism = jobs }, i =>
        {
            var fault = faults[i];
            outcomes[i] = seed is { } given ? FaultHunt.Run(fault, given) : FaultHunt.Run(fault, fault.Seed ?? FaultHunt.Seed, fault.First);
            Console.WriteLine(ToLine(outcomes[i]));
        });
        return [.. outcomes];
    }

    // A finding that a suite makes with the same runs in a sound engine would have been made with any fault.
    private static int Control(List<FaultOutcome> outcomes, long? seed)
    {
        var findings = 0;
        var hunts = outcomes.GroupBy(outcome =>
            (outcome.Fault.Suite, Seed: seed ?? outcome.Fault.Seed ?? FaultHunt.Seed, First: seed is null ? outcome.Fault.First : 0));
        foreach (var hunt in hunts)
        {
            var (suite, drawn, first) = hunt.Key;
            var finding = FaultHunt.RunControl(suite, hunt.Max(outcome => outcome.Cases), drawn, first);
            findings += finding is null ? 0 : 1;
            Console.WriteLine($"{suite} without a fault, seed {drawn} from run {first}: {finding ?? "nothing found"}.");
        }
        return findings;
    }

    private static string ToLine(FaultOutcome outcome)
    {
        var work = $"{outcome.Fault.Suite}, {outcome.Cases.ToString("N0", CultureInfo.InvariantCulture)} cases, {Seconds(outcome)} s";
        return outcome.Finding is { } finding
            ? $"  found: {outcome.Fault.Name} ({work}) {finding}"
            : $"[FAIL] {outcome.Fault.Name} was not found ({work}), so the suite has a gap. {outcome.Missed}";
    }

    private static string Seconds(FaultOutcome outcome) => outcome.Seconds.ToString("0.0", CultureInfo.InvariantCulture);

    private static string[] Cells(FaultOutcome outcome) =>
    [
        outcome.Fault.Name,
        outcome.Fault.Suite,
        outcome.Finding is null ? "NO" : "yes",
        outcome.Cases.ToString("N0", CultureInfo.InvariantCulture),
        Seconds(outcome),
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
