using Voron.Torture.Model;

namespace Voron.Tests.Model;

/// <summary>Snapshots under concurrent writers, with a flusher that detaches, prunes and recycles all the time.</summary>
public sealed class IsolationTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(1, 0, 2, false)]
    [InlineData(2, 1, 3, false)]
    [InlineData(0, 2, 1, true)]
    [InlineData(1, 1, 8, true)]
    public void A_snapshot_is_whole_and_never_changes(int writers, int merged, int readers, bool verifyEveryRead)
    {
        var seed = Random.Shared.Next(1_000_000);
        output.WriteLine($"seed {seed}");
        using (var place = new ModelPlace(inMemory: !verifyEveryRead))
        {
            var options = Options(verifyEveryRead);
            using (var environment = place.Open(options))
            {
                var run = new IsolationRun(environment, seed);
                run.Prepare();
                run.Run(TimeSpan.FromSeconds(1.5), writers, merged, readers);
                using (var longest = environment.BeginRead())
                {
                    var before = IsolationRun.Judge(longest);
                    run.Run(TimeSpan.FromSeconds(1.5), writers, merged, readers);
                    IsolationRun.Judge(longest).Should().Be(before);
                }

                run.Run(TimeSpan.FromSeconds(0.5), writers, merged, readers);
                var statistics = environment.GetStatistics();
                output.WriteLine(
                    $"{run.Acknowledged} transactions, {run.Snapshots} snapshots, {statistics.Flushes} flushes, {statistics.Rewrites} rewrites");
                Check(environment, run.Acknowledged);
                statistics.Flushes.Should().BePositive();
                run.Snapshots.Should().BePositive();
            }

            using (var environment = place.Open(options))
                environment.Verify().Problems.Should().BeEmpty();
        }
    }

    private static void Check(StorageEnvironment environment, long acknowledged)
    {
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        IsolationRun.Judge(reading);
        IsolationRun.Counted(reading).Should().Be(acknowledged);
    }

    private static StorageOptions Options(bool verifyEveryRead) => new()
    {
        FlushThresholdBytes = 256 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(20),
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 128 << 10,
        JournalLimitBytes = 8 << 20,
        VerifyEveryRead = verifyEveryRead,
        MaxMergedBytes = 64 << 10,
        MaxGrowthBytes = 1 << 20,
    };
}
