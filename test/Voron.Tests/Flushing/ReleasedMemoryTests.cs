using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

public sealed class ReleasedMemoryTests
{
    private const long MiB = 1 << 20;

    [Fact]
    public void Scratch_that_a_long_reader_made_necessary_goes_back_when_it_has_ended()
    {
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, new StorageOptions
        {
            BackgroundFlush = false,
            LargeValueBytes = 64 << 10,
            ScratchMemoryBytes = 16 * MiB,
            JournalLimitBytes = 4096 * MiB,
        });
        FaultTestKit.Put(environment, 0, [1]);
        var first = environment.GetStatistics();
        using (var reading = environment.BeginRead())
        {
            for (var i = 0; i < 4000; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, i % 3 == 0 ? 30_000 : 2_000));
            reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(0), out var value).Should().BeTrue();
            value.SequenceEqual("\u0001"u8).Should().BeTrue();

            // A reader does not keep free memory from being released, and the release does not touch the memory that the reader pins.
            environment.Internals.TrimMemory();
            environment.Internals.TrimMemory();
            var held = environment.GetStatistics();
            (held.ScratchReservedBytes + held.SpilledBytes).Should().BeGreaterThan(40 * MiB);
            held.SpilledBytes.Should().BeGreaterThan(16 * MiB);
            value.SequenceEqual("\u0001"u8).Should().BeTrue();
        }

        environment.Flush();
        environment.Flush();

        // The first call ends the period of heavy use, the second one the period without.
        environment.Internals.TrimMemory();
        environment.Internals.TrimMemory();
        environment.Internals.TrimMemory();
        var after = environment.GetStatistics();
        after.ScratchBytes.Should().BeLessThan(MiB);
        after.SpilledBytes.Should().BeLessThanOrEqualTo(4 * MiB, "the chunk that frames are being cut from stays");
        after.ScratchReservedBytes.Should().BeLessThanOrEqualTo(first.ScratchReservedBytes + (8 * MiB));
        for (var i = 0; i < 4000; i++)
            FaultTestKit.Get(environment, i).AsSpan().SequenceEqual(FaultTestKit.Value(i, i % 3 == 0 ? 30_000 : 2_000)).Should().BeTrue();

        // Scratch memory comes back when it is needed.
        for (var i = 0; i < 400; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(-i, 30_000));
        for (var i = 0; i < 400; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(-i, 30_000));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Recently_used_memory_stays()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, LargeValueBytes = 64 << 10 });
        for (var i = 0; i < 1000; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 20_000));
        var held = environment.GetStatistics().ScratchReservedBytes;
        held.Should().BeGreaterThan(16 * MiB);
        environment.Flush();
        environment.Internals.TrimMemory();
        environment.GetStatistics().ScratchReservedBytes.Should().Be(held);
    }

    [Fact]
    public void Buffers_of_scattered_values_go_back_after_a_while()
    {
        using var environment = StorageEnvironment.Open(
            new SimulatedDisk(), new StorageOptions { BackgroundFlush = false, LargeValueBytes = 16 << 10, JournaledValueBytes = 0 });
        var buffer = environment.Internals.LargeValueBuffer!;
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < 100; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 20_000));
            writing.Commit();
        }

        buffer.HasSpare.Should().BeTrue();
        environment.Internals.TrimMemory();
        buffer.HasSpare.Should().BeTrue("they were needed in the period that ends");
        environment.Internals.TrimMemory();
        buffer.HasSpare.Should().BeFalse();
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(2, 2_000_000));
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(2, 2_000_000));
        buffer.HasSpare.Should().BeTrue();
    }

    [Fact]
    public void Buffers_of_large_records_go_back_after_a_while()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, LargeValueBytes = 64 << 10, JournalCompression = JournalCompression.Never });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < 1000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 20_000));
            writing.Commit();
        }

        environment.GetStatistics().JournalBufferBytes.Should().BeGreaterThan(16 * MiB);
        environment.Internals.TrimMemory();
        environment.GetStatistics().JournalBufferBytes.Should().BeGreaterThan(16 * MiB, "it was needed in the period that ends");
        environment.Internals.TrimMemory();
        environment.GetStatistics().JournalBufferBytes.Should().BeLessThan(4 * MiB);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(2, 20_000));
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(2, 20_000));
    }
}
