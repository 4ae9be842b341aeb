using System.Globalization;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Workloads;
using static Voron.Benchmarks.Workloads.WorkloadCatalog;

namespace Voron.Benchmarks.Reporting;

/// <summary>What was aimed at and what came out. Met is null where a figure is missing.</summary>
internal sealed record GoalResult(string Workload, string Goal, string Measured, bool? Met)
{
    public string Verdict => Met switch { true => "met", false => "missed", null => "not measured" };
}

/// <summary>The goals of this engine, each as a figure that a comparison gives and the bound it is held against.</summary>
internal static class Goals
{
    private const double SequentialRateShare = 0.8;
    private const string Ours = EngineCatalog.Voron;
    private const string Ahead = EngineCatalog.VoronPipelined;
    private const string Lmdb = EngineCatalog.Lmdb;

    public static IReadOnlyList<GoalResult> Evaluate(Medians medians)
    {
        var goals = new List<GoalResult>();
        void Add(WorkloadDefinition workload, string what, double? figure, double bound, bool atMost = false, string unit = "x") =>
            goals.Add(new GoalResult(
                workload.Title,
                string.Create(CultureInfo.InvariantCulture, $"{what} {(atMost ? "at most" : "at least")} {bound:0.###}{unit}"),
                figure is null ? Figures.None : string.Create(CultureInfo.InvariantCulture, $"{figure:0.##}{unit}"),
                figure is null ? null : atMost ? figure <= bound : figure >= bound));
        double? Ratio(WorkloadDefinition workload, string engine, string peer) => medians.Rate(workload, engine) / medians.Rate(workload, peer);
        double? ToBest(WorkloadDefinition workload, string engine, string? except = null) =>
            medians.Rate(workload, engine) / medians.BestPeer(workload, except)?.Rate;
        double? Share(WorkloadDefinition workload) => medians.Of(workload, Ours, run => run.DeviceShare) * 100;

        Add(SequentialInsert, "to the best peer", ToBest(SequentialInsert, Ours), 3);
        Add(SequentialInsert, "time in the device's write calls", Share(SequentialInsert), 85, unit: "%");
        Add(RandomInsert, "to LMDB", Ratio(RandomInsert, Ours, Lmdb), 10);
        Add(RandomInsert, "to the best other peer", ToBest(RandomInsert, Ours, Lmdb), 3);
        Add(RandomInsert, "pipelined, to LMDB", Ratio(RandomInsert, Ahead, Lmdb), 12);
        Add(RandomInsert, "pipelined, to the best other peer", ToBest(RandomInsert, Ahead, Lmdb), 4);
        Add(RandomInsert, "slower than sequential", medians.Rate(SequentialInsert, Ours) / medians.Rate(RandomInsert, Ours), 3, atMost: true);
        Add(RandomUpdate, "to LMDB", Ratio(RandomUpdate, Ours, Lmdb), 15);
        Add(RandomUpdate, "to the best other peer", ToBest(RandomUpdate, Ours, Lmdb), 4);
        Add(RandomUpdate, "pipelined, to LMDB", Ratio(RandomUpdate, Ahead, Lmdb), 22);
        Add(RandomUpdate, "pipelined, to the best other peer", ToBest(RandomUpdate, Ahead, Lmdb), 6);
        Add(SinglePut, "time in the device's write calls", Share(SinglePut), 95, unit: "%");
        Add(SinglePutOnStore, "time in the device's write calls", Share(SinglePutOnStore), 90, unit: "%");
        Add(Callers64, "thousand puts a second", medians.Rate(Callers64, Ours) / 1e3, 600, unit: "");
        Add(Callers64, "to one caller", medians.Rate(Callers64, Ours) / medians.Rate(SinglePut, Ours), 14);
        Add(Callers512, "to 64 callers", medians.Rate(Callers512, Ours) / medians.Rate(Callers64, Ours), 1);
        Add(RandomRead, "to LMDB", Ratio(RandomRead, Ours, Lmdb), 1.8);
        Add(
            RandomReadTwo, "scaling, to that of a memory probe",
            medians.Rate(RandomReadTwo, Ours) / medians.Rate(RandomRead, Ours) / medians.Of(RandomReadTwo, Ours, run => run.MemoryProbe?.Scaling),
            1);
        Add(RandomReadMany, "to LMDB's single gets", medians.Rate(RandomReadMany, Ours) / medians.Rate(RandomRead, Lmdb), 8);
        Add(ScanForward, "to LMDB", Ratio(ScanForward, Ours, Lmdb), 1.6);
        Add(ScanBackward, "to LMDB", Ratio(ScanBackward, Ours, Lmdb), 1.5);
        Add(UpdateWhileReading, "writer, to LMDB's", Ratio(UpdateWhileReading, Ours, Lmdb), 4);
        Add(
            UpdateWhileReading, "reader, to LMDB's",
            medians.Of(UpdateWhileReading, Ours, run => run.ReaderOperationsPerSecond)
            / medians.Of(UpdateWhileReading, Lmdb, run => run.ReaderOperationsPerSecond),
            1.2);
        Add(DeleteHalf, "to the best peer", ToBest(DeleteHalf, Ours), 1);
        Add(InsertAgain, "to the best peer", ToBest(InsertAgain, Ours), 1);
        Add(
            InsertAgain, "closed store, to the one before the deletes",
            medians.Of(InsertAgain, Ours, run => run.AllocatedBytesClosed) / medians.Of(DeleteHalf, Ours, run => run.AllocatedBytesBefore),
            1, atMost: true);
        foreach (WorkloadDefinition write in (ReadOnlySpan<WorkloadDefinition>)[Write16K, Write1M, Write64M])
            Add(write, "of the device's rate of durable writes of that size", SequentialShare(medians, write) * 100, SequentialRateShare * 100, unit: "%");
        Add(OpenCrashed, "seconds", medians.Of(OpenCrashed, Ours, run => run.EngineSeconds), 0.5, atMost: true, unit: "");
        Add(OpenClean, "milliseconds", medians.Of(OpenClean, Ours, run => run.EngineSeconds * 1e3), 10, atMost: true, unit: "");
        Add(BulkLoad, "to LMDB", Ratio(BulkLoad, Ours, Lmdb), 2);
        Add(BulkLoadSorted, "to LMDB's append", Ratio(BulkLoadSorted, Ours, Lmdb), 1.5);
        Add(SequentialInsert, "journal KB a transaction", JournalKilobytes(medians, SequentialInsert), 16, atMost: true, unit: "");
        Add(RandomInsert, "journal KB a transaction", JournalKilobytes(medians, RandomInsert), 26, atMost: true, unit: "");
        Add(RandomUpdate, "journal KB a transaction", JournalKilobytes(medians, RandomUpdate), 8, atMost: true, unit: "");
        Add(SequentialInsert, "device bytes a user byte", DeviceBytes(medians, SequentialInsert), 2.2, atMost: true, unit: "");
        Add(RandomInsert, "device bytes a user byte", DeviceBytes(medians, RandomInsert), 6, atMost: true, unit: "");
        return goals;
    }

    /// <summary>
    /// Against the same bytes, durable as often: a transaction's items in one raw write. Both in the same run, the raw one into
    /// blocks that were written before, as a store that grows does not have them.
    /// </summary>
    private static double? SequentialShare(Medians medians, WorkloadDefinition write) =>
        medians.Of(write, Ours, run => RawDeviceProbe.MicrosecondsFor(
            run.RawDevice, (double)run.Operations / run.Transactions * run.BytesPerOperation) / 1e6 * run.TransactionsPerSecond);

    private static double? JournalKilobytes(Medians medians, WorkloadDefinition workload) =>
        medians.Of(workload, Ours, run => run.Commits?.JournalBytes.Average / 1024);

    private static double? DeviceBytes(Medians medians, WorkloadDefinition workload) =>
        medians.Of(workload, Ours, run => (double?)run.DeviceBytesWritten / (run.Operations * run.BytesPerOperation));
}
