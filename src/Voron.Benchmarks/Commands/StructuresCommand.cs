using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures fixed-size trees beside ordinary ones.</summary>
internal static class StructuresCommand
{
    private const int SmallCommit = 100;
    private const int LargeCommit = 100_000;

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var entries = new Option<int>("--entries")
        {
            Description = "The entries of a tree that is filled in large transactions; one filled in small ones has a twentieth.",
            DefaultValueFactory = _ => 2_000_000,
        };
        var command = new Command("structures", "Measures fixed-size trees beside ordinary ones.") { rounds, entries };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var sizes = new Sizes(parsed.GetValue(rounds), parsed.GetValue(entries));
            session.CheckDevice(200L * sizes.Entries);
            await MeasureAsync(session, sizes, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, Sizes sizes, CancellationToken stop)
    {
        var trees = new List<FixedTreeRun>();
        await MeasuringSession.ShowProgressAsync(sizes.Rounds + 1, async progress =>
        {
            await Task.Yield();
            // The first one runs code that is still being compiled.
            MeasureRound(session, sizes with { Entries = sizes.Entries / 10 }, -1, [], stop);
            progress.Increment(1);
            for (var round = 0; round < sizes.Rounds; round++)
            {
                MeasureRound(session, sizes, round, trees, stop);
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        session.FinishWith(StructureTables.Create(trees), new { session.Machine, trees });
    }

    // Each round begins with another tree.
    private static void MeasureRound(MeasuringSession session, Sizes sizes, int round, List<FixedTreeRun> trees, CancellationToken stop)
    {
        var place = Path.Combine(session.Area.Path, "structures");
        var some = new List<FixedTreeRun>();
        foreach (var perCommit in new[] { SmallCommit, LargeCommit })
        {
            var entries = perCommit == SmallCommit ? sizes.Entries / 20 : sizes.Entries;
            for (var i = 0; i < 2; i++)
            {
                stop.ThrowIfCancellationRequested();
                some.Add(FixedTreeRun.Measure(place, isFixed: (i + round) % 2 == 0, entries, perCommit, round));
            }
        }

        foreach (var group in some.GroupBy(run => run.PerCommit))
        {
            if (group.Select(run => run.Checksum).Distinct().Count() > 1)
                throw new BenchmarkException("The answers differ: " + string.Join("; ", group.Select(run => $"{run.Tree}: {run.Checksum}")));
        }

        trees.AddRange(some);
    }

    private sealed record Sizes(int Rounds, int Entries);
}
