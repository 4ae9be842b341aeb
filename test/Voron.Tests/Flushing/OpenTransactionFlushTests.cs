using System.Diagnostics;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>A flush that is asked for while a write transaction is open, perhaps by its own thread, does not wait for it.</summary>
public sealed class OpenTransactionFlushTests
{
    private const int Flushes = 10;

    [Fact]
    public void A_thread_flushes_while_it_has_a_transaction_open()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        var began = Stopwatch.GetTimestamp();
        for (var i = 0; i < Flushes; i++)
        {
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
            using var writing = environment.BeginWrite();
            environment.Flush().Should().NotBeNull();
        }

        // Half a second is needed, and ten were.
        Stopwatch.GetElapsedTime(began).Should().BeLessThan(TimeSpan.FromSeconds(5));
        FaultTestKit.Put(environment, Flushes, FaultTestKit.Value(Flushes, 500));
        environment.Flush().Should().NotBeNull();
        environment.GetStatistics().PageVersions.Should().Be(0, "the next flush takes what was left");
        environment.Verify().Problems.Should().BeEmpty();
    }
}
