using System.CommandLine;
using System.Text.Json;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// Runs one workload on one engine in this process. Other commands start it, and it can be started under a profiler. The result goes
/// to standard output as JSON, progress and errors to standard error.
/// </summary>
internal static class RunOneCommand
{
    public static Command Create()
    {
        var engine = new Option<string>("--engine") { Required = true };
        var workload = new Option<string>("--workload") { Required = true };
        var directory = new Option<string>("--directory") { Required = true };
        var items = new Option<long>("--items") { Required = true };
        var operations = new Option<long>("--operations") { Required = true };
        var round = new Option<int>("--round");
        var limit = new Option<double>("--limit");
        var command = new Command("run-one", "Runs a single workload in this process and prints its result as JSON.")
        {
            engine, workload, directory, items, operations, round, limit,
        };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            var request = new RunRequest(
                parsed.GetRequiredValue(engine),
                WorkloadCatalog.Find(parsed.GetRequiredValue(workload)),
                parsed.GetRequiredValue(directory),
                parsed.GetRequiredValue(items),
                parsed.GetRequiredValue(operations),
                parsed.GetValue(round))
            {
                Limit = TimeSpan.FromSeconds(parsed.GetValue(limit)),
            };
            if (request.Items < 1 || request.Operations < 1)
                throw new BenchmarkException("--items and --operations must be at least 1.");
            if (request.Workload.CreatesStore && request.Items != request.Operations)
                throw new BenchmarkException("This workload inserts one item per operation: --items and --operations must be equal.");
            using var errors = Console.OpenStandardError();
            BenchmarkEngine? open = null;
            Action<BenchmarkEngine>? leaveOpen = request.Workload.EndsInCrash ? engine => open = engine : null;
            var result = WorkloadRunner.Run(request, new ProgressSignal(errors), leaveOpen);
            Console.Out.WriteLine(JsonSerializer.Serialize(result, ResultFile.Json));
            if (leaveOpen is null)
                return;

            // Ends by a signal instead of an exit, so that no code of the engine can clean up.
            Console.Out.Flush();
            Process.GetCurrentProcess().Kill();
            GC.KeepAlive(open);
        });
        return command;
    }
}
