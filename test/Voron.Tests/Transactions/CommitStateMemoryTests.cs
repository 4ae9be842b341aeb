using System.Runtime.CompilerServices;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Objects attached to commits cost readers no memory, and are kept alive only as long as documented.</summary>
[Quick]
public sealed class CommitStateMemoryTests
{
    [Fact]
    public void Reading_it_allocates_nothing()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        CommitStateKit.Commit(environment, 1);

        // The runtime compiles the methods again while the first rounds run.
        var least = long.MaxValue;
        for (var round = 0; round < 40; round++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            var sum = ReadOften(environment);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            sum.Should().Be(1_000);
        }

        least.Should().Be(0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int ReadOften(StorageEnvironment environment)
    {
        var sum = 0;
        for (var i = 0; i < 1_000; i++)
        {
            using var reading = environment.BeginRead();
            sum += CommitStateKit.VersionIn(reading);
        }

        return sum;
    }

    [Fact]
    public void A_replaced_object_is_released_when_memory_is_trimmed_unless_a_snapshot_has_it()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        var first = Attach(environment);
        Read(environment, 3);
        var second = Attach(environment);
        var reading = environment.BeginRead();
        var third = Attach(environment);
        environment.Internals.Engine.Ring.HasOlderAttached.Should().BeTrue();
        environment.Internals.TrimMemory();
        environment.Internals.Engine.Ring.HasOlderAttached.Should().BeFalse();
        IsAlive(first).Should().BeFalse("no snapshot has it");
        IsAlive(second).Should().BeTrue("a snapshot has it");
        reading.Dispose();
        environment.Internals.TrimMemory();
        IsAlive(second).Should().BeFalse("the snapshot has ended");
        IsAlive(third).Should().BeTrue("the newest state has it");
        CommitStateKit.VersionNow(environment).Should().Be(1);
        Attach(environment, isRemoved: true);
        environment.Internals.TrimMemory();
        IsAlive(third).Should().BeFalse("it was removed");
    }

    [Fact]
    public void A_transaction_that_is_rolled_back_releases_it_at_once()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        IsAlive(Attach(environment, commits: false)).Should().BeFalse();
        environment.BeginRead().Dispose();
    }

    [Fact]
    public void A_closed_environment_keeps_nothing_alive_once_its_last_reader_has_ended()
    {
        var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        var first = Attach(environment);
        var reading = environment.BeginRead();
        Read(environment, 3);
        var second = Attach(environment);
        Read(environment, 3);
        environment.Dispose();
        CommitStateKit.VersionIn(reading).Should().Be(1, "an open transaction can be used on");
        reading.Dispose();
        IsAlive(first).Should().BeFalse();
        IsAlive(second).Should().BeFalse();
        environment.Invoking(closed => closed.BeginRead()).Should().Throw<ObjectDisposedException>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Attach(StorageEnvironment environment, bool commits = true, bool isRemoved = false)
    {
        var schema = new CommitStateKit.Schema(1);
        using var writing = environment.BeginWrite();
        writing.SetState(CommitStateKit.Key, isRemoved ? null : schema);
        if (commits)
            writing.Commit();
        return new WeakReference(schema);
    }

    // Several bodies of readers keep it until their next use.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Read(StorageEnvironment environment, int count)
    {
        var readings = Enumerable.Range(0, count).Select(_ => environment.BeginRead()).ToList();
        foreach (var reading in readings)
        {
            CommitStateKit.VersionIn(reading).Should().Be(1);
            reading.Dispose();
        }
    }

    private static bool IsAlive(WeakReference reference)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return reference.IsAlive;
    }
}
