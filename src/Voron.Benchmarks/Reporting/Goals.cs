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
    private const double MemorySpeedShare = 0.9;

    /// <summary>"None", with room for what the flusher and the threads of the runtime take now and then.</summary>
    private const double NoManagedBytes = 0.5;

    /// <summary>The runtime itself, buffers of the journal, heads and nodes of versions.</summary>
    private const long RuntimeMiB = 192;
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
        Add(
            InsertAgain, "closed data file, to the one before the deletes",
            medians.Of(InsertAgain, Ours, run => run.DataFileBytesClosed) / medians.Of(DeleteHalf, Ours, run => run.DataFileBytesBefore),
            1, atMost: true);
        foreach (WorkloadDefinition write in (ReadOnlySpan<WorkloadDefinition>)[Write16K, Write1M, Write64M])
        {
            Add(write, "of the device's sequential rate", medians.Of(write, Ours, ComparisonTables.SequentialShare) * 100, SequentialRateShare * 100, unit: "%");
            Add(write, "of its rate of durable writes that large", DurableShare(medians, write) * 100, SequentialRateShare * 100, unit: "%");
        }

        foreach (WorkloadDefinition read in (ReadOnlySpan<WorkloadDefinition>)[Read16K, Read1M, Read64M])
            Add(read, "of a bare pass over memory", medians.Of(read, Ours, ComparisonTables.MemoryShare) * 100, MemorySpeedShare * 100, unit: "%");
        Add(OpenCrashed, "seconds", medians.Of(OpenCrashed, Ours, run => run.EngineSeconds), 0.5, atMost: true, unit: "");
        Add(OpenClean, "milliseconds", medians.Of(OpenClean, Ours, run => run.EngineSeconds * 1e3), 10, atMost: true, unit: "");
        Add(BulkLoad, "to LMDB", Ratio(BulkLoad, Ours, Lmdb), 2);
        Add(BulkLoadSorted, "to LMDB's append", Ratio(BulkLoadSorted, Ours, Lmdb), 1.5);
        foreach ((string engine, string journal, double random) in (ReadOnlySpan<(string, string, double)>)
            [(EngineCatalog.VoronLz4Journal, "compressed", 20), (EngineCatalog.VoronPlainJournal, "not compressed", 26)])
        {
            foreach ((WorkloadDefinition workload, double kilobytes, double saved) in (ReadOnlySpan<(WorkloadDefinition, double, double)>)
                [(SequentialInsert, 16, 80), (RandomInsert, random, 80), (RandomUpdate, 8, 90)])
            {
                Add(
                    workload, $"journal, {journal}, KB a transaction",
                    medians.Of(workload, engine, run => run.Commits?.JournalBytes.Average / 1024), kilobytes, atMost: true, unit: "");
                Add(
                    workload, $"journal, {journal}, less than whole pages by",
                    medians.Of(workload, engine, run => (1 - run.JournalShareOfPages) * 100), saved, unit: "%");
            }
        }
        Add(SequentialInsert, "device bytes a user byte", medians.Of(SequentialInsert, Ours, ComparisonTables.DeviceBytesPerUserByte), 2.2, atMost: true, unit: "");
        Add(RandomInsert, "device bytes a user byte", medians.Of(RandomInsert, Ours, ComparisonTables.DeviceBytesPerUserByte), 6, atMost: true, unit: "");
        foreach (WorkloadDefinition workload in (ReadOnlySpan<WorkloadDefinition>)[RandomInsert, RandomUpdate])
        {
            Add(workload, "seeks for 250 flushed pages", medians.Of(workload, Ours, ComparisonTables.SeeksFor250Pages), 6, atMost: true, unit: "");
            Add(workload, "flushed bytes, to pages written one by one", medians.Of(workload, Ours, ComparisonTables.FlushedToPages), 1, atMost: true);
        }
        foreach (WorkloadDefinition workload in (ReadOnlySpan<WorkloadDefinition>)[SequentialInsert, RandomInsert, RandomUpdate])
            Add(workload, "p99.9 of commits while flushing, to a bare probe's", medians.Of(workload, Ours, ComparisonTables.FlushingRatio), 3, atMost: true);
        foreach (WorkloadDefinition workload in (ReadOnlySpan<WorkloadDefinition>)
            [SequentialInsert, RandomInsert, RandomUpdate, SinglePut, SinglePutOnStore, DeleteHalf, InsertAgain])
        {
            double? longest = medians.Runs(workload, Ours).Max(run => run.CommitLatency?.MaxMicroseconds / 1e3);
            Add(workload, "longest commit of any round, ms", longest, 50, atMost: true, unit: "");
        }
        foreach (WorkloadDefinition workload in (ReadOnlySpan<WorkloadDefinition>)
            [RandomRead, RandomReadMany, ScanForward, ScanBackward, SequentialInsert, RandomInsert, RandomUpdate, SinglePut])
        {
            Add(
                workload, "managed bytes an operation, steady",
                medians.Of(workload, Ours, run => run.ManagedBytesPerOperation), NoManagedBytes, atMost: true, unit: "");
        }
        Add(
            Callers64, "managed bytes a merged put, steady",
            medians.Of(Callers64, Ours, run => run.ManagedBytesPerOperation), 200, atMost: true, unit: "");
        long scratchMiB = new StorageOptions().ScratchMemoryBytes >> 20;
        foreach (WorkloadDefinition workload in (ReadOnlySpan<WorkloadDefinition>)[SequentialInsert, RandomInsert, RandomUpdate])
        {
            Add(
                workload, "memory beyond the map, MiB, scratch option and runtime",
                medians.Of(workload, Ours, run => run.Memory?.AnonymousBytes / (double)(1 << 20)), scratchMiB + RuntimeMiB, atMost: true, unit: "");
        }
        return goals;
    }

    /// <summary>
    /// Against the same bytes, durable as often: a transaction's items in one raw write. Both in the same run, the raw one into
    /// blocks that were written before, as a store that grows does not have them.
    /// </summary>
    private static double? DurableShare(Medians medians, WorkloadDefinition write) =>
        medians.Of(write, Ours, run => RawDeviceProbe.MicrosecondsFor(
            run.RawDevice, (double)run.Operations / run.Transactions * run.BytesPerOperation) / 1e6 * run.TransactionsPerSecond);
}
