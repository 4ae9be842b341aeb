using static Voron.Benchmarks.Workloads.WorkloadCatalog;

namespace Voron.Benchmarks.Reporting;

/// <summary>A goal and what was measured. Met is null where a figure is missing.</summary>
internal sealed record GoalResult(string Workload, string Goal, string Measured, bool? Met)
{
    public string Verdict => Met switch { true => "met", false => "missed", null => "not measured" };
}

/// <summary>The goals of this engine. Each is a figure that a comparison measures, and its bound.</summary>
internal sealed class Goals
{
    private const double DeviceRatePercent = 80;
    private const double WrittenBlocksPercent = 85;
    private const double MemorySpeedPercent = 90;

    /// <summary>Counts as none, because the flusher and the threads of the runtime take a little now and then.</summary>
    private const double NoManagedBytes = 0.5;

    /// <summary>Allowed for the runtime itself, journal buffers, key heads and nodes of page versions.</summary>
    private const long RuntimeMiB = 192;
    private const string Ours = EngineCatalog.Voron;
    private const string Lmdb = EngineCatalog.Lmdb;
    private const string RocksDb = EngineCatalog.RocksDb;

    /// <summary>For the slowest of a hundred transactions, in medians.</summary>
    private const double TailToMedian = 4;

    private static readonly WorkloadDefinition[] FirstSeconds =
        [FirstSequentialInsert, FirstRandomInsert, FirstRandomUpdate, FirstSinglePut, FirstSinglePutOnStore];

    private readonly Medians _medians;
    private readonly List<GoalResult> _goals = [];

    private Goals(Medians medians) => _medians = medians;

    public static IReadOnlyList<GoalResult> Evaluate(Medians medians)
    {
        var goals = new Goals(medians);
        goals.AddWrites();
        goals.AddFirstSeconds();
        goals.AddReads();
        goals.AddDeletes();
        goals.AddLargeValues();
        goals.AddOpeningsAndLoads();
        goals.AddJournal();
        goals.AddFlushes();
        goals.AddMemory();
        return goals._goals;
    }

