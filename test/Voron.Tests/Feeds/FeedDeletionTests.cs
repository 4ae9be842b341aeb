using Voron.Feeds;
using Voron.Tests.Faults;

namespace Voron.Tests.Feeds;

/// <summary>The deletion of a feed leaves the others as they are.</summary>
[Quick]
public sealed class FeedDeletionTests
{
    [Fact]
    public void A_tree_that_another_feed_has_taken_over_stays_recorded()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        environment.Write(writing =>
        {
            writing.CreateTree(FaultTestKit.TreeName);
            writing.CreateFeed("first");
            writing.CreateFeed("second");
            writing.RecordTree("first", FaultTestKit.TreeName);
            writing.StopRecordingTree(FaultTestKit.TreeName);
            writing.RecordTree("second", FaultTestKit.TreeName);
        });
        environment.Write(writing => writing.DeleteFeed("first")).Should().BeTrue();
        environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Put([1], [2]));
        using var reading = environment.BeginRead();
        var batch = new ChangeBatch();
        reading.ReadChanges("second", ChangePosition.Start, batch).Should().BeTrue();
        batch.Count.Should().Be(2);
        batch[1].Operation.Should().Be(ChangeOperation.Put);
        batch[1].NewValue.ToArray().Should().Equal(2);
    }
}
