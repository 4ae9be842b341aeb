using System.CommandLine;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;

namespace Voron.Benchmarks.Commands;

/// <summary>Runs the suites under BenchmarkDotNet, with all of its options.</summary>
internal static class SuitesCommand
{
    public static Command Create()
    {
        var markdown = CommandOptions.Markdown();
        var arguments = new Argument<string[]>("arguments")
        {
            Description = "Passed to BenchmarkDotNet, for example --filter '*' or --list flat.",
            Arity = ArgumentArity.ZeroOrMore,
            CaptureRemainingTokens = true,
        };
        var command = new Command("bdn", "Runs the BenchmarkDotNet suites.") { markdown, arguments };
        command.SetAction(parsed =>
        {
            var started = DateTimeOffset.UtcNow;
            Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(SuitesCommand).Assembly).Run(parsed.GetValue(arguments) ?? [])];
            if (parsed.GetValue(markdown) is { } path)
            {
                var report = new Report("The BenchmarkDotNet suites", [], [.. summaries.Select(TableOf)]);
                var commandLine = CommandOptions.CommandLine(parsed.Tokens.Select(token => token.Value));
                File.WriteAllText(path, report.ToMarkdown(commandLine, started, MachineSummary.Describe(Directory.GetCurrentDirectory()), []));
            }
            string[] failed =
            [
                .. summaries.SelectMany(summary => summary.Reports)
                    .Where(report => !report.Success)
                    .Select(report => report.BenchmarkCase.DisplayInfo),
            ];
            if (failed.Length > 0 || summaries.Any(summary => summary.HasCriticalValidationErrors))
                throw new BenchmarkException($"{failed.Length} benchmarks failed. {string.Join("; ", failed)}".Trim());
        });
        return command;
    }

    /// <summary>The columns that BenchmarkDotNet itself shows.</summary>
    private static ReportTable TableOf(Summary summary)
    {
        SummaryTable.SummaryTableColumn[] columns = [.. summary.Table.Columns.Where(column => column.NeedToShow)];
        return new ReportTable(
            summary.BenchmarksCases.FirstOrDefault()?.Descriptor.Type.Name ?? summary.Title,
            TextColumns: 1,
            Array.ConvertAll(columns, column => column.Header),
            [.. Enumerable.Range(0, summary.Table.FullContent.Length).Select(row => Array.ConvertAll(columns, column => column.Content[row]))]);
    }
}
