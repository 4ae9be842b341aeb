namespace Voron.Benchmarks.Workloads;

internal static class ScanLoop
{
    /// <summary>Scans <paramref name="operations"/> items and starts over whenever it reaches the end of the store.</summary>
    public static void Run(BenchmarkEngine engine, long operations, bool backward, TimedRun run)
    {
        using var reader = engine.CreateReader();
        var started = Stopwatch.GetTimestamp();
        ContentChecksum checksum = default;
        var left = operations;
        reader.Begin();
        while (left > 0 && !run.ShouldStop(started))
        {
            var before = left;
            left = Scan(reader, left, backward, ref checksum);
            if (left == before)
                throw new BenchmarkException("The scan found an empty store.");
            run.Progress.Report(operations - left, operations);
            run.Allocation.Report(operations - left, operations);
        }
        reader.End();
        run.AddEngineTime(started, Stopwatch.GetTimestamp());
        run.OperationsDone = operations - left;
        run.Allocation.End(operations - left);
        run.Checksum = checksum.Sum;
    }

    /// <summary>Reads the whole store once and returns its checksum.</summary>
    /// <exception cref="BenchmarkException">The store has another number of items.</exception>
    public static ulong CheckStore(BenchmarkEngine engine, long expectedItems, bool keysOnly = false)
    {
        using var reader = engine.CreateReader();
        ContentChecksum checksum = default;
        ulong keys = 0;
        reader.Begin();
        var count = keysOnly ? CountKeys(reader, ref keys) : long.MaxValue - Scan(reader, long.MaxValue, backward: false, ref checksum);
        reader.End();
        return count == expectedItems
            ? keysOnly ? keys : checksum.Sum
            : throw new BenchmarkException(
                $"The store should have {expectedItems:N0} items, but a scan found {count:N0}.");
    }

    private static long CountKeys(BenchmarkReader reader, ref ulong sum)
    {
        long count = 0;
        for (var found = reader.MoveFirst(out var key, out _); found; found = reader.MoveNext(out key, out _))
        {
            sum = (sum * 31) + MemoryMarshal.Read<ulong>(key[(ItemGenerator.KeyBytes - sizeof(ulong))..]);
            count++;
        }
        return count;
    }

    /// <summary>Reads to the end of the store, at most <paramref name="left"/> items.</summary>
    /// <returns>The number of items still to read.</returns>
    private static long Scan(BenchmarkReader reader, long left, bool backward, ref ContentChecksum checksum)
    {
        var sum = checksum;
        var found = backward ? reader.MoveLast(out var key, out var value) : reader.MoveFirst(out key, out value);
        while (found)
        {
            sum.Add(key, value);
            if (--left == 0)
                break;
            found = backward ? reader.MovePrevious(out key, out value) : reader.MoveNext(out key, out value);
        }
        checksum = sum;
        return left;
    }
}
