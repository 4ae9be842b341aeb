using System.CommandLine;
using Voron.Benchmarks.Suites;

namespace Voron.Benchmarks.Commands;

/// <summary>One small benchmark so many times over and nothing else: what <see cref="InstructionsCommand"/> has counted.</summary>
internal static class RunMicroCommand
{
    public static Command Create()
    {
        var name = new Option<string>("--name") { Required = true };
        var times = new Option<long>("--times") { Required = true };
        var command = new Command("run-micro", "Runs a small benchmark so many times.") { name, times };
        command.Hidden = true;
        command.SetAction(parsed =>
        {
            using MicroBenchmark benchmark = MicroBenchmark.Prepare(parsed.GetRequiredValue(name));
            benchmark.Run(parsed.GetValue(times));
        });
        return command;
    }
}
