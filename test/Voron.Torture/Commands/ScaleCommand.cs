using System.CommandLine;
using System.Globalization;
using Voron.Torture.Scale;

namespace Voron.Torture.Commands;

/// <summary>What verification, scrub, reclaim, opening and recovery cost in a store of a hundred gigabytes, as a table.</summary>
internal static class ScaleCommand
{
    public static Command Create()
    {
        var size = new Option<double>("--gigabytes") { Description = "Bytes of the store.", DefaultValueFactory = _ => 100, HelpName = "N" };
        var trees = new Option<int>("--trees") { Description = "Trees in it.", DefaultValueFactory = _ => 100_000, HelpName = "N" };
        var command = new Command("scale", "Measures what takes the longer the larger a store is: time, memory, the longest stall of a writer.")
        {
            size, trees,
        };
        command.SetAction(parsed =>
        {
            using var run = new ScaleRun((long)(parsed.GetValue(size) * (1L << 30)), parsed.GetValue(trees));
            Console.WriteLine("| operation | seconds | managed memory asked for | resident memory, growth at most | longest commit meanwhile |");
            Console.WriteLine("|---|---:|---:|---:|---:|");
            run.Run(result => Console.WriteLine(ToRow(result)));
            Console.WriteLine();
            Console.WriteLine($"{run.Pages.ToString("N0", CultureInfo.InvariantCulture)} pages of 4 KiB.");
            return 0;
        });
        return command;
    }

    private static string ToRow(ScaleResult result) => string.Create(
        CultureInfo.InvariantCulture,
        $"| {result.Operation} | {result.Seconds:0.00} | {ToMebibytes(result.Allocated)} | {ToMebibytes(result.Resident)} | {ToMilliseconds(result.LongestStall)} |");

    private static string ToMebibytes(long bytes) => (bytes / (double)(1 << 20)).ToString("0.0", CultureInfo.InvariantCulture) + " MiB";

    private static string ToMilliseconds(TimeSpan? time) =>
        time is { } stall ? stall.TotalMilliseconds.ToString("0", CultureInfo.InvariantCulture) + " ms" : "";
}
