namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Runs one workload in this process and measures it: warms up the compiled code on a temporary store, opens the store, scans it once if
/// it is not new, measures, checks the contents, and closes it.
/// </summary>
internal static class WorkloadRunner
{
    /// <summary>Bytes that the flushing probe writes between two syncs.</summary>
    private const long SyncedBytes = 8 << 20;

    private static readonly int SmallestLargeValueBytes = new StorageOptions().LargeValueBytes;

    /// <summary>False in tests, which measure nothing.</summary>
    public static bool ProbesDevice { get; set; } = true;

    /// <exception cref="BenchmarkException">The store is not what the workload needs, or a read missed an item.</exception>
    /// <param name="leaveOpen">If given, receives the open store, which then is not closed.</param>
    public static RunResult Run(RunRequest request, ProgressSignal progress, Action<BenchmarkEngine>? leaveOpen = null)
    {
        var descriptor = EngineCatalog.Require(request.Engine);
        if (!request.Workload.IsFirstSecond)
            WarmUp.Run(descriptor, request);
        PrepareDirectory(request);
        if (request.Workload.Kind == WorkloadKind.Open)
            BlockDevice.AwaitRest(request.Directory);

        var observer = new EngineObserver();
        var dataFileBefore = DataFileBytes(descriptor, request.Directory) ?? 0;
        var allocatedBefore = DiskUsage.AllocatedBytes(request.Directory);
        var meter = request.Workload.Kind == WorkloadKind.Open ? ProcessMeter.Start() : null;
        var opening = Stopwatch.GetTimestamp();
        var firstSecond = request.Workload.IsFirstSecond ? new FirstSecond(opening, request.StopsAfterLastSlice) : null;
        var engine = descriptor.Open(request.Directory, observer);
        var openNanoseconds = Clock.Nanoseconds(opening, Stopwatch.GetTimestamp());
        try
        {
            var workload = request.Workload;
            if (!workload.CreatesStore && workload.Kind != WorkloadKind.Open && firstSecond is null)
                ScanLoop.CheckStore(engine, workload.ItemsBefore(request.Items));
            var result = Measure(request, engine, new Opening(openNanoseconds, firstSecond, meter), observer, progress) with
            {
                AllocatedBytesBefore = allocatedBefore,
                DataFileBytesBefore = dataFileBefore,
            };
            if (leaveOpen is not null)
            {
                leaveOpen(engine);
                engine = null!;
                return WithBytesSince(request, result);
            }

            // An engine may still write when it is closed.
            engine.Dispose();
            engine = null!;
            result = WithProbes(request, WithBytesSince(request, result));
            return result with { DataFileBytesClosed = DataFileBytes(descriptor, request.Directory), Flushes = observer.SummariseFlushes() };
        }
        finally
        {
            engine?.Dispose();
        }
    }

