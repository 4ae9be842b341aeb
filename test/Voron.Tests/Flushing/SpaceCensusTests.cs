using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>The number of free pages that statistics show is that of the section maps.</summary>
public sealed class SpaceCensusTests
{
    [Fact]
    public void After_each_flush_the_count_is_that_of_a_verification()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });
        Free(environment).Should().BeNull("nothing has been counted yet");
        for (var round = 0; round < 30; round++)
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree("a");
                for (var i = 0; i < 40; i++)
                {
                    var key = FaultTestKit.Key(random.Next(200));
                    if (random.Next(3) == 0)
                        tree.Delete(key);
                    else
                        tree.Put(key, FaultTestKit.Value(i, random.Next(60_000)));
                }

                if (random.Next(6) == 0)
                    writing.DeleteTree("a");
                writing.Commit();
            }

            environment.Flush();
            if (random.Next(5) == 0)
            {
                environment.ReclaimSpace();
                environment.Flush();
            }

            Free(environment).Should().Be(environment.Verify().FreePages * 4096, $"seed {seed}, round {round}");
        }
    }

    /// <summary>A map page has the bits of 31 sections of 4 MiB.</summary>
    [Fact]
    public void Several_maps_are_added_up_and_a_file_that_shrinks_has_fewer()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, JournalCompression = JournalCompression.Never });
        using (var writing = environment.BeginWrite())
        {
            for (var i = 0; i < 5; i++)
                writing.CreateTree("large").Put(FaultTestKit.Key(i), new byte[60 << 20]);
            writing.CreateTree("other").Put([1], [1]);
            writing.Commit();
        }

        environment.Flush();
        Free(environment).Should().Be(environment.Verify().FreePages * 4096);
        using (var writing = environment.BeginWrite())
        {
            for (var i = 1; i < 5; i += 2)
                writing.CreateTree("large").Delete(FaultTestKit.Key(i));
            writing.Commit();
        }

        environment.Flush();
        Free(environment).Should().Be(environment.Verify().FreePages * 4096).And.BeGreaterThan(100 << 20);
        using (var writing = environment.BeginWrite())
        {
            writing.DeleteTree("large");
            writing.Commit();
        }

        environment.Flush();
        environment.ReclaimSpace();
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("other").Put([1], [2]);
            writing.Commit();
        }

        environment.Flush();
        Free(environment).Should().Be(environment.Verify().FreePages * 4096);
    }

    [Fact]
    public void The_flusher_counts_after_the_opening_without_a_commit()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100_000));
            environment.Flush();
        }

        using var reopened = StorageEnvironment.Open(disk, new StorageOptions { ScrubInterval = Timeout.InfiniteTimeSpan });
        TestWait.Until(() => Free(reopened) != null);
        Free(reopened).Should().Be(reopened.Verify().FreePages * 4096);
        disk.List().Should().NotContain(
            entry => entry.Name.StartsWith("journal-", StringComparison.Ordinal) && entry.Length > 256 << 10, "counting writes nothing");
    }

    [Fact]
    public void A_map_that_cannot_be_read_makes_the_count_unknown_and_harms_nothing()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        environment.Flush().Should().NotBeNull();
        Free(environment).Should().NotBeNull();
        FaultTestKit.Put(environment, 2, [2]);
        disk.FailNext(call => call.Kind == DiskCallKind.Read && call.Name == "voron.data", DiskError.Failed, forever: true);
        environment.Flush().Should().NotBeNull();
        Free(environment).Should().BeNull();
        disk.ClearFaults();
        FaultTestKit.Put(environment, 3, [3]);
        environment.Flush().Should().NotBeNull();
        Free(environment).Should().Be(environment.Verify().FreePages * 4096);
    }

    private static long? Free(StorageEnvironment environment) => environment.GetStatistics().FreeDataFileBytes;
}
