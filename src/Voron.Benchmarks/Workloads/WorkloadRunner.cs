using System.Diagnostics;
using System.Globalization;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Runs one workload in this process and measures it: warm the compiled code on a throw-away store, open, look at the
/// whole store once where it is not new, measure, check what is there, close.
/// </summary>
internal static class WorkloadRunner
{
    private const int WarmUpItems = 10_000;
    private static readonly TimeSpan WarmUpTime = TimeSpan.FromMilliseconds(600);

    /// <exception cref="BenchmarkException">The store is not what the workload needs, or a read missed an item.</exception>
    public static RunResult Run(RunRequest request, ProgressSignal progress)
    {
        EngineDescriptor descriptor = EngineCatalog.Require(request.Engine);
        WarmUp(descriptor, request);
        PrepareDirectory(request);

        var observer = new EngineObserver();
        BenchmarkEngine engine = descriptor.Open(request.Directory, observer);
        try
        {
            if (!request.Workload.CreatesStore)
                ScanStore(engine, request.Items);
            return Measure(request, ref engine!, observer, progress);
        }
        finally
        {
            engine?.Dispose();
        }
    }

    private static RunResult Measure(RunRequest request, ref BenchmarkEngine? engine, EngineObserver observer, ProgressSignal progress)
    {
        var run = new TimedRun(progress);
        long? allocatedAtPublishedPoint = null;
        BlockDevice? device = BlockDevice.Find(request.Directory);
        DeviceWrites? deviceBefore = device?.Read();
        long? processBytesBefore = ProcessMeter.ReadBytesWritten();

        observer.IsActive = true;
        ProcessMeter meter = ProcessMeter.Start();
        WorkloadLoops.Run(engine!, request, run, transaction =>
        {
            if (transaction == EngineObserver.PublishedTransactions)
                allocatedAtPublishedPoint = DiskUsage.AllocatedBytes(request.Directory);
        });
        ProcessUsage usage = meter.Stop();

        if (run.Misses != 0)
            throw new BenchmarkException($"{request.Engine}: {run.Misses:N0} of {request.Operations:N0} gets found nothing.");
        ulong checksum = request.Workload.Writes ? ScanStore(engine!, request.Items) : run.Checksum;
        long allocatedBytes = DiskUsage.AllocatedBytes(request.Directory);
        string settings = engine!.Settings;

        long closing = Stopwatch.GetTimestamp();
        engine.Dispose();
        engine = null;
        double closeSeconds = Stopwatch.GetElapsedTime(closing).TotalSeconds;
        DeviceWrites? deviceWrites = device?.Read() - deviceBefore;

        return new RunResult
        {
            Engine = request.Engine,
            Settings = settings,
            Workload = request.Workload.Name,
            Round = request.Round,
            Items = request.Items,
            Operations = request.Operations,
            Transactions = request.Transactions,
            EngineSeconds = run.EngineNanoseconds / 1e9,
            Usage = usage,
            CommitLatency = run.Commits.Summarise(),
            TransactionLatency = run.Transactions.Summarise(),
            Commits = observer.SummariseCommits(),
            Flushes = observer.SummariseFlushes(),
            DeviceBytesWritten = deviceWrites?.Bytes,
            DeviceWrites = deviceWrites?.Writes,
            ProcessBytesWritten = ProcessMeter.ReadBytesWritten() - processBytesBefore,
            AllocatedBytesAtPublishedPoint = allocatedAtPublishedPoint ?? allocatedBytes,
            AllocatedBytes = allocatedBytes,
            AllocatedBytesClosed = DiskUsage.AllocatedBytes(request.Directory),
            CloseSeconds = closeSeconds,
            Checksum = checksum.ToString("x16", CultureInfo.InvariantCulture),
        };
    }

    /// <summary>
    /// The same loops on a small store, until tiered compilation has seen them and its background work is done. Otherwise
    /// the first engine call of a process, and every short run, would be measured as unoptimised code.
    /// </summary>
    private static void WarmUp(EngineDescriptor descriptor, RunRequest request)
    {
        string directory = request.Directory + ".warm-up";
        DeleteDirectory(directory);
        Directory.CreateDirectory(directory);
        try
        {
            using BenchmarkEngine engine = descriptor.Open(directory, new EngineObserver());
            WorkloadDefinition filling = WorkloadCatalog.CreatorOf(request.Workload) with { ItemsPerTransaction = 1_000 };
            RunRequest fill = request with { Workload = filling, Items = WarmUpItems, Operations = WarmUpItems };
            // A scan has no transactions to repeat: it goes over the store, so that the way from page to page is warm too.
            int perTransaction = request.Workload.ItemsPerTransaction;
            RunRequest repeat = request with { Items = WarmUpItems, Operations = perTransaction == 0 ? WarmUpItems : perTransaction * 20 };
            var ignored = new TimedRun(new ProgressSignal(null));
            WorkloadLoops.Run(engine, fill, ignored);
            long started = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(started) < WarmUpTime)
            {
                WorkloadLoops.Run(engine, repeat, ignored);
                ScanStore(engine, WarmUpItems);
            }
        }
        finally
        {
            DeleteDirectory(directory);
        }
    }

    private static void PrepareDirectory(RunRequest request)
    {
        if (request.Workload.CreatesStore)
            DeleteDirectory(request.Directory);
        else if (!Directory.Exists(request.Directory))
        {
            string creator = WorkloadCatalog.CreatorOf(request.Workload).Name;
            throw new BenchmarkException($"{request.Directory}: no store here yet. Run {creator} first.");
        }
        Directory.CreateDirectory(request.Directory);
    }

    private static ulong ScanStore(BenchmarkEngine engine, long expectedItems)
    {
        engine.BeginRead();
        long count = engine.CountItems();
        engine.EndRead();
        if (count != expectedItems)
            throw new BenchmarkException($"The store has {count:N0} items, not {expectedItems:N0}.");
        var scan = new TimedRun(new ProgressSignal(null));
        WorkloadLoops.Scan(engine, expectedItems, backward: false, scan);
        return scan.Checksum;
    }

    private static void DeleteDirectory(string directory)
    {
        if (Directory.Exists(directory))
            Directory.Delete(directory, recursive: true);
    }
}