    private static RunResult Measure(RunRequest request, BenchmarkEngine engine, Opening opening, EngineObserver observer, ProgressSignal progress)
    {
        var workload = request.Workload;
        var run = CreateRun(request, opening, progress);
        long? allocatedAtPublishedPoint = null;
        var device = BlockDevice.Find(request.Directory)?.Read();

        observer.IsActive = true;
        var meter = opening.Meter ?? ProcessMeter.Start();
        var writeTime = engine.CommitWriteTime;
        WorkloadLoops.Run(engine, request, run, transaction =>
        {
            if (transaction == EngineObserver.PublishedTransactions)
                allocatedAtPublishedPoint = DiskUsage.AllocatedBytes(request.Directory);
        });
        writeTime = engine.CommitWriteTime - writeTime;
        var usage = meter.Stop();
        var memory = MemoryUse.Read();

        if (run.Misses != 0)
            throw new BenchmarkException($"{request.Engine}: {run.Misses:N0} of {request.Operations:N0} operations did not find their item.");
        if (workload.Kind == WorkloadKind.Open)
            run.AddEngineTime(opening.Nanoseconds);
        var operations = run.OperationsDone ?? request.Operations;
        var checksum = Checksum(request, engine, run, operations);
        var allocatedBytes = DiskUsage.AllocatedBytes(request.Directory);
        long beside = 0;
        var flushes = observer.FlushIntervals();
        var besideFlushes = run.CommitLog?.During(flushes, out beside);
        return new RunResult
        {
            Engine = request.Engine,
            Settings = engine.Settings,
            Workload = workload.Name,
            Round = request.Round,
            Items = request.Items,
            Operations = operations,
            Transactions = (request with { Operations = operations }).Transactions,
            EngineSeconds = run.EngineNanoseconds / 1e9,
            Usage = usage,
            CommitLatency = workload.IsLoad ? null : run.Commits.Summarise(),
            TransactionLatency = workload.IsLoad ? null : run.Transactions.Summarise(),
            DeviceShare = workload is { Writes: true, IsLoad: false } ? writeTime?.TotalSeconds * 1e9 / run.EngineNanoseconds : null,
            ReaderOperationsPerSecond = run.ReaderOperationsPerSecond,
            MemoryProbe = workload.Callers > 1 && !workload.Writes
                ? MemoryProbe.Run(request.Items * (ItemGenerator.KeyBytes + workload.ValueBytes), workload.Callers)
                : null,
            FirstSecond = run.FirstSecond?.Summarise(opening.Nanoseconds),
            Note = run.IsCut && !workload.IsFirstSecond ? $"{run.Note} stopped after {request.Limit.TotalSeconds:0} s".Trim() : run.Note,
            IsCut = run.IsCut,
            CommitLatencyBesideFlushes = besideFlushes,
            CommitsBesideFlushes = beside,
            ManagedBytesPerOperation = run.Allocation.BytesPerOperation,
            PageBytes = engine.PageSize,
            Memory = memory,
            BytesPerOperation = ItemGenerator.KeyBytes + workload.ValueBytes,
            DeviceBytesWritten = device?.Bytes,
            DeviceWrites = device?.Writes,
            AllocatedBytesAtPublishedPoint = allocatedAtPublishedPoint ?? allocatedBytes,
            AllocatedBytes = allocatedBytes,
            AllocatedBytesClosed = allocatedBytes,
            Commits = observer.SummariseCommits(),
            Flushes = observer.SummariseFlushes(),
            Checksum = checksum.ToString("x16", CultureInfo.InvariantCulture),
        };
    }

    private static TimedRun CreateRun(RunRequest request, Opening opening, ProgressSignal progress) => new(progress)
    {
        CommitLog = request.Workload is { Writes: true, IsFirstSecond: false, IsLoad: false } ? new CommitLog(request.Transactions) : null,
        Limit = request.Limit,
        FirstSecond = opening.FirstSecond,
    };

    /// <summary>The checksum of the store after writes and openings, otherwise of what was read.</summary>
    private static ulong Checksum(RunRequest request, BenchmarkEngine engine, TimedRun run, long operations)
    {
        var workload = request.Workload;
        return workload.Writes || workload.Kind == WorkloadKind.Open
            ? ScanLoop.CheckStore(engine, workload.CreatesStore ? operations : workload.ItemsAfter(request.Items), workload.LeavesOwnValues)
            : run.Checksum;
    }

    /// <summary>Replaces the counters at the start of the run by the differences since then.</summary>
    private static RunResult WithBytesSince(RunRequest request, RunResult result)
    {
        var device = BlockDevice.Find(request.Directory)?.Read();
        return result with
        {
            DeviceBytesWritten = device?.Bytes - result.DeviceBytesWritten,
            DeviceWrites = device?.Writes - result.DeviceWrites,
            AllocatedBytesClosed = DiskUsage.AllocatedBytes(request.Directory),
        };
    }

