using Voron.Feeds;
using Voron.Format;
using Voron.Recording;
using Voron.Tables;
using Voron.Tests.Maintenance;
using Voron.Tests.Tables;
using Voron.Trees;

namespace Voron.Tests.Feeds;

/// <summary>Feeds go where their environment goes, except into what has other transactions: compacted copies and salvages.</summary>
public sealed class FeedSurroundingsTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => FeedKit.Token;

    private string Store => Path.Combine(_directory.Path, "store");

    private string Other => Path.Combine(_directory.Path, "other");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Verification_and_scrub_know_the_trees_of_feeds()
    {
        using var environment = Open();
        Fill(environment);
        environment.Flush();
        var report = environment.Verify();
        report.Problems.Should().BeEmpty();

        // A tree, the rows and the primary key of a table, the schemas, all feeds, and the changes of two.
        report.Trees.Should().Be(7);
        ScrubTestKit.ScrubAll(environment, Token).Problems.Should().BeEmpty();
    }

    [Fact]
    public void The_first_feed_upgrades_an_environment_of_version_1()
    {
        var options = FeedKit.Options();
        options.FormatVersion = (int)JournalFormat.Version1;
        using (var environment = StorageEnvironment.Open(Store, options))
        {
            environment.Write(writing => writing.CreateTree(FeedKit.TreeName).Put([1], [1]));
            environment.Internals.Engine.Format.IsVersion1.Should().BeTrue();
            using (var reading = environment.BeginRead())
                reading.GetFeeds().Should().BeEmpty();
            environment.Record();
            environment.Internals.Engine.Format.Has(FormatFeatures.ChangeFeeds).Should().BeTrue();
            environment.Put(2, 2);
        }

        using var reopened = Open();
        reopened.Internals.Engine.Format.Has(FormatFeatures.ChangeFeeds).Should().BeTrue();
        reopened.Changes().Should().Equal("SourceAdded", "Put 02=02");
        reopened.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Delete([1])).Should().Equal("Delete 01");
    }

    [Fact]
    public void An_environment_without_feeds_does_not_have_the_feature()
    {
        using var environment = Open();
        environment.Write(writing => writing.CreateTree(FeedKit.TreeName).Put([1], [1]));
        environment.Internals.Engine.Format.Has(FormatFeatures.ChangeFeeds).Should().BeFalse();
    }

    [Fact]
    public async Task A_backup_and_an_incremental_one_restore_feeds()
    {
        var (first, second) = (Path.Combine(_directory.Path, "first"), Path.Combine(_directory.Path, "second"));
        List<string> expected;
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { BackgroundFlush = false, TrackChanges = true }))
        {
            Fill(environment);
            var full = await environment.BackupAsync(first, null, Token);
            environment.Put(9, 9);
            await environment.BackupAsync(second, new BackupOptions { Since = full.BackupId }, Token);
            expected = environment.Changes();
        }

        await BackupFile.RestoreAsync([first, second], Other, null, Token);
        using var restored = StorageEnvironment.Open(Other, FeedKit.Options());
        restored.Changes().Should().Equal(expected);
        restored.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([10], [10])).Should().Equal("Put 0A=0A");
        restored.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_copy_has_feeds_and_continues_from_positions_up_to_the_copy()
    {
        using var environment = Open();
        Fill(environment);
        environment.Put(8, 8);
        var (expected, before) = (environment.Changes(), environment.Newest());
        await environment.CopyToAsync(Other, null, Token);
        environment.Put(9, 9);
        using var copy = StorageEnvironment.Open(Other, FeedKit.Options());
        copy.Changes().Should().Equal(expected);
        for (byte i = 10; i < 13; i++)
            copy.Put(i, i);
        copy.Changes(before).Should().Equal("Put 0A=0A", "Put 0B=0B", "Put 0C=0C");
        FluentActions.Invoking(() => copy.Changes(environment.Newest())).Should().Throw<ChangesLostException>();
        FluentActions.Invoking(() => environment.Changes(copy.Newest())).Should().Throw<ChangesLostException>();
    }

    [Fact]
    public async Task A_compacted_copy_has_no_feeds_and_records_nothing()
    {
        ChangePosition old;
        using (var environment = Open())
        {
            Fill(environment);
            old = environment.Newest();
            await environment.CompactToAsync(Other, null, Token);
            environment.Recorded(writing => writing.OpenTree(FeedKit.TreeName).Put([10], [10])).Should().Equal("Put 0A=0A");
        }

        HasNoFeeds(old);
    }

    [Fact]
    public async Task A_salvage_has_no_feeds_and_records_nothing()
    {
        ChangePosition old;
        using (var environment = Open())
        {
            Fill(environment);
            old = environment.Newest();
        }

        var report = await Salvage.RunAsync(Store, Other, null, Token);
        (report.HasLosses, report.IsProven).Should().Be((false, true));
        report.Trees.Should().OnlyContain(tree => !tree.Name.Contains("feed", StringComparison.Ordinal));
        HasNoFeeds(old);
    }

    [Fact]
    public async Task A_compaction_in_place_keeps_feeds()
    {
        using var environment = Open();
        Fill(environment);
        environment.Write(writing =>
        {
            var tree = writing.CreateTree("large");
            for (var i = 0; i < 5_000; i++)
                tree.Put(BitConverter.GetBytes(i), new byte[1_000]);
        });
        environment.Put(7, new byte[2 << 20]);
        environment.Flush();
        environment.Write(writing => writing.DeleteTree("large"));
        environment.Put(8, 8);
        var (position, expected) = (environment.Newest(), environment.Changes());
        environment.Flush();
        var report = await environment.CompactAsync(null, Token);
        report.BytesMoved.Should().BeGreaterThanOrEqualTo(2 << 20, "the large value of the recorded tree was moved");
        environment.Changes().Should().Equal(expected);
        environment.Put(9, 9);
        environment.Changes(position).Should().Equal("Put 09=09");
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Feeds_work_in_memory()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        Fill(environment);
        environment.MustReplay();
        environment.Write(writing =>
        {
            writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxBytes = 0 });
            writing.RemoveConsumer(FeedKit.Feed, "consumer").Should().BeTrue();
        });

        // A trim in the background may have been quicker.
        await environment.TrimFeedsAsync(Token);
        environment.Info().Changes.Should().Be(0);
    }

    [Fact]
    public void Feeds_of_an_environment_that_is_open_for_reading_can_be_read()
    {
        List<string> expected;
        using (var environment = Open())
        {
            Fill(environment);
            expected = environment.Changes();
        }

        using var readOnly = StorageEnvironment.Open(Store, new StorageOptions { ReadOnly = true });
        readOnly.Changes().Should().Equal(expected);
        readOnly.Info().Sources.Should().HaveCount(1);
    }

    [Theory]
    [InlineData("none")]
    [InlineData("short")]
    [InlineData("feed of zero")]
    public void A_tree_whose_record_is_damaged_cannot_be_changed_until_its_recording_is_stopped(string damage)
    {
        using var environment = Open();
        environment.Record();
        environment.Put(1, 1);
        var id = TreeId(environment);
        environment.Write(writing =>
        {
            var feeds = FeedEditor.OpenFeeds(writing);
            if (damage == "none")
                feeds.Delete(FeedKeys.Tree(id)).Should().BeTrue();
            else
                feeds.Put(FeedKeys.Tree(id), new byte[damage == "short" ? 5 : TreeRecording.Size]);
        });
        foreach (var change in (Action<WriteTree>[])
        [
            tree => tree.Put([1], [2]), tree => tree.Insert([2], [2]), tree => tree.Delete([1]), tree => tree.DeleteRange(KeyRange.All),
            tree => tree.Clear(), tree => tree.Add([3], 1), tree => tree.Increment([3]), tree => tree.Reserve([3], 1),
        ])
        {
            using var writing = environment.BeginWrite();
            var tree = writing.OpenTree(FeedKit.TreeName);
            FluentActions.Invoking(() => change(tree)).Should().Throw<CorruptionException>().WithMessage("*'items'*");
            tree.Count.Should().Be(1);
            tree.Get([1]).Should().Equal(1);
            writing.CreateTree("other").Put([1], [1]);
            writing.Commit();
        }

        environment.Write(writing =>
            FluentActions.Invoking(() => writing.RecordTree(FeedKit.Feed, FeedKit.TreeName)).Should().Throw<CorruptionException>()
                .WithMessage("*'items'*"));
        environment.Write(writing => writing.StopRecordingTree(FeedKit.TreeName).Should().BeTrue());
        environment.Record();
        environment.Put(2, 2);
        environment.Changes().Should().Equal("SourceAdded", "Put 01=01", "SourceAdded", "Put 02=02");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_tree_whose_record_is_lost_can_be_deleted(bool deletesTree)
    {
        using var environment = Open();
        environment.Record();
        var id = TreeId(environment);
        environment.Write(writing => FeedEditor.OpenFeeds(writing).Delete(FeedKeys.Tree(id)));
        if (deletesTree)
        {
            environment.Write(writing => writing.DeleteTree(FeedKit.TreeName).Should().BeTrue());
            return;
        }

        // The source leads the feed to its tree.
        environment.Write(writing => writing.DeleteFeed(FeedKit.Feed).Should().BeTrue());
        environment.Put(1, 1);
    }

    [Fact]
    public void A_feed_whose_sources_are_lost_can_be_deleted()
    {
        using var environment = Open();
        environment.Record();
        environment.Write(writing => FeedEditor.OpenFeeds(writing).DeleteRange(KeyRange.Prefix(FeedKeys.Sources(1))));
        environment.Write(writing => writing.DeleteFeed(FeedKit.Feed).Should().BeTrue());
        environment.Put(1, 1);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_feed_that_is_damaged_is_reported()
    {
        using var environment = Open();
        environment.Record();
        environment.Put(1, 1);
        environment.Write(writing => FeedEditor.OpenFeeds(writing).Put(FeedRegistry.FeedKey(FeedKit.Feed), [1, 2, 3]));
        using (var reading = environment.BeginRead())
        {
            FluentActions.Invoking(() => reading.GetFeeds()).Should().Throw<CorruptionException>().WithMessage("*'feed'*");
            FluentActions.Invoking(() => reading.GetNewestPosition(FeedKit.Feed)).Should().Throw<CorruptionException>();
            FluentActions.Invoking(() => reading.ReadChanges(FeedKit.Feed, default, new ChangeBatch())).Should().Throw<CorruptionException>();
        }

        environment.Write(writing =>
        {
            FluentActions.Invoking(() => writing.CreateFeed(FeedKit.Feed)).Should().Throw<CorruptionException>();
            FluentActions.Invoking(() => writing.DeleteFeed(FeedKit.Feed)).Should().Throw<CorruptionException>();
            FluentActions.Invoking(() => writing.RecordTree(FeedKit.Feed, FeedKit.TreeName)).Should().Throw<CorruptionException>();
        });
        FluentActions.Invoking(() => environment.TrimFeedsAsync(Token).AsTask().GetAwaiter().GetResult()).Should().Throw<CorruptionException>();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_change_that_is_damaged_or_of_an_unknown_source_is_reported(bool losesSource)
    {
        using var environment = Open();
        environment.Record();
        environment.Put(1, 1);
        var position = environment.Newest();
        environment.Write(writing =>
        {
            if (losesSource)
                FeedEditor.OpenFeeds(writing).Delete(FeedKeys.Source(1, 1)).Should().BeTrue();
            var changes = writing.CreateSystemTree(SystemTree.ChangesName(1, new byte[SystemTree.ChangesNameBytes]));
            if (!losesSource)
                changes.Put(ChangeRecord.WriteKey(position.TransactionId, position.Ordinal, new byte[ChangeRecord.KeyBytes]), [0, 0]);
        });
        FluentActions.Invoking(() => environment.Changes()).Should().Throw<CorruptionException>().WithMessage("*'feed'*");
    }

    private static uint TreeId(StorageEnvironment environment)
    {
        using var writing = environment.BeginWrite();
        return writing.OpenTree(FeedKit.TreeName).TreeId;
    }

    private StorageEnvironment Open() => StorageEnvironment.Open(Store, FeedKit.Options());

    private static void Fill(StorageEnvironment environment)
    {
        environment.Record();
        for (byte i = 0; i < 7; i++)
            environment.Put(i, new byte[i * 100]);
        environment.Write(writing =>
        {
            writing.SetPosition(FeedKit.Feed, "consumer", ChangePosition.Start);
            writing.CreateTable(TableKit.Plain(1));
            writing.CreateFeed("rows");
            writing.RecordTable("rows", "items", RecordedContent.NewValues | RecordedContent.OldValues);
        });
        environment.Insert(TableKit.Plain(1), [.. Enumerable.Range(0, 500).Select(i => new Item($"{i}") { Text = new string('t', 200) })]);
    }

    private void HasNoFeeds(ChangePosition old)
    {
        using var environment = StorageEnvironment.Open(Other, FeedKit.Options());
        using (var reading = environment.BeginRead())
        {
            reading.GetFeeds().Should().BeEmpty();
            reading.OpenTree(FeedKit.TreeName).Count.Should().Be(7);
            reading.GetSystemTrees().Should().NotContain(tree => SystemTree.IsOfFeeds(tree.Name));
        }

        environment.Internals.Engine.Format.Has(FormatFeatures.ChangeFeeds).Should().BeFalse();
        environment.Write(writing =>
        {
            writing.StopRecordingTree(FeedKit.TreeName).Should().BeFalse();
            writing.StopRecordingTable("items").Should().BeFalse();
            writing.OpenTree(FeedKit.TreeName).Put([9], [9]);
            writing.OpenTable(TableKit.Plain(1)).Insert(new Item("new"));
        });
        environment.MustBeSound(TableKit.Plain(1), 501);
        environment.Record();
        environment.Put(10, 10);
        environment.Changes().Should().Equal("SourceAdded", "Put 0A=0A");
        FluentActions.Invoking(() => environment.Changes(old)).Should().Throw<ChangesLostException>();
        environment.Verify().Problems.Should().BeEmpty();
    }
}
