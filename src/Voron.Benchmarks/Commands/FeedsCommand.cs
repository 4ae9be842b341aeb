using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what a change feed costs the writer, and how fast a consumer follows it.</summary>
internal static class FeedsCommand
{
    private const int MinPuts = 1000;

    private static readonly int[] PutsPerCommit = [1, 10, 100, 1000];

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var puts = new Option<int>("--puts")
        {
            Description = "The puts of a run with 1,000 in a transaction; those with fewer have down to a fiftieth.",
            DefaultValueFactory = _ => 500_000,
        };
        rounds.Require(value => value >= 1, "at least 1");
        puts.Require(value => value >= MinPuts, $"at least {MinPuts:N0}");
        var command = new Command("feeds", "Measures puts into a recorded tree beside others, and a consumer that follows its feed.")
        {
            rounds, puts,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var sizes = new Sizes(parsed.GetValue(rounds), parsed.GetValue(puts));
            session.CheckDevice(2000L * sizes.Puts);
            await MeasureAsync(session, sizes, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, Sizes sizes, CancellationToken stop)
    {
        var runs = new List<FeedRun>();
        var waits = new List<LatencySummary>();
        await MeasuringSession.ShowProgressAsync(sizes.Rounds + 1, async progress =>
        {
            // The first one runs code that is still being compiled.
            MeasureRound(session, sizes.Puts / 10, 0, stop);
            await FeedRun.MeasureWaitAsync(PlaceOf(session), 100, stop).ConfigureAwait(false);
            progress.Increment(1);
            for (var round = 0; round < sizes.Rounds; round++)
            {
                runs.AddRange(MeasureRound(session, sizes.Puts, round, stop));
                waits.Add(await FeedRun.MeasureWaitAsync(PlaceOf(session), 2000, stop).ConfigureAwait(false));
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        session.FinishWith(FeedTables.Create(runs, waits), new { session.Machine, runs, waits });
    }

    // Each round begins with another way.
    private static List<FeedRun> MeasureRound(MeasuringSession session, int puts, int round, CancellationToken stop)
    {
        var runs = new List<FeedRun>();
        foreach (var perCommit in PutsPerCommit)
        {
            var some = Math.Max(perCommit, puts / (perCommit switch { 1 => 50, 10 => 10, _ => 1 }) / perCommit * perCommit);
            for (var i = 0; i < FeedRun.Ways.Length; i++)
            {
                stop.ThrowIfCancellationRequested();
                runs.Add(FeedRun.Measure(PlaceOf(session), FeedRun.Ways[(i + round) % FeedRun.Ways.Length], some, perCommit, round));
            }
        }

        return runs;
    }

    private static string PlaceOf(MeasuringSession session) => Path.Combine(session.Area.Path, "feed");

    private sealed record Sizes(int Rounds, int Puts);
}
