using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on backups.</summary>
internal static class BackupTables
{
    public static Report Create(long bytes, IReadOnlyList<OperationsRound> rounds) => new(
        "Backups and their cost",
        [
            $"An environment of {Figures.Bytes(bytes)}, items of 508 bytes, half of each random. Medians of {rounds.Count} rounds.",
            "The bare devices read and write 1 MiB at a time, unbuffered. Nothing is cached when a backup, a restore or a bare device begins.",
            "Writers: one, a durable transaction of ten puts to random keys, and 100 us of computing. Readers: one, random keys of 64 MiB that are in memory.",
            "Beside a slow target: the same writer for ten seconds, and a target that takes 5 MB a second.",
        ],
        [
            GoalRow.TableOf(Rows(rounds)),
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
        yield return GoalRow.AtMost("longest hold while others write, ms (goal in ms)", Of(round => round.LongestHold), null, 250);
        yield return GoalRow.AtMost("journal and scratch with a slow target, MB", Of(round => round.SlowBytes) / 1e6, Of(round => round.UsualBytes) / 1e6, 1.25);
        yield return GoalRow.AtMost("incremental, 1 % of the pages, s", Of(round => round.IncrementalSeconds), Of(round => round.FullSeconds), 0.03);
        yield return GoalRow.AtMost("incremental, MB", Of(round => round.IncrementalBytes) / 1e6, Of(round => round.FullBytes) / 1e6, 0.013);
    }
}
