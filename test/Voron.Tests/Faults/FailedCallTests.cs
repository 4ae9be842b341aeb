using Voron.IO;
using Voron.Torture.Simulation;

namespace Voron.Tests.Faults;

/// <summary>Every call of a workload to the disk fails, one a run: once, and from then on for ever.</summary>
public sealed class FailedCallTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData("Failed", false)]
    [InlineData("Failed", true)]
    [InlineData("NoSpace", false)]
    [InlineData("NoSpace", true)]
    public void Whatever_call_fails_nothing_acknowledged_is_lost(string error, bool forever)
    {
        var count = CountCalls(error);
        int poisoned = 0, refused = 0, unopened = 0;
        for (var n = 0; n < count; n++)
        {
            var disk = new SimulatedDisk();
            var seen = 0;
            DiskCall failed = default;
            var target = n;
            disk.FailNext(
                call =>
                {
                    if (!Counts(call.Kind, error) || seen++ < target)
                        return false;
                    if (failed == default)
                        failed = call;
                    return true;
                },
                Enum.Parse<DiskError>(error),
                forever);
            var workload = new FaultWorkload(disk);
            try
            {
                workload.Run();
                disk.ClearFaults();
                unopened += workload.Acknowledged == 0 && workload.Failures.Count == 1 ? 1 : 0;
                poisoned += workload.WasPoisoned ? 1 : 0;
                refused += workload.Failures.Count > 0 ? 1 : 0;
                var lost = new CrashImages(disk).BuildLost(disk.TraceCount);
                var torn = new CrashImages(disk).Build(disk.TraceCount, new Random(n));
                workload.CheckReopened(lost);
                workload.CheckReopened(torn);
                workload.CheckReopened(disk);
            }
            catch (Exception e)
            {
                throw new InvalidOperationException(
                    $"Call {n} of {count} ({failed}) failed with {error}{(forever ? " for ever" : "")}; then: {e.Message}", e);
            }
        }

        output.WriteLine($"{count} calls failed, one a run: {refused} runs were told, {poisoned} of them poisoned, {unopened} not opened.");
        refused.Should().BeGreaterThan(count / 3);
        poisoned.Should().BeGreaterThan(0);
    }

    private static int CountCalls(string error)
    {
        var disk = new SimulatedDisk();
        var count = 0;
        disk.FailNext(call => Counts(call.Kind, error) && count++ < 0, DiskError.Failed);
        var workload = new FaultWorkload(disk);
        workload.Run();
        workload.Failures.Should().BeEmpty();
        return count;
    }

    // No space is an answer to what needs some.
    private static bool Counts(DiskCallKind kind, string error) => error == "NoSpace"
        ? kind is DiskCallKind.Create or DiskCallKind.Rename or DiskCallKind.Allocate or DiskCallKind.Write or DiskCallKind.Sync
            or DiskCallKind.SetLength
        : kind is not DiskCallKind.Length;
}
