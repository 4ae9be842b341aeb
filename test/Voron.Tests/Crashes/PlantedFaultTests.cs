using Voron.Primitives;

namespace Voron.Tests.Crashes;

/// <summary>The crash tests would notice if the engine were wrong: each fault that can be planted in it is found by them.</summary>
public sealed class PlantedFaultTests
{
    private const int Seed = 1;
    private const int Images = 4000;

    [Theory]
    [InlineData(nameof(PlantedFault.SkipSyncBeforeCheckpoint))]
    [InlineData(nameof(PlantedFault.AcknowledgeBeforeWrite))]
    [InlineData(nameof(PlantedFault.RecycleJournalEarly))]
    [InlineData(nameof(PlantedFault.FlushPastOldestReader))]
    [InlineData(nameof(PlantedFault.FlushPastDurable))]
    [InlineData(nameof(PlantedFault.AppendToReplayedJournal))]
    [InlineData(nameof(PlantedFault.LeaveFreesOut))]
    [InlineData(nameof(PlantedFault.DiffAgainstSavepoint))]
    [InlineData(nameof(PlantedFault.LeaveImageOut))]
    [InlineData(nameof(PlantedFault.SubmitBeforeValueSync))]
    public void A_planted_fault_is_found(string fault)
    {
        var (exitCode, output) = CrashHuntProcess.Start(fault, Seed, Images);
        TestContext.Current.TestOutputHelper?.WriteLine(output);
        exitCode.Should().Be(CrashHuntProcess.ViolationFound, "{0} is planted: {1}", fault, output);
    }

    [Fact]
    public void Without_a_fault_the_same_hunt_finds_nothing()
    {
        var (exitCode, output) = CrashHuntProcess.Start("none", Seed, Images);
        TestContext.Current.TestOutputHelper?.WriteLine(output);
        exitCode.Should().Be(CrashHuntProcess.NothingFound, "nothing is planted: {0}", output);
    }
}
