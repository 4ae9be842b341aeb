using System.CommandLine;
using System.Diagnostics;
using System.Text.Json;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>Runs one phase of <see cref="MemoryLimitsCommand"/> in this process. The result goes to standard output as JSON.</summary>
internal static class MemoryRunCommand
{
    public const string Name = "memory-run";

    public static Command Create()
    {
        var phase = new Argument<MemoryPhase>("phase");
        var directory = new Argument<string>("directory");
        var items = new Argument<long>("items");
        var limit = new Option<long?>("--memory-limit-bytes");
        var command = new Command(Name, "Runs one phase of memory-limits in this process and prints its result as JSON.") { phase, directory, items, limit };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            var workload = new MemoryWorkload(parsed.GetRequiredValue(directory), parsed.GetValue(items), parsed.GetValue(limit));
            Print(workload.Run(parsed.GetValue(phase), result =>
            {
                Print(result);

                // Ends by a signal instead of an exit, so that no code of the engine can clean up.
                Process.GetCurrentProcess().Kill();
            }));
        });
        return command;
    }

    private static void Print(MemoryPhaseResult result)
    {
        Console.Out.WriteLine(JsonSerializer.Serialize(result, ResultFile.Json));
        Console.Out.Flush();
    }
}
