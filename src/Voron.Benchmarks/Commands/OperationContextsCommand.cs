using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what the flow of the caller's execution context into an operation of a group commit costs.</summary>
internal static class OperationContextsCommand
{
    private static readonly string[] Columns =
        ["call", "set by the caller", "with the flow, ns", "without, ns", "difference, ns", "bytes with the flow", "without"];

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds")
        {
            Description = $"How often each pair is measured, with {OperationContexts.Operations} operations at a time.",
            DefaultValueFactory = _ => 500,
        };
        rounds.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1 && result.GetValueOrDefault<int>() < 2)
                result.AddError("--rounds must be at least 2.");
        });
        var command = new Command("contexts", "Measures the flow of the execution context into operations of group commits, in memory.") { rounds };
        output.AddTo(command);
        command.SetAction(async (parsed, _) =>
        {
            using var session = output.Begin(parsed);
            using var contexts = new OperationContexts();
            var rows = await contexts.MeasureAsync(parsed.GetValue(rounds)).ConfigureAwait(false);
            session.FinishWith(CreateReport(rows), new { session.Machine, rows });
        });
        return command;
    }

    public static Report CreateReport(IEnumerable<OperationContextRow> rows) => new(
        "The execution context of operations",
        [
            "Puts of one key into environments in memory, medians for an operation. With the flow and without it, they run in turn in one process.",
            "WriteAsync: a thousand operations wait at a time, and many share a transaction. Write: one caller, and a transaction for each operation.",
        ],
        [new ReportTable("An operation, with and without the flow", TextColumns: 2, Columns, [.. rows.Select(Cells)])]);

    private static string[] Cells(OperationContextRow row) =>
    [
        row.Call,
        row.Context switch
        {
            CallerContext.Default => "nothing",
            CallerContext.AsyncLocal => "an AsyncLocal",
            CallerContext.Activity => "an activity",
            _ => "flow suppressed",
        },
        Figures.Count(row.Flowing.Nanoseconds),
        Figures.Count(row.Separate.Nanoseconds),
        Figures.Count(row.Flowing.Nanoseconds - row.Separate.Nanoseconds),
        Figures.Decimal(row.Flowing.AllocatedBytes),
        Figures.Decimal(row.Separate.AllocatedBytes),
    ];
}
