using System.CommandLine;
using Voron.Benchmarks.Engines.Counters;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what layers above the engine build upon: counters, dropped trees and attached objects.</summary>
internal static class BuildingBlocksCommand
{
    private static readonly int[] IncrementsPerCommit = [100, 10_000];

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var gibibytes = new Option<double>("--gib") { Description = "The size of the tree to drop in GiB.", DefaultValueFactory = _ => 1 };
        var increments = new Option<int>("--increments")
        {
            Description = "The increments of a run with large transactions; a run with small ones has a tenth of them.",
            DefaultValueFactory = _ => 1_000_000,
        };
        var beginnings = new Option<int>("--beginnings")
        {
            Description = "The read transactions of a round.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var command = new Command("building-blocks", "Measures counters beside peers, dropped trees beside a writer, and attached objects.")
        {
            rounds, gibibytes, increments, beginnings,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var bytes = (long)(parsed.GetValue(gibibytes) * (1L << 30));
            session.CheckDevice(3 * bytes);
            var sizes = new Sizes(parsed.GetValue(rounds), bytes, parsed.GetValue(increments), parsed.GetValue(beginnings));
            await MeasureAsync(session, sizes, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, Sizes sizes, CancellationToken stop)
    {
        var counters = new List<CounterRun>();
        var drops = new List<DropRound>();
        var states = new List<AttachedStateRound>();
        await MeasuringSession.ShowProgressAsync(sizes.Rounds + 1, async progress =>
        {
            var words = new WordStream();

            // The first one runs code that is still being compiled.
            Count(session, words, sizes with { Increments = sizes.Increments / 10 }, -1, stop);
            progress.Increment(1);
            for (var round = 0; round < sizes.Rounds; round++)
            {
                counters.AddRange(Count(session, words, sizes, round, stop));
                var place = Directory.CreateDirectory(Path.Combine(session.Area.Path, $"round-{round}")).FullName;
                drops.Add(await DropRound.MeasureAsync(place, sizes.Bytes, dropsFirst: round % 2 == 0, stop).ConfigureAwait(false));
                states.Add(AttachedStateRound.Measure(sizes.Beginnings));
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        session.FinishWith(
            BuildingBlockTables.Create(sizes.Bytes, counters, drops, states), new { session.Machine, counters, drops, states });
    }

    // Each round begins with another engine.
    private static List<CounterRun> Count(MeasuringSession session, WordStream words, Sizes sizes, int round, CancellationToken stop)
    {
        CounterWay[] ways = [.. CounterCatalog.All.Where(way => way.IsInstalled())];
        var runs = new List<CounterRun>();
        var each = words.Each();
        foreach (var perCommit in IncrementsPerCommit)
        {
            var drawn = words.Draw(perCommit == IncrementsPerCommit[^1] ? sizes.Increments : sizes.Increments / 10, round);
            for (var i = 0; i < ways.Length; i++)
            {
                stop.ThrowIfCancellationRequested();
                var way = ways[(i + round + 1) % ways.Length];
                runs.Add(CounterRun.Measure(way, Path.Combine(session.Area.Path, "counters"), each, drawn, perCommit));
            }
        }

        CheckSums(runs);
        return runs;
    }

    private static void CheckSums(List<CounterRun> runs)
    {
        foreach (var group in runs.GroupBy(run => run.IncrementsPerCommit))
        {
            if (group.Select(run => run.Checksum).Distinct().Count() > 1)
            {
                throw new BenchmarkException(
                    "The counters differ: " + string.Join("; ", group.Select(run => $"{run.Way}: {run.Checksum}")));
            }
        }
    }

    private sealed record Sizes(int Rounds, long Bytes, int Increments, int Beginnings);
}
