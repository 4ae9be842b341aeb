using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The report on compactions.</summary>
internal static class CompactionTables
{
    public static Report Create(long bytes, IReadOnlyList<CompactionRound> rounds) => new(
        "Compactions and their cost",
        [
            $"An environment of {Figures.Bytes(bytes)}, items of 508 bytes. Two thirds of the items are deleted at random, and the free space is returned. " +
            $"Medians of {rounds.Count} rounds.",
            "Writer: one, a durable transaction that replaces ten random items, and 100 us of computing.",
            "Space and written bytes are those of the compaction with no writer beside it.",
            $"A compaction took {Of(rounds, round => round.Alone.Duration.TotalSeconds):F1} s, and beside the writer " +
            $"{Of(rounds, round => round.Beside.Duration.TotalSeconds):F1} s, to make a file of {Figures.Bytes((long)Of(rounds, round => round.Alone.BytesBefore))} " +
            $"shorter by {Figures.Bytes((long)Of(rounds, round => round.Alone.BytesBefore - round.Alone.BytesAfter))}.",
        ],
        [
            GoalRow.TableOf(Rows(rounds)),
        ]);

    private static double Of(IReadOnlyList<CompactionRound> rounds, Func<CompactionRound, double> figure) => Figures.Median(rounds.Select(figure));

    private static IEnumerable<string[]> Rows(IReadOnlyList<CompactionRound> rounds)
    {
        yield return GoalRow.AtMost("file after, MB, with what is in use", Of(rounds, round => round.Alone.BytesAfter) / 1e6, Of(rounds, round => round.Alone.UsedBytes) / 1e6, 1.05);
        yield return GoalRow.AtMost(
            "file after, beside a writer, MB", Of(rounds, round => round.Beside.BytesAfter) / 1e6, Of(rounds, round => round.Beside.UsedBytes) / 1e6, 1.05);
        yield return GoalRow.AtMost(
            "extra space at any moment, MB, with 256 MiB and the journal's limit", Of(rounds, round => round.ExtraBytes) / 1e6,
            Of(rounds, round => round.JournalLimitBytes + (256 << 20)) / 1e6, 1);
        yield return GoalRow.AtMost("writer held at most, ms (goal in ms)", Of(rounds, round => round.Alone.LongestWriterHold.TotalMilliseconds), null, 5);
        yield return GoalRow.AtMost(
            "writer held at most beside a writer, ms (goal in ms)", Of(rounds, round => round.Beside.LongestWriterHold.TotalMilliseconds), null, 5);
        yield return GoalRow.AtMost("bytes written, MB, with those moved", Of(rounds, round => round.WrittenBytes) / 1e6, Of(rounds, round => round.Alone.BytesMoved) / 1e6, 2.2);
        yield return GoalRow.AtMost(
            "commit p50 beside a compaction, us", Of(rounds, round => round.CommitsBeside.P50Microseconds), Of(rounds, round => round.CommitsAlone.P50Microseconds), 2);
        yield return GoalRow.AtMost(
            "commit p99 beside a compaction, us", Of(rounds, round => round.CommitsBeside.P99Microseconds), Of(rounds, round => round.CommitsAlone.P99Microseconds), 2);
    }
}