    private void AddWrites()
    {
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)[SequentialInsert, RandomInsert, RandomUpdate, UpdateWhileReading])
            AddToRocksDb(workload, rate: 2);
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)[SinglePut, SinglePutOnStore])
            AddToRocksDb(workload, rate: 1.2);
        AtLeast(SequentialInsert, "time in the device's write calls", DevicePercent(SequentialInsert), 85, "%");
        AtMost(RandomInsert, "slower than sequential", _medians.Rate(SequentialInsert, Ours) / _medians.Rate(RandomInsert, Ours), 3, "x");
        AtLeast(SinglePut, "time in the device's write calls", DevicePercent(SinglePut), 95, "%");
        AtLeast(SinglePutOnStore, "time in the device's write calls", DevicePercent(SinglePutOnStore), 90, "%");
        AtLeast(Callers64, "thousand puts a second", _medians.Rate(Callers64, Ours) / 1e3, 600, "");
        AtLeast(Callers64, "to one caller", _medians.Rate(Callers64, Ours) / _medians.Rate(SinglePut, Ours), 14);
        AtLeast(Callers512, "to 64 callers", _medians.Rate(Callers512, Ours) / _medians.Rate(Callers64, Ours), 1);
    }

    private void AddFirstSeconds()
    {
        foreach (var workload in FirstSeconds)
        {
            AtLeast(workload, "200 to 400 ms after opening, of the third second", Of(workload, run => run.FirstSecond?.EarlyShare * 100), 90, "%");
            AtMost(workload, "first transaction, ms", Of(workload, run => run.FirstSecond?.FirstTransactionMilliseconds), 5);
            AtLeast(workload, "to the best peer", ToBest(workload), 1);
            AddTails(workload);
        }
    }

    private void AddToRocksDb(WorkloadDefinition workload, double rate)
    {
        AtLeast(workload, "to RocksDB", Ratio(workload, RocksDb), rate);
        AddTails(workload);
    }

    private void AddTails(WorkloadDefinition workload)
    {
        double? ToRocksDb(Func<RunResult, double?> figure) => Of(workload, figure) / _medians.Of(workload, RocksDb, figure);
        AtMost(workload, "p99 of transactions, to RocksDB's", ToRocksDb(run => run.TransactionLatency?.P99Microseconds), 1, "x");
        AtMost(workload, "p99.9 of transactions, to RocksDB's", ToRocksDb(run => run.TransactionLatency?.P999Microseconds), 1, "x");
        var toMedian = Of(workload, run => run.TransactionLatency?.P99Microseconds / run.TransactionLatency?.P50Microseconds);
        AtMost(workload, "p99 of transactions, to their median", toMedian, TailToMedian, "x");
    }

    private void AddReads()
    {
        AtLeast(RandomRead, "to LMDB", Ratio(RandomRead, Lmdb), 1.8);
        var threads = _medians.Rate(RandomReadTwo, Ours) / _medians.Rate(RandomRead, Ours);
        AtLeast(RandomReadTwo, "scaling, to that of a memory probe", threads / Of(RandomReadTwo, run => run.MemoryProbe?.Scaling), 1);
        AtLeast(RandomReadMany, "to LMDB's single gets", _medians.Rate(RandomReadMany, Ours) / _medians.Rate(RandomRead, Lmdb), 8);
        AtLeast(ScanForward, "to LMDB", Ratio(ScanForward, Lmdb), 1.6);
        AtLeast(ScanBackward, "to LMDB", Ratio(ScanBackward, Lmdb), 1.5);
        var reader = Of(UpdateWhileReading, run => run.ReaderOperationsPerSecond);
        AtLeast(UpdateWhileReading, "reader, to LMDB's", reader / _medians.Of(UpdateWhileReading, Lmdb, run => run.ReaderOperationsPerSecond), 1.2);
    }

    private void AddDeletes()
    {
        AtLeast(DeleteHalf, "to the best peer", ToBest(DeleteHalf), 1);
        AtLeast(InsertAgain, "to the best peer", ToBest(InsertAgain), 1);
        var store = Of(InsertAgain, run => run.AllocatedBytesClosed) / Of(DeleteHalf, run => run.AllocatedBytesBefore);
        AtMost(InsertAgain, "closed store, to the one before the deletes", store, 1, "x");
        var dataFile = Of(InsertAgain, run => run.DataFileBytesClosed) / Of(DeleteHalf, run => run.DataFileBytesBefore);
        AtMost(InsertAgain, "closed data file, to the one before the deletes", dataFile, 1, "x");
    }

    private void AddLargeValues()
    {
        foreach (var write in (ReadOnlySpan<WorkloadDefinition>)[Write16K, Write20K, Write1M, Write64M])
        {
            AtLeast(write, "of the device's sequential rate", Of(write, ComparisonTables.SequentialShare) * 100, DeviceRatePercent, "%");
            var durable = Of(write, run => run.ShareOfRawDevice) * 100;
            AtLeast(write, "of its durable writes as large as a commit, beside computing,", durable, DeviceRatePercent, "%");
        }
        foreach (var overwrite in (ReadOnlySpan<WorkloadDefinition>)[Overwrite16K, Overwrite1M])
        {
            var durable = Of(overwrite, run => run.ShareOfRawDevice) * 100;
            AtLeast(overwrite, "of its durable writes as large as a commit, beside computing,", durable, WrittenBlocksPercent, "%");
            AtLeast(overwrite, "to LMDB", Ratio(overwrite, Lmdb), 1.3);
        }
        foreach (var read in (ReadOnlySpan<WorkloadDefinition>)[Read16K, Read1M, Read64M])
            AtLeast(read, "of a bare pass over memory", Of(read, ComparisonTables.MemoryShare) * 100, MemorySpeedPercent, "%");
    }

    private void AddOpeningsAndLoads()
    {
        AtMost(OpenCrashed, "seconds", Of(OpenCrashed, run => run.EngineSeconds), 0.5);
        AtMost(OpenClean, "milliseconds", Of(OpenClean, run => run.EngineSeconds * 1e3), 10);
        AtLeast(WorkloadCatalog.BulkLoad, "to LMDB", Ratio(WorkloadCatalog.BulkLoad, Lmdb), 3);
        AtLeast(WorkloadCatalog.BulkLoad, "to RocksDB's bulk load", Ratio(WorkloadCatalog.BulkLoad, EngineCatalog.RocksDb), 1.3);
        AtMost(WorkloadCatalog.BulkLoad, "device bytes a user byte", Of(WorkloadCatalog.BulkLoad, ComparisonTables.DeviceBytesPerUserByte), 2.2);
        AtLeast(BulkLoadSorted, "to LMDB's append", Ratio(BulkLoadSorted, Lmdb), 1.5);
    }

    private void AddJournal()
    {
        foreach ((var engine, var journal, var random) in (ReadOnlySpan<(string, string, double)>)
            [(EngineCatalog.VoronLz4Journal, "compressed", 20), (EngineCatalog.VoronPlainJournal, "not compressed", 26)])
        {
            foreach ((var workload, var kilobytes, var saved) in (ReadOnlySpan<(WorkloadDefinition, double, double)>)
                [(SequentialInsert, 16, 80), (RandomInsert, random, 80), (RandomUpdate, 8, 90)])
            {
                var written = _medians.Of(workload, engine, run => run.Commits?.JournalBytes.Average / 1024);
                AtMost(workload, $"journal, {journal}, KB a transaction", written, kilobytes);
                var percent = _medians.Of(workload, engine, run => (1 - run.JournalShareOfPages) * 100);
                AtLeast(workload, $"journal, {journal}, less than whole pages by", percent, saved, "%");
            }
        }
    }

    private void AddFlushes()
    {
        AtMost(SequentialInsert, "device bytes a user byte", Of(SequentialInsert, ComparisonTables.DeviceBytesPerUserByte), 2.2);
        AtMost(RandomInsert, "device bytes a user byte", Of(RandomInsert, ComparisonTables.DeviceBytesPerUserByte), 5);
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)[RandomInsert, RandomUpdate])
        {
            AtMost(workload, "seeks for 250 flushed pages", Of(workload, ComparisonTables.SeeksFor250Pages), 6);
            AtMost(workload, "flushed bytes, to pages written one by one", Of(workload, ComparisonTables.FlushedToPages), 1, "x");
        }
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)[SequentialInsert, RandomInsert, RandomUpdate])
            AtMost(workload, "p99.9 of commits while flushing, to a bare probe's", Of(workload, ComparisonTables.FlushingRatio), 3, "x");
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)
            [SequentialInsert, RandomInsert, RandomUpdate, SinglePut, SinglePutOnStore, DeleteHalf, InsertAgain])
        {
            var longest = _medians.Runs(workload, Ours).Max(run => run.CommitLatency?.MaxMicroseconds / 1e3);
            AtMost(workload, "longest commit of any round, ms", longest, 50);
        }
    }

    private void AddMemory()
    {
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)
            [RandomRead, RandomReadMany, ScanForward, ScanBackward, SequentialInsert, RandomInsert, RandomUpdate, SinglePut])
        {
            AtMost(workload, "managed bytes an operation, steady", Of(workload, run => run.ManagedBytesPerOperation), NoManagedBytes);
        }
        AtMost(Callers64, "managed bytes a put in a group commit, steady", Of(Callers64, run => run.ManagedBytesPerOperation), 200);
        var bound = (new StorageOptions().ScratchMemoryBytes >> 20) + RuntimeMiB;
        foreach (var workload in (ReadOnlySpan<WorkloadDefinition>)[SequentialInsert, RandomInsert, RandomUpdate])
        {
            var anonymous = Of(workload, run => run.Memory?.AnonymousBytes / (double)(1 << 20));
            AtMost(workload, "memory beyond the map, MiB, scratch option and runtime", anonymous, bound);
        }
    }

    private void AtLeast(WorkloadDefinition workload, string what, double? figure, double bound, string unit = "x") =>
        Add(workload, $"{what} at least {bound:0.###}{unit}", figure, unit, figure >= bound);

    private void AtMost(WorkloadDefinition workload, string what, double? figure, double bound, string unit = "") =>
        Add(workload, $"{what} at most {bound:0.###}{unit}", figure, unit, figure <= bound);

    private void Add(WorkloadDefinition workload, string goal, double? figure, string unit, bool isMet)
    {
        var measured = figure is null ? Figures.None : $"{figure:0.##}{unit}";
        _goals.Add(new GoalResult(workload.Title, goal, measured, figure is null ? null : isMet));
    }

    private double? Of(WorkloadDefinition workload, Func<RunResult, double?> figure) => _medians.Of(workload, Ours, figure);

    private double? Ratio(WorkloadDefinition workload, string peer) => _medians.Rate(workload, Ours) / _medians.Rate(workload, peer);

    private double? ToBest(WorkloadDefinition workload) => _medians.Rate(workload, Ours) / _medians.BestPeer(workload);

    private double? DevicePercent(WorkloadDefinition workload) => Of(workload, run => run.DeviceShare) * 100;
}
