using System.CommandLine;
using System.Diagnostics;
using Spectre.Console;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Suites;

namespace Voron.Benchmarks.Commands;

/// <summary>
/// The small benchmarks in instructions instead of nanoseconds, which a noisy machine leaves alone. Each is run in a process of
/// its own, few times and many times, and the difference taken, so that start and compilation drop out.
/// </summary>
internal static class InstructionsCommand
{
    private const int FewTimes = 50;
    private const long MaxTimes = 200_000;
    private static readonly TimeSpan NativeTime = TimeSpan.FromMilliseconds(40);

    public static Command Create()
    {
        var names = new Argument<string[]>("names")
        {
            Description = "Which of them, such as MicroSuite.SearchPage or a part of such a name; all when none is given.",
            Arity = ArgumentArity.ZeroOrMore,
        };
        Option<string?> markdown = CommonOptions.Markdown();
        var command = new Command("instructions", "Counts the instructions of the small benchmarks, by perf stat or else callgrind, under which whole environments do not run.") { names, markdown };
        command.SetAction(parsed =>
        {
            string[] parts = parsed.GetValue(names) ?? [];
            string[] chosen =
            [
                .. MicroBenchmark.Names.Where(
                    name => parts.Length == 0 || parts.Any(part => name.Contains(part, StringComparison.OrdinalIgnoreCase))),
            ];
            if (chosen.Length == 0)
                throw new BenchmarkException($"There is no such benchmark. There are: {string.Join(", ", MicroBenchmark.Names)}.");
            InstructionCounter counter = InstructionCounter.Find();
            string[] columns = ["benchmark", $"instructions ({counter.Name})", "ns here", "managed bytes"];
            List<string[]> rows = [];
            foreach (string name in chosen)
            {
                AnsiConsole.WriteLine(name);
                rows.Add(Measure(name, counter));
            }
            Table table = Tables.Create("One operation", columns[0], columns.AsSpan(1));
            foreach (string[] row in rows)
                table.AddRow(row);
            AnsiConsole.Write(table);
            if (parsed.GetValue(markdown) is { } path)
            {
                var text = new System.Text.StringBuilder();
                MarkdownTable.Append(text, "One operation", 1, columns, rows);
                File.WriteAllText(path, text.ToString());
            }
        });
        return command;
    }

    private static string[] Measure(string name, InstructionCounter counter)
    {
        double nanoseconds;
        double bytes;
        int operations;
        using (MicroBenchmark benchmark = MicroBenchmark.Prepare(name))
        {
            operations = benchmark.Operations;
            _ = Time(benchmark, NativeTime, out _);
            nanoseconds = Time(benchmark, NativeTime, out bytes);
        }
        long many = FewTimes + (long)Math.Clamp(NativeTime.TotalNanoseconds / nanoseconds, FewTimes, MaxTimes);
        long? difference = counter.Count(name, many) - counter.Count(name, FewTimes);
        return
        [
            name,
            Figures.Count((double?)difference / (many - FewTimes) / operations),
            Figures.Decimal(nanoseconds / operations),
            Figures.Decimal(bytes / operations),
        ];
    }

    private static double Time(MicroBenchmark benchmark, TimeSpan atLeast, out double bytesEach)
    {
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        long started = Stopwatch.GetTimestamp();
        long times = 0;
        for (long step = 16; Stopwatch.GetElapsedTime(started) < atLeast; times += step)
            benchmark.Run(step);
        double nanoseconds = Stopwatch.GetElapsedTime(started).TotalNanoseconds / times;
        bytesEach = (double)(GC.GetAllocatedBytesForCurrentThread() - allocated) / times;
        return nanoseconds;
    }
}
