using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The reports on the change log, on salvages, and on the memory of operations.</summary>
internal static class OperationTables
{
    public static Report ChangeLog(long bytes, IReadOnlyList<ChangeLogRound> rounds)
    {
        double Of(Func<ChangeLogRound, double> figure) => Figures.Median(rounds.Select(figure));
        return new Report(
            "The change log's cost",
            [
                $"Two environments of {Figures.Bytes(bytes)}, one with a change log and one with none, that take turns. Medians of {rounds.Count} rounds.",
                $"A flush writes what transactions of ten random items have changed, {ChangeLogRound.ItemsPerFlush:N0} items in all. No flusher in the background.",
            ],
            [
                GoalRow.TableOf(
                [
                    GoalRow.AtMost("a flush, ms, with one without a log", Of(round => round.MedianWith), Of(round => round.MedianWithout), 1.02),
                    GoalRow.AtMost("commit p50, us", Of(round => round.CommitsWith.P50Microseconds), Of(round => round.CommitsWithout.P50Microseconds), 1.05),
                    GoalRow.AtMost("commit p99, us", Of(round => round.CommitsWith.P99Microseconds), Of(round => round.CommitsWithout.P99Microseconds), 1.05),
                ]),
            ]);
    }

    public static Report Salvages(long bytes, IReadOnlyList<SalvageRound> rounds)
    {
        double Of(Func<SalvageRound, double> figure) => Figures.Median(rounds.Select(figure));
        double Most(Func<SalvageRound, double> figure) => rounds.Max(figure);
        return new Report(
            "Salvages",
            [
                $"An environment of {Figures.Bytes(bytes)}, items of 508 bytes, with 200 transactions behind the checkpoint. {rounds.Count} rounds: medians of rates, and the " +
                "most entries that one of them missed.",
                "Each entry of the salvaged environment is compared with the original.",
                $"The damaged leaf had {Figures.Count(Of(round => round.Leaf.Lost))} entries; the report names their range.",
            ],
            [
                GoalRow.TableOf(
                [
                    GoalRow.AtMost("one damaged leaf: other entries that are missing", Most(round => round.Leaf.Missing), null, 0),
                    GoalRow.AtMost("one damaged leaf: entries with another value", Most(round => round.Leaf.Wrong), null, 0),
                    GoalRow.AtMost("header and journals deleted: entries of the checkpoint that are missing", Most(round => round.DataFile.Missing + round.DataFile.Lost), null, 0),
                    GoalRow.AtMost("header and journals deleted: entries with another value", Most(round => round.DataFile.Wrong), null, 0),
                    GoalRow.Without("one damaged leaf, MB/s, with the device's reading", Of(round => round.Leaf.MegabytesPerSecond), Of(round => round.DeviceRead)),
                    GoalRow.Without("header and journals deleted, MB/s", Of(round => round.DataFile.MegabytesPerSecond), Of(round => round.DeviceRead)),
                ]),
            ]);
    }

    public static Report Memory(long bytes, IReadOnlyList<OperationMemory> operations)
    {
        var limit = (256 << 20) + (bytes / 4096 * 3 / 8);
        return new Report(
            "The memory of operations",
            [
                $"An environment of {Figures.Bytes(bytes)} with 128 MiB of memory of its own. Anonymous memory of the process above that before the operation, looked at every 10 ms.",
                "The goal is 256 MiB and three bits a page.",
            ],
            [
                GoalRow.TableOf(
                    operations.Select(operation => GoalRow.AtMost($"{operation.Operation}, MB", operation.Bytes / 1e6, limit / 1e6, 1))),
            ]);
    }
}