    /// <summary>Probes the machine with the same kind of work, in this process and directory, after the store was closed.</summary>
    private static RunResult WithProbes(RunRequest request, RunResult result)
    {
        var workload = request.Workload;
        if (!ProbesDevice || workload.IsFirstSecond)
            return result;
        if (workload is { Kind: WorkloadKind.Get, Callers: 1, ValueBytes: > ItemGenerator.ValueBytes })
            return result with { MemoryPassMegabytesPerSecond = MemoryPass.Run(request with { Operations = result.Operations }) };

        // An engine that merges the puts of its callers, and does not report its commits, leaves their size and their number unknown.
        if (result.CommitLatency is null || (workload.Callers > 1 && result.Commits is null))
            return result;
        LinuxCalls.SyncAll();
        var computing = result.ComputingSecondsPerCommit * 1e9;
        result = result with
        {
            PacedProbe = PacedProbe.Run(request.Directory, BytesPerCommit(workload, result), computing),
            SequentialMegabytesPerSecond = workload.ValueBytes > ItemGenerator.ValueBytes
                ? RawDeviceProbe.SequentialMegabytesPerSecond(request.Directory)
                : null,
        };
        if (result is not { CommitLatencyBesideFlushes: not null, Commits: { } commits, Flushes: { } flushes })
            return result;
        var writeBytes = flushes.Bytes.Total / Math.Max(1, flushes.Seeks.Total);
        return result with
        {
            FlushingProbe = FlushingProbe.Run(
                request.Directory, (long)commits.JournalBytes.Average, (long)computing, (int)Math.Min(writeBytes, int.MaxValue), SyncedBytes),
        };
    }

    /// <summary>The bytes that a commit makes durable: its record or, where that is unknown or does not hold large values, its items.</summary>
    private static double BytesPerCommit(WorkloadDefinition workload, RunResult result) =>
        result.Commits is { } commits && workload.ValueBytes < SmallestLargeValueBytes
            ? commits.JournalBytes.Average
            : (double)result.Operations * result.BytesPerOperation / result.DurableCommits;

    private static long? DataFileBytes(EngineDescriptor descriptor, string directory) =>
        descriptor.DataFileName is { } name && Path.Combine(directory, name) is var path && File.Exists(path)
            ? DiskUsage.AllocatedFileBytes(path)
            : null;

    private static void PrepareDirectory(RunRequest request)
    {
        if (request.Workload.CreatesStore)
            WorkArea.Delete(request.Directory);
        else if (!Directory.Exists(request.Directory))
        {
            var creator = WorkloadCatalog.CreatorOf(request.Workload).Name;
            throw new BenchmarkException($"{request.Directory}: no store here yet. Run the workload {creator} first.");
        }
        Directory.CreateDirectory(request.Directory);
    }

    /// <param name="FirstSecond">Null if the process has warmed up.</param>
    /// <param name="Meter">Started before the opening if that is what the workload measures, otherwise null.</param>
    private readonly record struct Opening(long Nanoseconds, FirstSecond? FirstSecond, ProcessMeter? Meter);
}

/// <summary>Runs the loop of each kind of workload.</summary>
internal static class WorkloadLoops
{
    /// <param name="afterTransaction">Called between measured transactions with the number of transactions done.</param>
    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run, Action<long>? afterTransaction = null)
    {
        switch (request.Workload.Kind)
        {
            case WorkloadKind.ConcurrentInsert:
                ConcurrentLoop.Run(engine, request, run);
                break;
            case WorkloadKind.UpdateWhileReading:
                MixedLoop.Run(engine, request, run);
                break;
            case WorkloadKind.Get when request.Workload.Callers > 1:
                ReadLoop.RunThreads(engine, request, run);
                break;
            case WorkloadKind.Get or WorkloadKind.GetInOrder or WorkloadKind.GetMany or WorkloadKind.Open:
                ReadLoop.Run(engine, request, run);
                break;
            case WorkloadKind.ScanForward or WorkloadKind.ScanBackward:
                ScanLoop.Run(engine, request.Operations, request.Workload.Kind == WorkloadKind.ScanBackward, run);
                break;
            default:
                WriteLoop.Run(engine, request, run, afterTransaction);
                break;
        }
    }
}
