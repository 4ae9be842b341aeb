using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures backups: their rate beside the bare devices, and their cost for readers and writers meanwhile.</summary>
internal static class OperationsCommand
{
    public static Command Create()
    {
        var output = new OutputOptions();
        var gibibytes = new Option<double>("--gib") { Description = "The size of the environment in GiB.", DefaultValueFactory = _ => 4 };
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var target = new Option<string?>("--target")
        {
            Description = "A directory on another device for backups and restored environments; by default, they go to the device of the environment.",
            HelpName = "DIR",
        };
        var part = new Option<OperationsPart>("--part") { Description = "What is measured.", DefaultValueFactory = _ => OperationsPart.Backups };
        var command = new Command("operations", "Measures backups, restores or compactions, and commits and lookups beside them.")
        {
            gibibytes, rounds, target, part,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var bytes = (long)(parsed.GetValue(gibibytes) * (1L << 30));
            if (parsed.GetValue(part) == OperationsPart.Compactions)
            {
                session.CheckDevice(2 * bytes);
                var compactions = await MeasureCompactionsAsync(session.Area.Path, bytes, parsed.GetValue(rounds), stop).ConfigureAwait(false);
                session.FinishWith(CompactionTables.Create(bytes, compactions), new { session.Machine, compactions });
                return;
            }

            var place = parsed.GetValue(target) ?? session.Area.Path;
            session.CheckDevice(2 * bytes);
            using var store = BackupStore.Create(Path.Combine(session.Area.Path, "store"), bytes);
            var results = new List<OperationsRound>();
            await MeasuringSession.ShowProgressAsync(parsed.GetValue(rounds), async progress =>
            {
                for (var round = 0; round < parsed.GetValue(rounds); round++)
                {
                    results.Add(await OperationsRound.MeasureAsync(store, place, stop).ConfigureAwait(false));
                    progress.Increment(1);
                }
            }).ConfigureAwait(false);
            session.FinishWith(CreateReport(store, results), new { session.Machine, results });
        });
        return command;
    }

    private static async Task<List<CompactionRound>> MeasureCompactionsAsync(string place, long bytes, int rounds, CancellationToken stop)
    {
        var results = new List<CompactionRound>();
        await MeasuringSession.ShowProgressAsync(rounds, async progress =>
        {
            for (var round = 0; round < rounds; round++)
            {
                var directory = Path.Combine(place, $"compacted-{round}");
                results.Add(await CompactionRound.MeasureAsync(directory, bytes, stop).ConfigureAwait(false));
                Directory.Delete(directory, recursive: true);
                progress.Increment(1);
            }
        }).ConfigureAwait(false);
        return results;
    }

    public static Report CreateReport(BackupStore store, IReadOnlyList<OperationsRound> rounds) => new(
        "Backups and their cost",
        [
            $"An environment of {Figures.Bytes(store.Bytes)}, items of 508 bytes, half of each random. Medians of {rounds.Count} rounds.",
            "The bare devices read and write 1 MiB at a time, unbuffered. Nothing is cached when a backup, a restore or a bare device begins.",
            "Writers: one, a durable transaction of ten puts to random keys, and 100 us of computing. Readers: one, random keys of 64 MiB that are in memory.",
            "Beside a slow target: the same writer for ten seconds, and a target that takes 5 MB a second.",
        ],
        [
            new ReportTable("Figures", TextColumns: 1, ["what", "figure", "compared with", "ratio", "goal", "verdict"], [.. Rows(rounds)]),
        ]);

    private static IEnumerable<string[]> Rows(IReadOnlyList<OperationsRound> rounds)
    {
        double Of(Func<OperationsRound, double> figure) => Figures.Median(rounds.Select(figure));
        var slower = Math.Min(Of(round => round.DeviceRead), Of(round => round.DeviceWrite));
        yield return GoalRow.AtLeast("full backup, MB/s", Of(round => round.Full), slower, 0.8);
        yield return GoalRow.AtLeast("full backup, compressed, MB/s of pages", Of(round => round.Compressed), slower, 0.8);
        yield return GoalRow.AtLeast("restore, MB/s", Of(round => round.Restore), slower, 0.8);
        yield return GoalRow.AtMost("commit p50 beside a backup, us", Of(round => round.Beside.P50Microseconds), Of(round => round.Alone.P50Microseconds), 2);
        yield return GoalRow.AtMost("commit p99 beside a backup, us", Of(round => round.Beside.P99Microseconds), Of(round => round.Alone.P99Microseconds), 2);
        yield return GoalRow.AtMost(
            "commit p99 beside one of 50 MB/s, us", Of(round => round.BesidePaced.P99Microseconds), Of(round => round.Alone.P99Microseconds), 2);
        yield return GoalRow.AtMost(
            "lookup p99 beside a backup, us", Of(round => round.LookupBeside.P99Microseconds), Of(round => round.LookupAlone.P99Microseconds), 1.2);
        yield return GoalRow.AtMost("longest hold beside writers, ms (goal in ms)", Of(round => round.LongestHold), null, 250);
        yield return GoalRow.AtMost("journal and scratch with a slow target, MB", Of(round => round.SlowBytes) / 1e6, Of(round => round.UsualBytes) / 1e6, 1.25);
        yield return GoalRow.AtMost("incremental, 1 % of the pages, s", Of(round => round.IncrementalSeconds), Of(round => round.FullSeconds), 0.03);
        yield return GoalRow.AtMost("incremental, MB", Of(round => round.IncrementalBytes) / 1e6, Of(round => round.FullBytes) / 1e6, 0.013);
    }
}
