using Voron.Simulation.Memory;
using Voron.Torture.Memory;

namespace Voron.Torture.Tests.Opening;

/// <summary>
/// A close that gets no memory completes. Cutting the tail of a data file in memory needs some: without it <c>Dispose</c> threw, and left
/// what came after it unreleased.
/// </summary>
public sealed class MemoryAtCloseTests
{
    private static readonly StorageOptions Options = new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        FlushThresholdBytes = 1 << 20,
        FlushInterval = TimeSpan.FromDays(1),
        ScrubInterval = Timeout.InfiniteTimeSpan,
        ScratchMemoryBytes = 4 << 20,
        KeyHeadCacheBytes = 0,
        MaxGrowthBytes = 1 << 20,
    };

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_allocation_that_fails_lets_a_close_fail(bool forEver)
    {
        List<MemoryOperation> script = [new(MemoryStep.GroupCommit, 1, 0), new(MemoryStep.Reopen, 1, 0)];
        var counting = new MemoryWatch();
        using (var sound = new MemoryFaultRun(script, Options, keys: 12, inMemory: true, counting))
            sound.Run();
        for (var allocation = 0; allocation < counting.AskedUntilThen; allocation++)
        {
            var watch = new MemoryWatch();
            watch.FailAt(allocation, forEver);
            using var run = new MemoryFaultRun(script, Options, keys: 12, inMemory: true, watch);
            run.Invoking(it => it.Run()).Should().NotThrow($"allocation {allocation} fails");
        }
    }
}
