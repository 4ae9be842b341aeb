using Voron.Feeds;

namespace Voron.Tests.Feeds;

/// <summary>What begins, ends and changes the recording of trees.</summary>
public sealed class SourceTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public SourceTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        _environment.Record();
    }

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Recording_begins_with_a_change_of_its_own_and_can_be_asked_for_again()
    {
        _environment.Changes().Should().Equal("SourceAdded");
        _environment.Put(1, 1);
        _environment.Record();
        _environment.Record();
        _environment.Changes().Should().Equal("SourceAdded", "Put 01=01");
        var info = _environment.Info();
        (info.Name, info.Changes).Should().Be((FeedKit.Feed, 2));
        info.Bytes.Should().BePositive();
        info.Options.Should().Be(new FeedOptions());
        info.Sources.Should().Equal(new FeedSource(FeedKit.TreeName, IsTable: false));
        info.Consumers.Should().BeEmpty();
    }

    [Fact]
    public void Options_are_changed_by_creating_the_feed_with_others()
    {
        var options = new FeedOptions { MaxAge = Timeout.InfiniteTimeSpan, MaxBytes = 5, HoldLimitBytes = 6, MaxValueBytes = 7 };
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed, options));
        _environment.Info().Options.Should().Be(options);
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed));
        _environment.Info().Options.Should().Be(options);
        _environment.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([1], new byte[8])).Should().Equal("Put 01=?");
    }

    [Fact]
    public void A_tree_that_is_stopped_is_recorded_no_more_until_it_begins_again()
    {
        _environment.Recorded(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            tree.Put([1], [1]);
            writing.StopRecordingTree(FeedKit.TreeName).Should().BeTrue();
            tree.Put([2], [2]);
            writing.StopRecordingTree(FeedKit.TreeName).Should().BeFalse();
            writing.StopRecordingTree("none").Should().BeFalse();
        }).Should().Equal("Put 01=01", "SourceRemoved");
        _environment.Info().Sources.Should().BeEmpty();
        _environment.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Clear()).Should().BeEmpty();
        _environment.Recorded(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            tree.Put([3], [3]);
            writing.RecordTree(FeedKit.Feed, FeedKit.TreeName);
            tree.Put([4], [4]);
        }).Should().Equal("SourceAdded", "Put 04=04");
    }

    [Fact]
    public void Puts_that_wait_are_recorded_if_they_were_made_while_the_tree_was_recorded()
    {
        _environment.Recorded(writing =>
        {
            writing.StopRecordingTree(FeedKit.TreeName);
            var tree = writing.OpenTree(FeedKit.TreeName);
            for (byte i = 0; i < 20; i++)
            {
                tree.Put([i], [i]);
                tree.Increment([i, i]);
            }

            writing.RecordTree(FeedKit.Feed, FeedKit.TreeName);
            tree.Put([1], [21]);
            tree.Put([2], [22]);
            writing.StopRecordingTree(FeedKit.TreeName);
            tree.Put([3], [23]);
        }).Should().Equal("SourceRemoved", "SourceAdded", "Put 01=15", "Put 02=16", "SourceRemoved");
        using var reading = _environment.BeginRead();
        var found = reading.OpenTree(FeedKit.TreeName);
        found.Count.Should().Be(40);
        new byte[] { 1, 2, 3, 4 }.Select(key => found.Get([key])![0]).Should().Equal(21, 22, 23, 4);
    }

    [Fact]
    public void Another_content_is_another_source()
    {
        _environment.Recorded(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            writing.RecordTree(FeedKit.Feed, FeedKit.TreeName, RecordedContent.KeysOnly);
            tree.Put([1], [1]);
            writing.RecordTree(FeedKit.Feed, FeedKit.TreeName);
            tree.Put([2], [2]);
        }).Should().Equal("SourceRemoved", "SourceAdded", "Put 01", "SourceRemoved", "SourceAdded", "Put 02=02");
        _environment.Info().Sources.Should().ContainSingle();
    }

    [Fact]
    public void A_renamed_tree_is_recorded_under_its_new_name()
    {
        _environment.Recorded(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            tree.Put([1], [1]);
            writing.RenameTree(FeedKit.TreeName, FeedKit.TreeName);
            writing.RenameTree(FeedKit.TreeName, "new").Should().BeTrue();
            writing.OpenTree("new").Put([2], [2]);
            writing.CreateTree(FeedKit.TreeName).Put([3], [3]);
        }).Should().Equal("Put 01=01", "SourceRenamed to 'new'", "tree 'new': Put 02=02");
        _environment.Recorded(writing =>
        {
            writing.OpenTree("new").Put([4], [4]);
            writing.RenameTree("new", new string('n', 255));
            writing.StopRecordingTree(new string('n', 255)).Should().BeTrue();
        }).Should().Equal(
            "tree 'new': Put 04=04", $"tree 'new': SourceRenamed to '{new string('n', 255)}'", $"tree '{new string('n', 255)}': SourceRemoved");
    }

    [Fact]
    public void A_rename_that_is_taken_back_leaves_the_source_as_it_was()
    {
        _environment.Recorded(writing =>
        {
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.RenameTree(FeedKit.TreeName, "new");
                writing.OpenTree("new").Put([1], [1]);
                savepoint.Rollback();
            }

            using (var savepoint = writing.CreateSavepoint())
            {
                writing.StopRecordingTree(FeedKit.TreeName);
                writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
                savepoint.Rollback();
            }

            using (var savepoint = writing.CreateSavepoint())
            {
                writing.DeleteTree(FeedKit.TreeName);
                writing.CreateTree(FeedKit.TreeName).Put([1], [1]);
                savepoint.Rollback();
            }

            writing.OpenTree(FeedKit.TreeName).Put([2], [2]);
        }).Should().Equal("Put 02=02");
    }

    [Fact]
    public void A_deleted_tree_ends_its_source_and_a_new_one_of_the_same_name_is_not_recorded()
    {
        _environment.Recorded(writing =>
        {
            writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
            writing.DeleteTree(FeedKit.TreeName).Should().BeTrue();
            writing.CreateTree(FeedKit.TreeName).Put([2], [2]);
        }).Should().Equal("Put 01=01", "SourceDeleted");
        _environment.Info().Sources.Should().BeEmpty();
        _environment.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([3], [3])).Should().BeEmpty();
        _environment.Recorded(writing =>
        {
            writing.RecordTree(FeedKit.Feed, FeedKit.TreeName);
            writing.OpenTree(FeedKit.TreeName).Put([4], [4]);
            writing.DeleteTree(FeedKit.TreeName);
        }).Should().Equal("SourceAdded", "Put 04=04", "SourceDeleted");
    }

    [Fact]
    public async Task A_dropped_tree_ends_its_source()
    {
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree(FeedKit.TreeName);
            for (var i = 0; i < 2_000; i++)
                tree.Put(BitConverter.GetBytes(i), new byte[2_000]);
        });
        var before = _environment.Newest();
        (await _environment.DropTreeAsync(FeedKit.TreeName, FeedKit.Token)).Should().BeTrue();
        _environment.Changes(before).Should().Equal("SourceDeleted");
        using var reading = _environment.BeginRead();
        reading.GetDroppedTrees().Should().BeEmpty();
    }

    [Fact]
    public void A_feed_that_is_deleted_records_no_more()
    {
        var old = _environment.Newest();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "consumer", old));
        _environment.Write(writing => writing.DeleteFeed(FeedKit.Feed).Should().BeTrue());
        _environment.Write(writing => writing.DeleteFeed(FeedKit.Feed).Should().BeFalse());
        _environment.Put(1, 1);
        using (var reading = _environment.BeginRead())
        {
            reading.GetFeeds().Should().BeEmpty();
            FluentActions.Invoking(() => reading.ReadChanges(FeedKit.Feed, default, new ChangeBatch())).Should().Throw<KeyNotFoundException>();
        }

        _environment.Record();
        _environment.Put(2, 2);
        _environment.Changes().Should().Equal("SourceAdded", "Put 02=02");
        _environment.Info().Consumers.Should().BeEmpty();
        FluentActions.Invoking(() => _environment.Changes(old)).Should().Throw<ChangesLostException>();
    }

    [Fact]
    public void A_feed_that_is_deleted_leaves_alone_the_trees_that_another_one_records_meanwhile()
    {
        _environment.Write(writing =>
        {
            writing.StopRecordingTree(FeedKit.TreeName);
            writing.CreateFeed("other");
            writing.RecordTree("other", FeedKit.TreeName);
        });
        _environment.Write(writing => writing.DeleteFeed(FeedKit.Feed).Should().BeTrue());
        _environment.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([1], [1]), "other").Should().Equal("Put 01=01");
        _environment.Write(writing => writing.DeleteFeed("other").Should().BeTrue());
        _environment.Put(2, 2);
    }

    [Fact]
    public void Two_feeds_record_two_trees_in_one_transaction()
    {
        _environment.Record(feed: "other", tree: "second");
        var before = _environment.Newest("other");
        _environment.Recorded(writing =>
        {
            var (first, second) = (writing.OpenTree(FeedKit.TreeName), writing.OpenTree("second"));
            for (byte i = 0; i < 3; i++)
            {
                first.Put([i], [i]);
                second.Put([i], []);
            }
        }).Should().Equal("Put 00=00", "Put 01=01", "Put 02=02");
        _environment.Changes(before, "other").Should().Equal("tree 'second': Put 00=", "tree 'second': Put 01=", "tree 'second': Put 02=");
        using var reading = _environment.BeginRead();
        reading.GetFeeds().Select(feed => feed.Name).Should().Equal(FeedKit.Feed, "other");
    }

    [Fact]
    public void A_feed_records_many_trees()
    {
        _environment.Write(writing =>
        {
            for (var i = 0; i < 50; i++)
            {
                writing.CreateTree($"tree {i:00}");
                writing.RecordTree(FeedKit.Feed, $"tree {i:00}");
            }
        });
        _environment.Recorded(writing =>
        {
            for (var i = 49; i >= 0; i--)
                writing.OpenTree($"tree {i:00}").Put([1], [(byte)i]);
        }).Should().Equal(Enumerable.Range(0, 50).Reverse().Select(i => $"tree 'tree {i:00}': Put 01={i:X2}"));
        _environment.Info().Sources.Should().HaveCount(51);
    }

    [Fact]
    public void What_cannot_be_recorded_is_refused_and_the_transaction_continues()
    {
        _environment.Write(writing =>
        {
            writing.CreateFeed("other");
            writing.CreateIdTree("ids");
            writing.CreateFixedTree("fixed", 8);
            writing.CreateValueSetTree("sets");
            FluentActions.Invoking(() => writing.RecordTree("other", FeedKit.TreeName)).Should()
                .Throw<InvalidOperationException>().WithMessage("*'other'*tree 'items'*the feed 'feed' does*StopRecordingTree*");
            foreach (var (name, kind) in new[] { ("ids", "tree of id sets"), ("fixed", "fixed-size tree"), ("sets", "tree of value sets") })
            {
                FluentActions.Invoking(() => writing.RecordTree("other", name)).Should().Throw<InvalidOperationException>()
                    .WithMessage($"A feed records trees of keys and values, and tables, only*'{name}'*is a {kind}.*");
                FluentActions.Invoking(() => writing.StopRecordingTree(name)).Should().Throw<InvalidOperationException>();
            }

            FluentActions.Invoking(() => writing.RecordTree("other", "none")).Should().Throw<KeyNotFoundException>().WithMessage("*'none'*");
            FluentActions.Invoking(() => writing.RecordTree("none", FeedKit.TreeName)).Should().Throw<KeyNotFoundException>();
            FluentActions.Invoking(() => writing.RecordTable("other", "none")).Should().Throw<KeyNotFoundException>().WithMessage("*'none'*");
            writing.StopRecordingTable("none").Should().BeFalse();
            writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
        });
        _environment.Changes().Should().Equal("SourceAdded", "Put 01=01");
        using var reading = _environment.BeginRead();
        reading.GetFeeds()[1].Sources.Should().BeEmpty();
    }
}
