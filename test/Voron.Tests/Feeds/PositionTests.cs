using Voron.Feeds;

namespace Voron.Tests.Feeds;

/// <summary>A position is accepted where the feed has all changes behind it, and nowhere else.</summary>
public sealed class PositionTests : IDisposable
{
    private const string Consumer = "consumer";

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public PositionTests()
    {
        _environment = StorageEnvironment.Open(Store, FeedKit.Options());
        _environment.Record();
        for (byte i = 0; i < 5; i++)
            _environment.Put(i, i);
    }

    private string Store => Path.Combine(_directory.Path, "store");

    private string Other => Path.Combine(_directory.Path, "other");

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void A_position_has_a_text()
    {
        foreach (var position in (ChangePosition[])
        [
            ChangePosition.Start, _environment.Newest(), new(long.MaxValue, uint.MaxValue, -1), new(1, 2, long.MinValue), new(0, 0, 1),
        ])
        {
            ChangePosition.TryParse(position.ToString(), out var read).Should().BeTrue();
            read.Should().Be(position);
        }

        new ChangePosition(12, 3, 0xABC).ToString().Should().Be("12-3-0000000000000abc");
        foreach (var text in (string?[])
        [
            null, "", "1", "1-2", "1-2-3-4", "-1-2-3", "1--3", "a-2-3", "1-2-x", " 1-2-3", "1-2-3 ", "+1-2-3", "1-4294967296-3",
            "9223372036854775808-1-3", "1-2-0x1", "1,0-2-3", "1-2-10000000000000000",
        ])
        {
            ChangePosition.TryParse(text, out var read).Should().BeFalse("'{0}' is no position", text);
            read.Should().Be(ChangePosition.Start);
        }
    }

    [Fact]
    public void Positions_of_a_feed_have_an_order()
    {
        ChangePosition[] positions = [new(1, 2, 9), new(1, 3, 9), new(2, 1, 9)];
        positions.Should().BeInAscendingOrder();
        (positions[0] < positions[1], positions[1] > positions[0], positions[2] > positions[1]).Should().Be((true, true, true));
        (positions[1] < positions[0], positions[0] <= positions[1], positions[0] >= positions[1]).Should().Be((false, true, false));
    }

    [Fact]
    public void A_consumer_keeps_its_position_in_the_environment()
    {
        var position = _environment.Newest();
        _environment.Write(writing =>
        {
            writing.TryGetPosition(FeedKit.Feed, Consumer, out _).Should().BeFalse();
            writing.SetPosition(FeedKit.Feed, Consumer, position);
            writing.TryGetPosition(FeedKit.Feed, Consumer, out var own).Should().BeTrue();
            own.Should().Be(position);
        });
        _environment.Put(7, 7);
        using (var reading = _environment.BeginRead())
        {
            reading.TryGetPosition(FeedKit.Feed, Consumer, out var found).Should().BeTrue();
            found.Should().Be(position);
            reading.TryGetPosition(FeedKit.Feed, "other", out var none).Should().BeFalse();
            none.Should().Be(ChangePosition.Start);
        }

        _environment.Info().Consumers.Should().Equal(new FeedConsumer(Consumer, position));
        _environment.Changes(position).Should().Equal("Put 07=07");
        _environment.Write(writing => writing.RemoveConsumer(FeedKit.Feed, Consumer).Should().BeTrue());
        _environment.Write(writing => writing.RemoveConsumer(FeedKit.Feed, Consumer).Should().BeFalse());
        _environment.Info().Consumers.Should().BeEmpty();
    }

