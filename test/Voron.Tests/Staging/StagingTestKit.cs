using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>Helpers shared by the tests of staged values.</summary>
internal static class StagingTestKit
{
    public const int Large = 16 << 10;

    public static StorageOptions Options(ListLogger? logger = null, int pageSize = 4096) => new()
    {
        PageSize = pageSize,
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        LargeValueBytes = Large,
        MaxGrowthBytes = 1 << 20,
        LeakGrace = TimeSpan.Zero,
        LoggerFactory = logger == null ? null : new OneLoggerFactory(logger),
    };

    public static StorageEnvironment Open(SimulatedDisk? disk = null) => StorageEnvironment.Open(disk ?? new SimulatedDisk(), Options());

    /// <summary>Uploads a value whose length the engine does not know in advance.</summary>
    public static StagedValue Stage(StorageEnvironment environment, byte[] value) =>
        environment.StageAsync(PipeReader.Create(new MemoryStream(value))).AsTask().GetAwaiter().GetResult();

    /// <summary>Uploads a value of a random content that follows from its key.</summary>
    public static StagedValue Stage(StorageEnvironment environment, int seed, int length) => Stage(environment, FaultTestKit.Value(seed, length));

    /// <summary>Puts a staged value in a transaction of its own.</summary>
    public static void Put(StorageEnvironment environment, int key, StagedValue staged)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), staged);
        writing.Commit();
    }

    public static void Delete(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Delete(FaultTestKit.Key(key)).Should().BeTrue();
        writing.Commit();
    }

    public static void Check(StorageEnvironment environment, int key, int seed, int length)
    {
        var expected = FaultTestKit.Value(seed, length);
        var found = FaultTestKit.Get(environment, key);
        found.Should().NotBeNull($"key {key} was committed");
        found.AsSpan().SequenceEqual(expected).Should().BeTrue($"key {key} must have the {length} bytes that were staged");
    }

    /// <summary>Verifies the structure, and that nothing is reserved any more.</summary>
    public static void CheckUnreserved(StorageEnvironment environment)
    {
        // A transaction makes the pages of ended reservations available.
        environment.BeginWrite().Dispose();
        environment.GetStatistics().StagedBytes.Should().Be(0);
        environment.Internals.Engine.Reserved!.SectionCount.Should().Be(0);
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Waits for a task that completes without the calling thread.</summary>
    public static T Wait<T>(ValueTask<T> task) => Wait(task.AsTask());

    /// <inheritdoc cref="Wait{T}(ValueTask{T})"/>
    public static T Wait<T>(Task<T> task) => task.WaitAsync(TestWait.Limit).GetAwaiter().GetResult();

    /// <inheritdoc cref="Wait{T}(ValueTask{T})"/>
    public static void Wait(Task task) => task.WaitAsync(TestWait.Limit).GetAwaiter().GetResult();

    /// <summary>Waits until a condition holds.</summary>
    public static void WaitUntil(Func<bool> condition, string what) => TestWait.Until(condition, what);
}
