using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

/// <summary>
/// Where the disk refuses unbuffered I/O, a journal write that fails silently leaves its bytes in the page cache. The next opening took
/// them for a durable record and chained the next record to it, and a power cut lost both.
/// </summary>
[Quick]
public sealed class StalePageCacheTests
{
    [Fact]
    public void A_record_that_a_failed_write_left_in_the_page_cache_is_not_recovered()
    {
        var disk = new SimulatedDisk { IsUnbuffered = false };
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, [1]);
            disk.FailNext(
                call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed);
            var put = () => FaultTestKit.Put(environment, 2, [2]);
            put.Should().Throw<EnvironmentPoisonedException>().Which.Outcome.Should().Be(CommitOutcome.Unknown);
        }

        using (var again = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Get(again, 2).Should().BeNull("the device never had it");
            FaultTestKit.Put(again, 3, [3]);
        }

        foreach (var image in new[] { new CrashImages(disk).BuildLost(disk.TraceCount), new CrashImages(disk).BuildKept(disk.TraceCount) })
        {
            using var last = StorageEnvironment.Open(image, FaultTestKit.Options());
            FaultTestKit.Get(last, 1).Should().NotBeNull();
            FaultTestKit.Get(last, 3).Should().NotBeNull("it was acknowledged");
        }
    }
}
