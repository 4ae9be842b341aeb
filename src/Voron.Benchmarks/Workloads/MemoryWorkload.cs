namespace Voron.Benchmarks.Workloads;

/// <summary>The work that a process does while its memory is limited.</summary>
internal enum MemoryPhase
{
    /// <summary>Random puts of new items, 100 a transaction.</summary>
    Put,

    /// <summary>Random updates behind a reader that began before them, 10,000 a transaction.</summary>
    UpdateBehindReader,

    /// <summary>Random puts of new items in a single transaction, however large.</summary>
    OneTransaction,

    /// <summary>Random puts that are not flushed. The process ends by a signal, and leaves them in the journal.</summary>
    LeaveJournal,

    /// <summary>An opening that replays what <see cref="LeaveJournal"/> has left.</summary>
    Recover,
}

/// <summary>Runs one phase of the measurement of memory limits in this process.</summary>
/// <param name="items">The number of items that the first phase has put, or is to put.</param>
/// <param name="memoryLimitBytes">The limit to set explicitly; null for the default.</param>
internal sealed class MemoryWorkload(string directory, long items, long? memoryLimitBytes)
{
    /// <summary>The later phases do one part in this many of the operations of the first.</summary>
    public const int LaterPart = 4;

    private const string TreeName = "items";
    private const int ItemsOfTransaction = 100;
    private const int ItemsOfLongTransaction = 10_000;
    private const long LargestTransaction = 2L << 30;

    private readonly ItemGenerator _generator = new(KeyOrder.Random);
    private readonly byte[] _key = new byte[ItemGenerator.KeyBytes];
    private readonly byte[] _value = new byte[ItemGenerator.ValueBytes];

    /// <summary>Runs a phase, and returns what it took.</summary>
    /// <param name="leave">Called with the result by a phase that must not close the environment.</param>
    public MemoryPhaseResult Run(MemoryPhase phase, Action<MemoryPhaseResult> leave)
    {
        var started = Stopwatch.GetTimestamp();
        using var environment = StorageEnvironment.Open(directory, Options(phase));
        if (phase != MemoryPhase.Recover)
            started = Stopwatch.GetTimestamp();
        var later = Math.Max(1, items / LaterPart);
        switch (phase)
        {
            case MemoryPhase.Put:
                Put(environment, items, ItemsOfTransaction, version: 0, number => number);
                break;

            case MemoryPhase.UpdateBehindReader:
                using (environment.BeginRead())
                    Put(environment, later, ItemsOfLongTransaction, version: 1, number => ItemGenerator.PickItem(number, 0, items));
                break;

            case MemoryPhase.OneTransaction:
                Put(environment, later, later, version: 0, number => items + number);
                break;

            case MemoryPhase.LeaveJournal:
                Put(environment, later, ItemsOfTransaction, version: 0, number => items + later + number);
                break;
        }

        var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        var replayed = environment.Recovery.ReplayedBytes;
        var result = new MemoryPhaseResult(
            phase == MemoryPhase.Put ? items : later, seconds, environment.Options.MemoryLimitBytes ?? 0,
            environment.Internals.Engine.Memory.Account.PeakBytes, environment.GetStatistics().SpilledBytes, replayed);
        if (phase == MemoryPhase.LeaveJournal)
            leave(result);
        return result;
    }

    private StorageOptions Options(MemoryPhase phase)
    {
        var options = new StorageOptions { MemoryLimitBytes = memoryLimitBytes, ScrubInterval = Timeout.InfiniteTimeSpan };
        if (phase == MemoryPhase.OneTransaction)
            options.MaxTransactionBytes = LargestTransaction;

        // Another environment, with more memory, may have left that journal.
        if (phase == MemoryPhase.LeaveJournal)
        {
            options.MemoryLimitBytes = LargestTransaction;
            options.BackgroundFlush = false;
        }

        return options;
    }

    private void Put(StorageEnvironment environment, long count, long perTransaction, int version, Func<long, long> itemOf)
    {
        for (var done = 0L; done < count;)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(TreeName);
            for (var end = Math.Min(count, done + perTransaction); done < end; done++)
                Put(tree, itemOf(done), version);
            writing.Commit();
        }
    }

    private void Put(WriteTree tree, long item, int version)
    {
        _generator.WriteKey(item, _key);
        ItemGenerator.FixedText.CopyTo(_value.AsSpan(ItemGenerator.RandomValueBytes));
        ItemGenerator.WriteRandomValue(item, version, _value);
        tree.Put(_key, _value);
    }
}

/// <summary>What a phase took, as its process saw it.</summary>
internal sealed record MemoryPhaseResult(
    long Operations, double Seconds, long LimitBytes, long NativePeakBytes, long SpilledBytes, long ReplayedBytes);
