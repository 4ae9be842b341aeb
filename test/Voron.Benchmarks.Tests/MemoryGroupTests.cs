using System.Globalization;
using System.Text.Json;
using Voron.Benchmarks.Commands;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;
using Voron.Simulation.Harness;

namespace Voron.Benchmarks.Tests;

/// <summary>
/// An environment with default options fits into a small container: the light version of the command memory-limits. Alone, because nothing
/// else has room beside the processes that fill it.
/// </summary>
[Collection(nameof(Alone))]
public sealed class MemoryGroupTests(ITestOutputHelper output)
{
    private const long MiB = 1 << 20;
    private const long GroupBytes = 128 * MiB;
    private const int Items = 200_000;

    [Fact]
    public async Task Every_phase_survives_in_a_small_container_within_a_quarter_of_what_the_runtime_says()
    {
        using var directory = new TestDirectory();
        foreach (var phase in Enum.GetValues<MemoryPhase>())
        {
            var ended = await RunAsync(directory, phase, phase == MemoryPhase.LeaveJournal ? null : GroupBytes);
            ended.WasKilled.Should().BeFalse("of {0}", phase);
            var result = JsonSerializer.Deserialize<MemoryPhaseResult>(ended.Output, ResultFile.Json)!;
            output.WriteLine($"{phase}: peak {ended.PeakBytes}, anonymous {ended.AnonymousBytes}, {result}");
            if (phase == MemoryPhase.LeaveJournal)
                continue;

            // The runtime gives its heap three quarters of a container; the environment gets a quarter of that.
            result.LimitBytes.Should().Be(GroupBytes / 4 * 3 / 4);
            result.NativePeakBytes.Should().BeInRange(4 * MiB, result.LimitBytes);
            ended.PeakBytes.Should().BeLessThanOrEqualTo(GroupBytes);
            if (phase == MemoryPhase.Recover)
                result.ReplayedBytes.Should().BeGreaterThan(4 * MiB);
        }

        using var environment = StorageEnvironment.Open(directory, new StorageOptions { BackgroundFlush = false });
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        reading.OpenTree("items").Count.Should().Be(Items + 2 * (Items / MemoryWorkload.LaterPart));
    }

    /// <summary>The same work with the memory of a large machine shows that the container is one.</summary>
    [Fact]
    public async Task Without_the_limit_the_system_ends_the_process()
    {
        using var directory = new TestDirectory();
        var ended = await RunAsync(directory, MemoryPhase.OneTransaction, GroupBytes, items: 4_000_000, memoryLimitBytes: 2048 * MiB);
        output.WriteLine($"exit code {ended.ExitCode}, peak {ended.PeakBytes}, anonymous {ended.AnonymousBytes}");
        ended.WasKilled.Should().BeTrue();
        ended.Output.Should().BeEmpty();
    }

    private static async Task<GroupedResult> RunAsync(
        string directory, MemoryPhase phase, long? groupBytes, int items = Items, long? memoryLimitBytes = null)
    {
        var reason = "";
        using var group = MemoryGroup.TryCreate(groupBytes, text => reason = text);
        Assert.SkipWhen(group is null, reason);
        var start = ChildProgram.Of(typeof(MemoryWorkload).Assembly);
        string[] arguments = [MemoryLimitsCommand.PhaseName, phase.ToString(), directory, items.ToString(CultureInfo.InvariantCulture)];
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        if (memoryLimitBytes is { } limit)
        {
            start.ArgumentList.Add("--memory-limit-bytes");
            start.ArgumentList.Add(limit.ToString(CultureInfo.InvariantCulture));
        }

        return await group!.RunAsync(start, TestContext.Current.CancellationToken);
    }
}
