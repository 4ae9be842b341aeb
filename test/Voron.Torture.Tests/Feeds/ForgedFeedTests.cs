using System.Buffers.Binary;
using Voron.Feeds;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Feeds;
using Voron.Torture.Damage;
using Voron.Torture.Recorded;
using Voron.Trees;

namespace Voron.Torture.Tests.Feeds;

/// <summary>Feeds whose bytes were changed together with the checksums of their pages.</summary>
public sealed class ForgedFeedTests
{
    [Fact]
    public void A_feed_that_leads_back_to_older_changes_is_damaged()
    {
        var image = StoreMaker.MakeRecorded()[0];
        var store = new ForgedStore(image.Files);
        SwapLeaves(store, store.SystemLeaves.Single(tree => tree.Tree == "tree of the changes of feed 1").Pages);
        store.Seal();
        using var environment = StorageEnvironment.Open(new ImageDisk(store.Files), StoreMaker.Options(image.Form));
        using var reading = environment.BeginRead();

        FluentActions.Invoking(() => ReadAll(reading))
            .Should().Throw<CorruptionException>().WithMessage("The change * of feed 'feed' in 'image*' is damaged*");

        environment.VerifyFeed(RecordedStore.Feed, FeedKit.Token).Problems.Should().Contain(problem => problem.Contains("comes behind"));
    }

    [Theory]
    [InlineData(new byte[0])]
    [InlineData(new byte[] { 0xC3, 0x28 })]
    public void A_feed_with_a_name_that_none_can_have_is_reported_and_the_others_are_trimmed(byte[] name)
    {
        using var environment = StorageEnvironment.OpenInMemory();
        environment.Record(options: new FeedOptions { MaxAge = TimeSpan.Zero, MaxBytes = 0 });
        environment.Put(1, 10);
        environment.Write(writing =>
        {
            var feeds = writing.CreateSystemTree(SystemTree.Feeds);
            feeds.Put([2, .. name], new byte[FeedRecord.Size]);
        });

        FluentActions.Invoking(() => environment.Info())
            .Should().Throw<CorruptionException>().WithMessage("The name * of a feed in * is damaged*");
        FluentActions.Invoking(() => environment.TrimFeedsAsync(FeedKit.Token).AsTask().GetAwaiter().GetResult())
            .Should().Throw<CorruptionException>();

        using var reading = environment.BeginRead();
        reading.ReadChanges(FeedKit.Feed, reading.GetNewestPosition(FeedKit.Feed), new ChangeBatch()).Should().BeFalse();
        FluentActions.Invoking(() => reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, new ChangeBatch()))
            .Should().Throw<ChangesLostException>();
        environment.VerifyFeed(FeedKit.Feed, FeedKit.Token).Problems.Should().ContainSingle().Which.Should().Contain("of a feed in");
    }

    private static void ReadAll(ReadTransaction reading)
    {
        var batch = new ChangeBatch();
        var at = reading.GetFeeds().Single().Oldest;
        while (reading.ReadChanges(RecordedStore.Feed, at, batch))
            at = batch.Position;
    }

    // The root of the tree has two of its leaves in the wrong order.
    private static void SwapLeaves(ForgedStore store, IReadOnlyList<long> leaves)
    {
        var (mark, root) = (store.Page(leaves[0]).TreeMark, 0L);
        for (var page = 3L; page < store.PageCount; page++)
        {
            if (store.Page(page) is { Kind: PageKind.Branch } header && header.TreeMark == mark && header.PageNumber == page)
                root = page;
        }

        var bytes = store.ChangePage(root);
        var (first, second) = (ChildAt(bytes, 1), ChildAt(bytes, 2));
        var child = BinaryPrimitives.ReadInt64LittleEndian(bytes[first..]);
        bytes.Slice(second, sizeof(long)).CopyTo(bytes[first..]);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[second..], child);
    }

    private static int ChildAt(ReadOnlySpan<byte> page, int entry) =>
        BinaryPrimitives.ReadUInt16LittleEndian(page[(PageHeader.Size + (2 * entry))..]) + 2;
}
