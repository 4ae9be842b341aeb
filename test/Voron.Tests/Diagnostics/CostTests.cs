using Voron.Simulation.Memory;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>Metrics and activities cost nothing while there is no listener. Alone, because listeners are those of the process.</summary>
[Collection(nameof(Alone))]
[Quick]
public sealed class CostTests
{
    private const int Commits = 2000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_commit_allocates_nothing_whether_the_meter_is_listened_to_or_not(bool isListenedTo)
    {
        using var factory = new TestMeterFactory();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MeterFactory = factory });
        using var listener = isListenedTo ? new CountingListener(factory) : null;
        Commit(environment, Commits);
        listener?.Reset();

        // A queue or a list that grows once is no garbage of a commit.
        ManagedAllocation.Least(() => Commit(environment, Commits)).Should().BeLessThan(Commits, "a commit allocates nothing");
        if (listener != null)
            TestWait.Until(() => listener.Count >= 2 * Commits, "each commit has two durations");
    }

    [Fact]
    public void A_commit_that_is_traced_allocates_so_that_the_test_above_measures_something()
    {
        using var records = new ActivityRecords("costly");
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, Name = "costly" });
        Commit(environment, 10);
        var before = Allocated;
        Commit(environment, 10);
        (Allocated - before).Should().BeGreaterThan(10 * 100);
    }

    [Fact]
    public void A_read_allocates_nothing()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        FaultTestKit.Put(environment, 1, [1]);
        Read(environment, Commits);
        ManagedAllocation.Least(() => Read(environment, Commits)).Should().BeLessThan(Commits);
    }

    // Without what the tests' own hooks in the engine's memory allocate.
    private static long Allocated => GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;

    private static void Commit(StorageEnvironment environment, int commits)
    {
        Span<byte> key = stackalloc byte[8];
        for (var i = 0; i < commits; i++)
        {
            BitConverter.TryWriteBytes(key, i % 100);
            using var writing = environment.BeginWrite();
            writing.CreateTree("items").Put(key, key);
            writing.Commit();
        }
    }

    private static void Read(StorageEnvironment environment, int reads)
    {
        for (var i = 0; i < reads; i++)
        {
            using var reading = environment.BeginRead();
            if (reading.OpenTree(FaultTestKit.TreeName).Contains("none"u8))
                throw new InvalidOperationException("The key is not there.");
        }
    }

    /// <summary>Counts durations, and allocates nothing itself.</summary>
    private sealed class CountingListener : IDisposable
    {
        private readonly System.Diagnostics.Metrics.MeterListener _listener = new();
        private int _count;

        public CountingListener(TestMeterFactory factory)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Scope == factory)
                    listener.EnableMeasurementEvents(instrument);
            };
            _listener.SetMeasurementEventCallback<double>((_, _, _, _) => Interlocked.Increment(ref _count));
            _listener.Start();
        }

        public int Count => Volatile.Read(ref _count);

        public void Reset() => Volatile.Write(ref _count, 0);

        public void Dispose() => _listener.Dispose();
    }
}
