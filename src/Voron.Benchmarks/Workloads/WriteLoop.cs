namespace Voron.Benchmarks.Workloads;

/// <summary>Runs one writer. The loop does not allocate.</summary>
internal static class WriteLoop
{
    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run, Action<long>? afterTransaction)
    {
        var workload = request.Workload;
        var capacity = (int)Math.Min(workload.ItemsPerTransaction, request.Operations);
        var deletes = workload.Kind == WorkloadKind.DeleteHalf;
        var buffer = new ItemBuffer(workload.Keys, capacity, withValues: !deletes, workload.ValueBytes);
        long transaction = 0;
        long done = 0;
        var started = Stopwatch.GetTimestamp();
        if (workload.IsLoad)
        {
            engine.BeginLoad(workload.IsSortedInput);
            run.AddEngineTime(started, Stopwatch.GetTimestamp());
        }

        // Others are not cut short, because all engines must leave the same items.
        while (done < request.Operations && !(workload.IsFirstSecond && run.ShouldStop(started)))
        {
            var count = (int)Math.Min(capacity, request.Operations - done);
            Fill(buffer, request, done, count);
            if (deletes)
                DeleteTransaction(engine, buffer, count, run);
            else
                PutTransaction(engine, buffer, count, workload.IsSortedInput, run);
            done += count;
            afterTransaction?.Invoke(++transaction);
            run.Progress.Report(done, request.Operations);
            run.Allocation.Report(done, request.Operations);
        }
        var waiting = Stopwatch.GetTimestamp();
        engine.WaitForCommits();
        if (workload.IsLoad)
            engine.EndLoad();
        run.AddEngineTime(waiting, Stopwatch.GetTimestamp());
        run.OperationsDone = done;
        run.Allocation.End(done);
    }

    public static void Fill(ItemBuffer buffer, RunRequest request, long done, int count)
    {
        var kind = request.Workload.Kind;
        var isUpdate = kind is WorkloadKind.Update or WorkloadKind.UpdateWhileReading;
        for (var i = 0; i < count; i++)
        {
            var item = kind switch
            {
                WorkloadKind.DeleteHalf or WorkloadKind.InsertAgain => (done + i) * 2,
                _ when isUpdate => ItemGenerator.PickItem(done + i, request.Round, request.Items),
                _ => done + i,
            };
            buffer.SetKey(i, item);
            if (kind != WorkloadKind.DeleteHalf)
                buffer.SetValue(i, item, isUpdate ? Version(request, done + i) : 0);
        }
    }

    /// <summary>Each operation has its own version, because some engines detect an update that changes nothing.</summary>
    private static int Version(RunRequest request, long operation) =>
        unchecked((int)((((long)request.Workload.Kind * 31) + request.Workload.ItemsPerTransaction + request.Round) * 100_000_007) + (int)operation);

    public static void PutTransaction(BenchmarkEngine engine, ItemBuffer buffer, int count, bool isSorted, TimedRun run)
    {
        var began = Stopwatch.GetTimestamp();
        engine.BeginWrite();
        if (isSorted)
        {
            for (var i = 0; i < count; i++)
                engine.Append(buffer.Key(i), buffer.Value(i));
        }
        else
        {
            for (var i = 0; i < count; i++)
                engine.Put(buffer.Key(i), buffer.Value(i));
        }
        Commit(engine, began, count, run);
    }

    private static void DeleteTransaction(BenchmarkEngine engine, ItemBuffer buffer, int count, TimedRun run)
    {
        var began = Stopwatch.GetTimestamp();
        engine.BeginWrite();
        for (var i = 0; i < count; i++)
        {
            if (!engine.Delete(buffer.Key(i)))
                run.Misses++;
        }
        Commit(engine, began, count, run);
    }

    private static void Commit(BenchmarkEngine engine, long began, int operations, TimedRun run)
    {
        var committing = Stopwatch.GetTimestamp();
        engine.Commit();
        var ended = Stopwatch.GetTimestamp();
        run.AddEngineTime(began, ended);
        var nanoseconds = Clock.Nanoseconds(committing, ended);
        run.Commits.Record(nanoseconds);
        run.CommitLog?.Add(ended, nanoseconds);
        run.Transactions.Record(Clock.Nanoseconds(began, ended));
        run.FirstSecond?.Add(began, committing, ended, operations);
    }
}
