using System.Diagnostics;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Workloads;

/// <summary>The loops. Nothing in them allocates.</summary>
internal static class WorkloadLoops
{
    /// <param name="engine">The engine under measurement, opened.</param>
    /// <param name="request">What to do.</param>
    /// <param name="run">Where the figures go.</param>
    /// <param name="afterTransaction">Called between measured transactions with the number of those done.</param>
    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run, Action<long>? afterTransaction = null)
    {
        switch (request.Workload.Kind)
        {
            case WorkloadKind.Insert or WorkloadKind.Update:
                Write(engine, request, run, afterTransaction);
                break;
            case WorkloadKind.Get or WorkloadKind.GetInOrder:
                Get(engine, request, run);
                break;
            case WorkloadKind.ScanForward:
                Scan(engine, request.Operations, backward: false, run);
                break;
            default:
                Scan(engine, request.Operations, backward: true, run);
                break;
        }
    }

    /// <summary>Scans past <paramref name="operations"/> items, from the other end again whenever the store ends.</summary>
    public static void Scan(BenchmarkEngine engine, long operations, bool backward, TimedRun run)
    {
        long started = Stopwatch.GetTimestamp();
        ContentChecksum checksum = default;
        long left = operations;
        engine.BeginRead();
        while (left > 0)
        {
            long before = left;
            left = backward ? ScanBackward(engine, left, ref checksum) : ScanForward(engine, left, ref checksum);
            if (left == before)
                throw new BenchmarkException("The scan found an empty store.");
            run.Progress.Report(operations - left, operations);
        }
        engine.EndRead();
        run.AddEngineTime(started, Stopwatch.GetTimestamp());
        run.Checksum = checksum.Sum;
    }

    private static long ScanForward(BenchmarkEngine engine, long left, ref ContentChecksum checksum)
    {
        ContentChecksum sum = checksum;
        bool found = engine.MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
        while (found)
        {
            sum.Add(key, value);
            if (--left == 0)
                break;
            found = engine.MoveNext(out key, out value);
        }
        checksum = sum;
        return left;
    }

    private static long ScanBackward(BenchmarkEngine engine, long left, ref ContentChecksum checksum)
    {
        ContentChecksum sum = checksum;
        bool found = engine.MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
        while (found)
        {
            sum.Add(key, value);
            if (--left == 0)
                break;
            found = engine.MovePrevious(out key, out value);
        }
        checksum = sum;
        return left;
    }

    private static void Write(BenchmarkEngine engine, RunRequest request, TimedRun run, Action<long>? afterTransaction)
    {
        int capacity = request.Workload.ItemsPerTransaction;
        var buffer = new ItemBuffer(request.Workload.Keys, capacity, withValues: true);
        bool isUpdate = request.Workload.Kind == WorkloadKind.Update;
        long transaction = 0;
        for (long done = 0; done < request.Operations;)
        {
            int count = (int)Math.Min(capacity, request.Operations - done);
            for (int i = 0; i < count; i++)
            {
                long item = isUpdate ? ItemGenerator.PickItem(done + i, request.Round, request.Items) : done + i;
                buffer.SetKey(i, item);
                buffer.SetValue(i, item, isUpdate ? request.Round + 1 : 0);
            }
            WriteTransaction(engine, buffer, count, run);
            done += count;
            afterTransaction?.Invoke(++transaction);
            run.Progress.Report(done, request.Operations);
        }
        long waiting = Stopwatch.GetTimestamp();
        engine.WaitForCommits();
        run.AddEngineTime(waiting, Stopwatch.GetTimestamp());
    }

    private static void WriteTransaction(BenchmarkEngine engine, ItemBuffer buffer, int count, TimedRun run)
    {
        long began = Stopwatch.GetTimestamp();
        engine.BeginWrite();
        for (int i = 0; i < count; i++)
            engine.Put(buffer.Key(i), buffer.Value(i));
        long committing = Stopwatch.GetTimestamp();
        engine.Commit();
        long ended = Stopwatch.GetTimestamp();
        run.AddEngineTime(began, ended);
        run.Commits.Record(Clock.Nanoseconds(committing, ended));
        run.Transactions.Record(Clock.Nanoseconds(began, ended));
    }

    private static void Get(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        int capacity = request.Workload.ItemsPerTransaction;
        var buffer = new ItemBuffer(request.Workload.Keys, capacity, withValues: false);
        bool inOrder = request.Workload.Kind == WorkloadKind.GetInOrder;
        ContentChecksum checksum = default;
        for (long done = 0; done < request.Operations;)
        {
            int count = (int)Math.Min(capacity, request.Operations - done);
            for (int i = 0; i < count; i++)
                buffer.SetKey(i, inOrder ? (done + i) % request.Items : ItemGenerator.PickItem(done + i, request.Round, request.Items));
            GetTransaction(engine, buffer, count, run, ref checksum);
            done += count;
            run.Progress.Report(done, request.Operations);
        }
        run.Checksum = checksum.Sum;
    }

    private static void GetTransaction(BenchmarkEngine engine, ItemBuffer buffer, int count, TimedRun run, ref ContentChecksum checksum)
    {
        ContentChecksum sum = checksum;
        long misses = 0;
        long began = Stopwatch.GetTimestamp();
        engine.BeginRead();
        for (int i = 0; i < count; i++)
        {
            if (engine.TryGet(buffer.Key(i), out ReadOnlySpan<byte> value))
                sum.Add(value);
            else
                misses++;
        }
        engine.EndRead();
        run.AddEngineTime(began, Stopwatch.GetTimestamp());
        run.Misses += misses;
        checksum = sum;
    }
}
