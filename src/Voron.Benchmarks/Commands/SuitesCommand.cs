using System.CommandLine;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Voron.Benchmarks.Commands;

/// <summary>Hands over to BenchmarkDotNet, with all of its own options.</summary>
internal static class SuitesCommand
{
    public static Command Create()
    {
        var arguments = new Argument<string[]>("arguments")
        {
            Description = "Passed on as they are, e.g. --filter '*' or --list flat.",
            Arity = ArgumentArity.ZeroOrMore,
            CaptureRemainingTokens = true,
        };
        var command = new Command("bdn", "Runs the BenchmarkDotNet suites.") { arguments };
        command.SetAction(parsed =>
        {
            Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(SuitesCommand).Assembly).Run(parsed.GetValue(arguments) ?? [])];
            string[] failed =
            [
                .. summaries.SelectMany(summary => summary.Reports)
                    .Where(report => !report.Success)
                    .Select(report => report.BenchmarkCase.DisplayInfo),
            ];
            if (failed.Length > 0 || summaries.Any(summary => summary.HasCriticalValidationErrors))
                throw new BenchmarkException($"Benchmarks that failed: {failed.Length}. {string.Join("; ", failed)}".Trim());
        });
        return command;
    }
}
