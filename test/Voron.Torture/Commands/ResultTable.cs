using System.Globalization;
using Spectre.Console;
using Voron.Simulation.Harness;

namespace Voron.Torture.Commands;

/// <summary>Prints the results of a call for people to read.</summary>
internal static class ResultTable
{
    private const int ShownSteps = 40;

    public static void Write(IReadOnlyList<SuiteResult> results)
    {
        var table = new Table().Border(TableBorder.Rounded);
        table.AddColumns("suite", "engine", "seed", "runs", "cases", "unit", "seconds", "failures", "also counted");
        foreach (var result in results)
        {
            var tallies = string.Join(", ", result.Tallies.Select(tally => $"{tally.Key} {Number(tally.Value)}"));
            table.AddRow(
                result.Suite,
                Markup.Escape(result.EngineVersion.Split('+')[0]),
                result.Seed.ToString(CultureInfo.InvariantCulture),
                Number(result.Runs),
                Number(result.Cases) + (result.IsComplete ? " (all)" : ""),
                result.Unit,
                result.Seconds.ToString("0.0", CultureInfo.InvariantCulture),
                result.Failures.Count == 0 ? "0" : $"[red]{result.Failures.Count}[/]",
                Markup.Escape(tallies));
        }
        AnsiConsole.Write(table);
        foreach (var result in results.Where(result => result.NotCovered.Count > 0).DistinctBy(result => result.Suite))
            Console.WriteLine($"{result.Suite} does not cover: {string.Join("; ", result.NotCovered)}");
        foreach (var failure in results.SelectMany(result => result.Failures))
            ReportFailure(failure);
    }

    private static void ReportFailure(Failure failure)
    {
        Console.WriteLine();
        Console.WriteLine($"{failure.Suite} failed in run {failure.Run} of seed {failure.Seed}: {failure.Message}");
        if (failure.Script is { } script && failure.Attempts > 0)
            Console.WriteLine($"{failure.Choices} choices were shrunk to {script.Count} in {failure.Attempts} attempts.");
        foreach (var step in failure.Steps.TakeLast(ShownSteps))
            Console.WriteLine($"  {step}");
        Console.WriteLine($"Run it again with {failure.Replay}");
    }

    private static string Number(long number) => number.ToString("N0", CultureInfo.InvariantCulture);
}