    [Fact]
    public void A_consumer_may_begin_at_the_start_and_go_back()
    {
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, ChangePosition.Start));
        var oldest = _environment.Info().Oldest;
        _environment.Info().Consumers.Should().Equal(new FeedConsumer(Consumer, oldest));
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, writing.GetNewestPosition(FeedKit.Feed)));
        _environment.Info().Consumers[0].Position.Should().Be(_environment.Newest());
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, oldest));
        _environment.Info().Consumers[0].Position.Should().Be(oldest);
        _environment.Changes(oldest).Should().HaveCount(6);
    }

    [Fact]
    public void A_rollback_takes_a_position_back()
    {
        var first = _environment.Newest();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, first));
        _environment.Put(7, 7);
        var second = _environment.Newest();
        using (var writing = _environment.BeginWrite())
            writing.SetPosition(FeedKit.Feed, Consumer, second);
        _environment.Info().Consumers[0].Position.Should().Be(first);
        _environment.Write(writing =>
        {
            using var savepoint = writing.CreateSavepoint();
            writing.SetPosition(FeedKit.Feed, Consumer, second);
            writing.SetPosition(FeedKit.Feed, "new", second);
            savepoint.Rollback();
        });
        _environment.Info().Consumers.Should().Equal(new FeedConsumer(Consumer, first));
    }

    [Fact]
    public void A_position_of_another_feed_is_refused()
    {
        _environment.Record(feed: "other", tree: "second");
        var foreign = _environment.Newest("other");
        using var memory = StorageEnvironment.OpenInMemory();
        memory.Record();
        foreach (var position in new[] { foreign, memory.Newest(), _environment.Newest() with { Stamp = 0 }, new ChangePosition(0, 1, 0) })
            MustBeLost(_environment, position, _environment.Info().Oldest, "*another feed*");
    }

    [Fact]
    public void A_position_of_a_deleted_feed_is_refused_by_a_new_one()
    {
        var old = _environment.Newest();
        _environment.Write(writing => writing.DeleteFeed(FeedKit.Feed));
        _environment.Record();
        MustBeLost(_environment, old, _environment.Info().Oldest, "*deleted*");
        _environment.Changes().Should().Equal("SourceAdded");
    }

    [Fact]
    public void A_position_ahead_of_the_snapshot_is_refused()
    {
        var newest = _environment.Newest();
        using var old = _environment.BeginRead();
        _environment.Put(7, 7);
        var ahead = FluentActions.Invoking(() => old.ReadChanges(FeedKit.Feed, _environment.Newest(), new ChangeBatch())).Should()
            .Throw<ChangesLostException>().Which;
        (ahead.Position, ahead.FeedName).Should().Be((_environment.Newest(), FeedKit.Feed));
        MustBeLost(_environment, newest with { TransactionId = long.MaxValue }, _environment.Info().Oldest, "*newest transaction*");
        MustBeLost(_environment, newest with { TransactionId = 0 }, _environment.Info().Oldest, "*deleted*");
        _environment.Changes(newest with { Ordinal = uint.MaxValue }).Should().Equal("Put 07=07");
    }

    [Fact]
    public async Task A_position_before_the_cut_is_refused()
    {
        var (first, second) = (_environment.Info().Oldest, _environment.Newest());
        _environment.Put(7, 7);
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, second));
        _environment.Write(writing => writing.CreateFeed(FeedKit.Feed, new FeedOptions { MaxBytes = 0 }));
        (await _environment.TrimFeedsAsync(FeedKit.Token)).Should().Be(6);
        _environment.Info().Oldest.Should().Be(second);
        MustBeLost(_environment, first, second, "*deleted*");
        MustBeLost(_environment, ChangePosition.Start, second, "*deleted*");
        _environment.Changes(second).Should().Equal("Put 07=07");
    }

    [Fact]
    public async Task A_restored_environment_accepts_positions_up_to_its_backup()
    {
        var backup = Path.Combine(_directory.Path, "backup");
        var before = _environment.Newest();
        _environment.Put(6, 6);
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, before));
        var last = _environment.Newest();
        await _environment.BackupAsync(backup, null, FeedKit.Token);
        _environment.Put(7, 7);
        var after = _environment.Newest();
        await BackupFile.RestoreAsync([backup], Other, null, FeedKit.Token);
        using var restored = StorageEnvironment.Open(Other, FeedKit.Options());
        restored.Put(8, 8);
        restored.Put(9, 9);
        restored.Changes(last).Should().Equal("Put 08=08", "Put 09=09");
        restored.Changes(before).Should().Equal("Put 06=06", "Put 08=08", "Put 09=09");
        MustBeLost(restored, after, restored.Info().Oldest, "*restored*");
        using (var reading = restored.BeginRead())
        {
            reading.TryGetPosition(FeedKit.Feed, Consumer, out var kept).Should().BeTrue();
            restored.Changes(kept).Should().HaveCount(3);
            kept.Stamp.Should().NotBe(before.Stamp, "positions of the restored environment are its own");
            (kept with { Stamp = before.Stamp }).Should().Be(before);
        }

        MustBeLost(_environment, restored.Newest(), _environment.Info().Oldest, "*another feed*");
        _environment.Changes(last).Should().Equal("Put 07=07");
        restored.Write(writing => writing.SetPosition(FeedKit.Feed, Consumer, last));
        restored.Info().Consumers[0].Position.Should().Be(last with { Stamp = restored.Newest().Stamp });
    }

    // A transaction that was never in the restored environment may have the id of one that is.
    [Fact]
    public async Task A_position_of_a_transaction_that_the_restored_environment_lacks_is_refused_also_by_SetPosition()
    {
        var backup = Path.Combine(_directory.Path, "backup");
        await _environment.BackupAsync(backup, null, FeedKit.Token);
        _environment.Put(7, 7);
        var after = _environment.Newest();
        await BackupFile.RestoreAsync([backup], Other, null, FeedKit.Token);
        using var restored = StorageEnvironment.Open(Other, FeedKit.Options());
        for (byte i = 0; i < 9; i++)
            restored.Put(i, i);
        restored.Write(writing =>
            FluentActions.Invoking(() => writing.SetPosition(FeedKit.Feed, Consumer, after)).Should().Throw<ChangesLostException>());
        restored.Info().Consumers.Should().BeEmpty();
    }

    private static void MustBeLost(StorageEnvironment environment, ChangePosition position, ChangePosition oldest, string reason)
    {
        var thrown = FluentActions.Invoking(() => environment.Changes(position)).Should().Throw<ChangesLostException>().WithMessage(reason).Which;
        (thrown.FeedName, thrown.Position, thrown.Oldest).Should().Be((FeedKit.Feed, position, oldest));
        environment.Changes(thrown.Oldest);
        environment.Write(writing =>
            FluentActions.Invoking(() => writing.SetPosition(FeedKit.Feed, Consumer, position)).Should().Throw<ChangesLostException>());
    }
}
