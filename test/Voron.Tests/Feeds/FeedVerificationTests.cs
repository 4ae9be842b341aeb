using Voron.Feeds;
using Voron.Recording;
using Voron.Trees;

namespace Voron.Tests.Feeds;

/// <summary>The verification of a feed reports each thing that does not fit.</summary>
[Quick]
public sealed class FeedVerificationTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    public FeedVerificationTests()
    {
        _environment.Record();
        _environment.Put(1, 10);
        _environment.Put(2, 20);
    }

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_sound_feed_has_no_problems()
    {
        _environment.Write(writing =>
        {
            writing.RenameTree(FeedKit.TreeName, "renamed");
            writing.OpenTree("renamed").Clear();
            writing.StopRecordingTree("renamed");
            writing.SetPosition(FeedKit.Feed, "consumer", writing.GetNewestPosition(FeedKit.Feed));
        });

        var report = _environment.VerifyFeed(FeedKit.Feed, FeedKit.Token);

        report.Problems.Should().BeEmpty();
        report.IsSound.Should().BeTrue();
        report.Changes.Should().Be(6);
        report.FeedName.Should().Be(FeedKit.Feed);
        FluentActions.Invoking(() => _environment.VerifyFeed("none")).Should().Throw<KeyNotFoundException>();
        FluentActions.Invoking(() => _environment.VerifyFeed("")).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => ((StorageEnvironment)null!).VerifyFeed("none")).Should().Throw<ArgumentNullException>();
        FluentActions.Invoking(() => _environment.VerifyFeed(FeedKit.Feed, new CancellationToken(true))).Should().Throw<OperationCanceledException>();
    }

    [Fact]
    public void A_mark_without_an_entry_and_an_entry_without_a_mark_are_reported()
    {
        Damage(SystemTree.Feeds, feeds => feeds.DeleteRange(KeyRange.Prefix(FeedKeys.Trees)));
        Problems().Should().ContainSingle().Which.Should().Contain("tree 'items' is marked as recorded, but no feed");

        var entry = new TreeRecording { Feed = 1, Source = 1 }.ToBytes();
        Damage(SystemTree.Feeds, feeds => feeds.Put(FeedKeys.Tree(1000), entry));
        Problems().Should().Contain(problem => problem.Contains("tree 1000 has an entry, but is not marked"));

        Damage(SystemTree.Feeds, feeds => feeds.Put(FeedKeys.Tree(1000), [1, 2, 3]));
        Problems().Should().Contain(problem => problem.Contains("the entry of tree 1000 is damaged"));
    }

    [Fact]
    public void Changes_that_do_not_fit_are_reported()
    {
        var name = SystemTree.ChangesName(1, new byte[SystemTree.ChangesNameBytes]).ToArray();
        var withoutTime = new ChangeRecord { Operation = RecordedOperation.Put, Source = 9 };
        var bytes = new byte[withoutTime.MaxBytes];
        var length = withoutTime.Write(bytes);
        Damage(name, changes =>
        {
            changes.Put(ChangeRecord.WriteKey(1_000_000, 1, new byte[ChangeRecord.KeyBytes]), bytes.AsSpan(0, length));
            changes.Put([1, 2, 3], []);
        });

        Problems().Should().HaveCount(4)
            .And.Contain(problem => problem.Contains("is damaged"))
            .And.Contain(problem => problem.Contains("is not between"))
            .And.Contain(problem => problem.Contains("names source 9, which the feed does not have"))
            .And.Contain(problem => problem.Contains("has no time"));
    }

    [Fact]
    public void A_consumer_from_the_future_is_reported()
    {
        var key = FeedKeys.Consumer(1, "late"u8);
        Damage(SystemTree.Feeds, feeds => feeds.Put(key, FeedRegistry.ToBytes(new ChangePosition(1_000_000, 1, 0))));

        Problems().Should().ContainSingle().Which.Should().Contain("the consumer 'late' is at 1000000-1-");
    }

    private IReadOnlyList<string> Problems() => _environment.VerifyFeed(FeedKit.Feed, FeedKit.Token).Problems;

    private void Damage(ReadOnlySpan<byte> tree, Action<WriteTree> damage)
    {
        using var writing = _environment.BeginWrite();
        damage(writing.CreateSystemTree(tree));
        writing.Commit();
    }
}
