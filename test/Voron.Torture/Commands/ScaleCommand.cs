using System.CommandLine;
using System.Globalization;
using Voron.Torture.Scale;

namespace Voron.Torture.Commands;

/// <summary>
/// Measures the cost of verification, scrub, reclaim, opening and recovery in a store of a hundred gigabytes, as a table.
/// </summary>
internal static class ScaleCommand
{
    public static Command Create()
    {
        var size = new Option<double>("--gigabytes") { Description = "Bytes of the store.", DefaultValueFactory = _ => 100, HelpName = "N" };
        var trees = new Option<int>("--trees") { Description = "Trees in it.", DefaultValueFactory = _ => 100_000, HelpName = "N" };
        var command = new Command("scale", "Measures operations that take longer the larger a store is: time, memory, the longest stall of a writer.")
        {
            size, trees,
        };
        command.SetAction(parsed =>
        {
            using var run = new ScaleRun((long)(parsed.GetValue(size) * (1L << 30)), parsed.GetValue(trees));
            Console.WriteLine(ScaleResult.Header);
            Console.WriteLine(ScaleResult.Line);
            run.Run(result => Console.WriteLine(result.ToRow()));
            Console.WriteLine();
            Console.WriteLine($"{run.Pages.ToString("N0", CultureInfo.InvariantCulture)} pages of 4 KiB.");
            return 0;
        });
        return command;
    }
}
