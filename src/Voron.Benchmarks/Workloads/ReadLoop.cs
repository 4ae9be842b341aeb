namespace Voron.Benchmarks.Workloads;

internal static class ReadLoop
{
    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        using var reader = engine.CreateReader();
        ContentChecksum checksum = default;
        run.OperationsDone = Run(reader, request, firstOperation: 0, run, ref checksum);
        run.Checksum = checksum.Sum;
    }

    /// <summary>Divides the operations among threads, each with its own reader. The time of the slowest thread counts.</summary>
    public static void RunThreads(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        var threads = request.Workload.Callers;
        var share = request with { Operations = request.Operations / threads };
        var runs = new TimedRun[threads];
        var done = new long[threads];
        var checksums = new ContentChecksum[threads];
        ParallelCallers.Run(threads, thread =>
        {
            runs[thread] = new TimedRun(thread == 0 ? run.Progress : new ProgressSignal(null)) { Limit = run.Limit };
            using var reader = engine.CreateReader();
            done[thread] = Run(reader, share, thread * share.Operations, runs[thread], ref checksums[thread]);
        });
        ContentChecksum all = default;
        foreach (var checksum in checksums)
            all.Add(in checksum);
        run.Checksum = all.Sum;
        run.Misses += runs.Sum(part => part.Misses);
        run.AddEngineTime(runs.Max(part => part.EngineNanoseconds));
        run.OperationsDone = done.Sum();
        run.IsCut = runs.Any(part => part.IsCut);
    }

    private static long Run(BenchmarkReader reader, RunRequest request, long firstOperation, TimedRun run, ref ContentChecksum checksum)
    {
        var capacity = (int)Math.Min(request.Workload.ItemsPerTransaction, request.Operations);
        var buffer = new ItemBuffer(request.Workload.Keys, capacity, withValues: false);
        var started = Stopwatch.GetTimestamp();
        long done = 0;
        while (done < request.Operations && !run.ShouldStop(started))
        {
            var count = (int)Math.Min(capacity, request.Operations - done);
            Fill(buffer, request, firstOperation + done, count);
            Transaction(reader, request.Workload, buffer, count, run, ref checksum);
            done += count;
            run.Progress.Report(done, request.Operations);
            run.Allocation.Report(done, request.Operations);
        }
        run.Allocation.End(done);
        return done;
    }

    public static void Fill(ItemBuffer buffer, RunRequest request, long done, int count)
    {
        var inOrder = request.Workload.Kind == WorkloadKind.GetInOrder;
        for (var i = 0; i < count; i++)
            buffer.SetKey(i, inOrder ? (done + i) % request.Items : ItemGenerator.PickItem(done + i, request.Round, request.Items));
    }

    public static void Transaction(
        BenchmarkReader reader, WorkloadDefinition workload, ItemBuffer buffer, int count, TimedRun run, ref ContentChecksum checksum)
    {
        var began = Stopwatch.GetTimestamp();
        reader.Begin();
        var found = workload.Kind == WorkloadKind.GetMany
            ? reader.GetMany(buffer, count, ref checksum)
            : workload.ValueBytes > ItemGenerator.ValueBytes
                ? GetWhole(reader, buffer, count, ref checksum)
                : reader.GetEach(buffer, count, ref checksum);
        reader.End();
        run.AddEngineTime(began, Stopwatch.GetTimestamp());
        run.Misses += count - found;
    }

    /// <summary>Reads every byte of each large value, as an application would.</summary>
    private static int GetWhole(BenchmarkReader reader, ItemBuffer buffer, int count, ref ContentChecksum checksum)
    {
        var found = 0;
        for (var i = 0; i < count; i++)
        {
            if (!reader.TryGet(buffer.Key(i), out var value))
                continue;
            checksum.AddWhole(value);
            found++;
        }
        return found;
    }
}
