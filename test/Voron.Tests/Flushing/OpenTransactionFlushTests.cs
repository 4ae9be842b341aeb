using System.Diagnostics;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>A flush that is asked for while a write transaction is open, perhaps by its own thread, does not wait for it.</summary>
public sealed class OpenTransactionFlushTests
{
    private const int Flushes = 20;

    [Fact]
    public void A_thread_flushes_while_it_has_a_transaction_open()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        var least = TimeSpan.MaxValue;
        for (var i = 0; i < Flushes; i++)
        {
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
            using var writing = environment.BeginWrite();
            var began = Stopwatch.GetTimestamp();
            environment.Flush().Should().NotBeNull();
            var took = Stopwatch.GetElapsedTime(began);
            least = took < least ? took : least;
        }

        // Each waits for 50 ms, and waited for a second. One of twenty is not held up by other programs for so long.
        least.Should().BeLessThan(TimeSpan.FromSeconds(1));
        FaultTestKit.Put(environment, Flushes, FaultTestKit.Value(Flushes, 500));
        environment.Flush().Should().NotBeNull();
        environment.GetStatistics().PageVersions.Should().Be(0, "the next flush takes what was left");
        environment.Verify().Problems.Should().BeEmpty();
    }
}
