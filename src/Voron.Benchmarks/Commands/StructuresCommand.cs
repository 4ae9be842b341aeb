using System.CommandLine;
using Voron.Benchmarks.Engines.IdSets;
using Voron.Benchmarks.Engines.ValueSets;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures fixed-size trees beside ordinary ones, and id sets and value sets beside those of peers.</summary>
internal static class StructuresCommand
{
    private const int SmallCommit = 100;
    private const int LargeCommit = 100_000;

    // With fewer, the smallest tree or set of the first round would be empty.
    private const int MinEntries = 1000;
    private const int MinPairs = 100_000;

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var entries = new Option<int>("--entries")
        {
            Description = "The entries of a tree that is filled in large transactions; one filled in small ones has a twentieth. 0 leaves them out.",
            DefaultValueFactory = _ => 2_000_000,
        };
        var pairs = new Option<int>("--pairs")
        {
            Description = "The pairs of word and document in the id sets. 0 leaves them out.",
            DefaultValueFactory = _ => 10_000_000,
        };
        var values = new Option<int>("--values")
        {
            Description = "The pairs of word and name in the value sets. 0 leaves them out.",
            DefaultValueFactory = _ => 2_000_000,
        };
        rounds.Require(value => value >= 1, "at least 1");
        entries.Require(value => value is 0 or >= MinEntries, $"0 or at least {MinEntries:N0}");
        pairs.Require(value => value is 0 or >= MinPairs, $"0 or at least {MinPairs:N0}");
        values.Require(value => value is 0 or >= MinPairs, $"0 or at least {MinPairs:N0}");
        var command = new Command("structures", "Measures fixed-size trees beside ordinary ones, and id sets and value sets beside peers.")
        {
            rounds, entries, pairs, values,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var sizes = new Sizes(parsed.GetValue(rounds), parsed.GetValue(entries), parsed.GetValue(pairs), parsed.GetValue(values));
            if (sizes is { Entries: 0, Pairs: 0, Values: 0 })
                throw new BenchmarkException("--entries 0, --pairs 0 and --values 0 leave nothing to measure");
            session.CheckDevice(100L * sizes.Entries + 200L * sizes.Pairs + 400L * sizes.Values);
            await MeasureAsync(session, sizes, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, Sizes sizes, CancellationToken stop)
    {
        var figures = new Figures([], [], []);
        await MeasuringSession.ShowProgressAsync(sizes.Rounds + 1, async progress =>
        {
            await Task.Yield();
            var words = new WordStream();

            // The first one runs code that is still being compiled.
            MeasureRound(session, words, new Sizes(1, sizes.Entries / 10, sizes.Pairs / 20, sizes.Values / 20), -1, stop);
            progress.Increment(1);
            for (var round = 0; round < sizes.Rounds; round++)
            {
                var some = MeasureRound(session, words, sizes, round, stop);
                figures.Trees.AddRange(some.Trees);
                figures.Sets.AddRange(some.Sets);
                figures.Values.AddRange(some.Values);
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        session.FinishWith(
            StructureTables.Create(sizes.Pairs, figures.Trees, figures.Sets, figures.Values),
            new { session.Machine, figures.Trees, figures.Sets, figures.Values });
    }

    // Each round begins with another engine.
    private static Figures MeasureRound(MeasuringSession session, WordStream words, Sizes sizes, int round, CancellationToken stop) => new(
        sizes.Entries > 0 ? MeasureTrees(session, sizes.Entries, round, stop) : [],
        sizes.Pairs > 0 ? MeasureSets(session, words, sizes.Pairs, round, stop) : [],
        sizes.Values > 0 ? MeasureValues(session, words, sizes.Values, round, stop) : []);

    private static List<FixedTreeRun> MeasureTrees(MeasuringSession session, int entries, int round, CancellationToken stop)
    {
        var runs = new List<FixedTreeRun>();
        foreach (var perCommit in new[] { SmallCommit, LargeCommit })
        {
            for (var i = 0; i < 2; i++)
            {
                stop.ThrowIfCancellationRequested();
                runs.Add(FixedTreeRun.Measure(
                    PlaceOf(session), isFixed: (i + round) % 2 == 0, perCommit == SmallCommit ? entries / 20 : entries, perCommit, round));
            }
        }

        foreach (var some in runs.GroupBy(run => run.PerCommit))
            MeasuringSession.RequireEqualAnswers([.. some], run => run.Tree, run => $"{run.Checksum}");
        return runs;
    }

    private static List<IdSetRun> MeasureSets(MeasuringSession session, WordStream words, int pairs, int round, CancellationToken stop) =>
        MeasuringSession.MeasureInTurn(
            [.. IdSetCatalog.All.Where(way => way.IsInstalled())], round, way => IdSetRun.Measure(way, PlaceOf(session), words, pairs, round),
            run => run.Way, run => run.Checksum, stop);

    private static List<ValueSetRun> MeasureValues(MeasuringSession session, WordStream words, int pairs, int round, CancellationToken stop) =>
        MeasuringSession.MeasureInTurn(
            [.. ValueSetCatalog.All.Where(way => way.IsInstalled())], round, way => ValueSetRun.Measure(way, PlaceOf(session), words, pairs, round),
            run => run.Way, run => run.Checksum, stop);

    private static string PlaceOf(MeasuringSession session) => Path.Combine(session.Area.Path, "structures");

    private sealed record Figures(List<FixedTreeRun> Trees, List<IdSetRun> Sets, List<ValueSetRun> Values);

    private sealed record Sizes(int Rounds, int Entries, int Pairs, int Values);
}
