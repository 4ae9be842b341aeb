using Voron.Feeds;
using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Tests.Feeds;

/// <summary>Batches have whole transactions, or marked parts of one; an enumeration waits for more, and holds nothing meanwhile.</summary>
public sealed class ReadingTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public ReadingTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        _environment.Record();
    }

    private static CancellationToken Token => FeedKit.Token;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Batches_end_with_transactions_unless_one_is_too_large()
    {
        var start = _environment.Newest();
        foreach (var count in new[] { 3, 1, 3, 2, 40, 1, 1, 5, 20 })
        {
            _environment.Write(writing =>
            {
                for (byte i = 0; i < count; i++)
                    writing.OpenTree(FeedKit.TreeName).Put([i], new byte[19]);
            });
        }

        // A change has 64 + 20 bytes, and a batch room for five.
        var batches = new List<string>();
        using var reading = _environment.BeginRead();
        var batch = new ChangeBatch(420);
        for (var after = start; reading.ReadChanges(FeedKit.Feed, after, batch); after = batch.Position)
            batches.Add($"{batch.Count}{(batch.IsTransactionComplete ? "" : "-")}");
        string.Join(' ', batches).Should().Be("4 5 5- 5- 5- 5- 5- 5- 5- 5 2 5 5- 5- 5- 5");
        batch.Count.Should().Be(0);
        batch.IsTransactionComplete.Should().BeTrue();
        batch.Position.Should().Be(reading.GetNewestPosition(FeedKit.Feed));
    }

    [Fact]
    public async Task Enumerations_of_one_result_have_batches_of_their_own()
    {
        _environment.Put(1, 1);
        _environment.Put(2, 2);
        var changes = _environment.ReadChangesAsync(FeedKit.Feed, ChangePosition.Start, maxBatchBytes: 1, FeedKit.Token);
        await using var first = changes.GetAsyncEnumerator(FeedKit.Token);
        await using var second = changes.GetAsyncEnumerator(FeedKit.Token);
        (await first.MoveNextAsync()).Should().BeTrue();
        var change = first.Current[0];
        (await second.MoveNextAsync()).Should().BeTrue();
        (await second.MoveNextAsync()).Should().BeTrue();
        change.Operation.Should().Be(ChangeOperation.SourceAdded);
        second.Current[0].Operation.Should().Be(ChangeOperation.Put);
    }

    [Fact]
    public void Changes_without_bytes_have_their_share_of_a_batch()
    {
        for (var i = 0; i < 100; i++)
        {
            _environment.Write(writing =>
            {
                writing.OpenTree(FeedKit.TreeName).Put([1], []);
                writing.OpenTree(FeedKit.TreeName).Clear();
            });
        }

        var batch = new ChangeBatch(1000);
        using var reading = _environment.BeginRead();
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch).Should().BeTrue();
        batch.Count.Should().BeLessThan(20);
    }

    [Fact]
    public void A_change_that_is_longer_than_a_batch_is_one()
    {
        _environment.Put(1, new byte[5_000]);
        _environment.Put(2, new byte[5_000]);
        var batch = new ChangeBatch(1);
        var counts = new List<int>();
        using var reading = _environment.BeginRead();
        for (var after = ChangePosition.Start; reading.ReadChanges(FeedKit.Feed, after, batch); after = batch.Position)
            counts.Add(batch.Count);
        counts.Should().Equal(1, 1, 1);
    }

    [Fact]
    public void A_consumer_can_continue_behind_each_change()
    {
        _environment.Write(writing =>
        {
            for (byte i = 0; i < 5; i++)
                writing.OpenTree(FeedKit.TreeName).Put([i], [i]);
        });
        using var reading = _environment.BeginRead();
        var all = new ChangeBatch();
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, all);
        for (var i = 0; i < all.Count; i++)
        {
            var rest = new ChangeBatch();
            reading.ReadChanges(FeedKit.Feed, all[i].Position, rest).Should().Be(i + 1 < all.Count);
            rest.Count.Should().Be(all.Count - i - 1);
            foreach (var change in rest)
                change.Time.Should().Be(all[1].Time, "a batch that begins in the middle of a transaction has its time too");
        }
    }

    [Fact]
    public void All_parts_of_a_transaction_have_its_time_if_they_are_read_into_one_batch()
    {
        var start = _environment.Newest();
        _environment.Write(writing =>
        {
            for (byte i = 0; i < 5; i++)
                writing.OpenTree(FeedKit.TreeName).Put([i], [i]);
        });
        using var reading = _environment.BeginRead();
        var batch = new ChangeBatch(1);
        var times = new List<DateTime?>();
        for (var after = start; reading.ReadChanges(FeedKit.Feed, after, batch); after = batch.Position)
            times.Add(batch[0].Time);
        times.Should().HaveCount(5).And.NotContainNulls();
        times.Distinct().Should().ContainSingle();
    }

    [Fact]
    public void A_change_ends_when_its_batch_is_filled_again()
    {
        _environment.Put(1, 1);
        using var reading = _environment.BeginRead();
        var batch = new ChangeBatch();
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch);
        var change = batch[1];
        change.ToString().Should().Contain("Put tree 'items' 0x01");
        var enumerator = batch.GetEnumerator();
        reading.ReadChanges(FeedKit.Feed, batch.Position, batch).Should().BeFalse();
        foreach (var use in Uses(change))
            use.Should().Throw<ObjectDisposedException>().WithMessage("*batch*");
        change.ToString().Should().Be("(ended)");
        FluentActions.Invoking(() => enumerator.MoveNext()).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => batch[0]).Should().Throw<ArgumentOutOfRangeException>();
        FluentActions.Invoking(() => batch[-1]).Should().Throw<ArgumentOutOfRangeException>();
    }

    [Fact]
    public void A_default_change_was_never_read()
    {
        foreach (var use in Uses(default))
            use.Should().Throw<InvalidOperationException>().WithMessage("*default value*");
        default(Change).ToString().Should().Be("(ended)");
        default(ChangePosition).Should().Be(ChangePosition.Start);
    }

    [Fact]
    public void A_snapshot_has_the_changes_that_were_committed_before_it()
    {
        _environment.Put(1, 1);
        using var reading = _environment.BeginRead();
        _environment.Put(2, 2);
        var batch = new ChangeBatch();
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch).Should().BeTrue();
        batch.Count.Should().Be(2);
        reading.GetNewestPosition(FeedKit.Feed).Should().Be(batch.Position);
        reading.ReadChanges(FeedKit.Feed, batch.Position, batch).Should().BeFalse();
    }

    [Fact]
    public void A_batch_of_another_environment_can_be_filled_again()
    {
        using var other = StorageEnvironment.OpenInMemory();
        other.Record(tree: "other");
        var batch = new ChangeBatch();
        foreach (var (environment, name) in new[] { (_environment, FeedKit.TreeName), (other, "other"), (_environment, FeedKit.TreeName) })
        {
            using var reading = environment.BeginRead();
            reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch);
            batch[0].Source.Name.Should().Be(name);
        }
    }

    [Fact]
    public async Task An_enumeration_waits_for_the_next_transaction_and_holds_no_snapshot()
    {
        await using var changes = Follow();
        for (byte i = 0; i < 20; i++)
        {
            var next = changes.MoveNextAsync();
            if (i % 5 == 0)
                await TestWait.GiveTimeForAsync(() => next.IsCompleted);
            next.IsCompleted.Should().BeFalse();
            _environment.GetStatistics().OpenReaders.Should().Be(0);
            _environment.Put(i, i);
            (await next.AsTask().WaitAsync(TestWait.Limit, Token)).Should().BeTrue();
            _environment.GetStatistics().OpenReaders.Should().Be(0);
            FeedKit.Describe(changes.Current[0]).Should().Be($"Put {i:X2}={i:X2}");
            changes.Current.Count.Should().Be(1);
        }
    }

    [Fact]
    public async Task A_transaction_is_seen_when_it_has_committed()
    {
        await using var changes = Follow();
        var next = changes.MoveNextAsync().AsTask();
        using (var writing = _environment.BeginWrite())
            writing.OpenTree(FeedKit.TreeName).Put([1], [1]);
        using (var writing = _environment.BeginWrite())
        {
            writing.OpenTree(FeedKit.TreeName).Put([2], [2]);
            await TestWait.GiveTimeForAsync(() => next.IsCompleted);
            next.IsCompleted.Should().BeFalse();
            writing.Commit();
        }

        (await next.WaitAsync(TestWait.Limit, Token)).Should().BeTrue();
        FeedKit.Describe(changes.Current[0]).Should().Be("Put 02=02");
    }

    [Fact]
    public async Task An_enumeration_that_is_cancelled_ends_with_that()
    {
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Token);
        await using var changes = Follow(cancellation: cancel.Token);
        var next = changes.MoveNextAsync().AsTask();
        await cancel.CancelAsync();
        (await FluentActions.Awaiting(() => next.WaitAsync(TestWait.Limit, Token)).Should().ThrowAsync<OperationCanceledException>())
            .Which.CancellationToken.Should().Be(cancel.Token);
        var begun = async () => await Follow(cancellation: cancel.Token).MoveNextAsync();
        await begun.Should().ThrowAsync<OperationCanceledException>();
    }

    [Fact]
    public async Task An_enumeration_ends_soon_when_its_environment_is_closed()
    {
        await using var changes = Follow();
        var next = changes.MoveNextAsync().AsTask();
        next.IsCompleted.Should().BeFalse("there is no change");
        _environment.Dispose();
        (await FluentActions.Awaiting(() => next.WaitAsync(TestWait.Limit, Token)).Should().ThrowAsync<ObjectDisposedException>())
            .WithMessage("The environment in *is closed.*consumer*");
        var begun = async () => await Follow(ChangePosition.Start).MoveNextAsync();
        (await begun.Should().ThrowAsync<ObjectDisposedException>()).WithMessage("The environment in *is closed.*");
    }

    [Fact]
    public async Task An_enumeration_ends_soon_when_a_write_fails()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FeedKit.Options());
        environment.Record();
        await using var changes = environment.ReadChangesAsync(FeedKit.Feed, environment.Newest(), cancellationToken: Token)
            .GetAsyncEnumerator(Token);
        var next = changes.MoveNextAsync().AsTask();
        disk.FailNext(
            call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed, forever: true);
        environment.Invoking(open => open.Put(2, 2)).Should().Throw<EnvironmentPoisonedException>();
        await FluentActions.Awaiting(() => next.WaitAsync(TestWait.Limit, Token)).Should().ThrowAsync<EnvironmentPoisonedException>();
    }

    [Fact]
    public async Task An_enumeration_of_a_deleted_feed_ends_with_the_next_transaction()
    {
        await using var changes = Follow();
        var next = changes.MoveNextAsync().AsTask();
        _environment.Write(writing => writing.DeleteFeed(FeedKit.Feed));
        await FluentActions.Awaiting(() => next.WaitAsync(TestWait.Limit, Token)).Should().ThrowAsync<KeyNotFoundException>();
    }

    [Fact]
    public async Task A_consumer_begins_at_the_position_that_it_has_stored()
    {
        for (byte i = 1; i <= 3; i++)
            _environment.Put(i, i);
        (await NextAsync()).Should().Be("SourceAdded");
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "other", writing.GetNewestPosition(FeedKit.Feed)));
        (await NextAsync()).Should().Be("Put 01=01");
        (await NextAsync()).Should().Be("Put 02=02");
        _environment.Write(writing => writing.RemoveConsumer(FeedKit.Feed, "lengths"));
        (await NextAsync()).Should().Be("SourceAdded");

        // One change at a time, each of which stores its position.
        async Task<string> NextAsync()
        {
            await foreach (var batch in _environment.ReadChangesAsync(FeedKit.Feed, consumer: "lengths", maxBatchBytes: 1, Token))
            {
                _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "lengths", batch.Position));
                return FeedKit.Describe(batch[0]);
            }

            throw new InvalidOperationException("The enumeration has ended.");
        }
    }

    [Fact]
    public async Task An_enumeration_of_an_environment_that_is_open_for_reading_ends()
    {
        _environment.Put(1, 1);
        _environment.Dispose();
        using var reading = StorageEnvironment.Open(_directory.Path, new StorageOptions { ReadOnly = true });
        var found = new List<string>();
        await foreach (var batch in reading.ReadChangesAsync(FeedKit.Feed, ChangePosition.Start, 1, Token))
            found.Add(FeedKit.Describe(batch[0]));
        found.Should().Equal("SourceAdded", "Put 01=01");
    }

    [Fact]
    public async Task Two_consumers_get_all_changes_while_they_are_made()
    {
        const int Transactions = 300;
        var start = _environment.Newest();
        var consumers = new[] { 1, 1 << 20 }.Select(size => Task.Run(() => ConsumeAsync(start, size, Transactions * 3), Token)).ToList();
        for (var i = 0; i < Transactions; i++)
        {
            var number = (byte)i;
            await _environment.WriteAsync(
                writing =>
                {
                    for (byte k = 0; k < 3; k++)
                        writing.OpenTree(FeedKit.TreeName).Put([number, k], [k]);
                },
                Token);
        }

        var expected = Enumerable.Range(0, Transactions * 3).Select(i => $"Put {(byte)(i / 3):X2}{i % 3:X2}={i % 3:X2}").ToList();
        foreach (var consumer in consumers)
            (await consumer.WaitAsync(TestWait.Limit, Token)).Should().Equal(expected);
    }

    private static IEnumerable<Action> Uses(Change change) =>
    [
        () => _ = change.Operation, () => _ = change.Source, () => _ = change.TransactionId, () => _ = change.Time, () => _ = change.Position,
        () => _ = change.Key.Length, () => _ = change.HasNewValue, () => _ = change.NewValue.Length, () => _ = change.IsNewValueLeftOut,
        () => _ = change.HasOldValue, () => _ = change.OldValue.Length, () => _ = change.IsOldValueLeftOut, () => _ = change.Range.IsEmpty,
        () => _ = change.NewName,
    ];

    private IAsyncEnumerator<ChangeBatch> Follow(ChangePosition? after = null, CancellationToken? cancellation = null) =>
        _environment.ReadChangesAsync(FeedKit.Feed, after ?? _environment.Newest(), cancellationToken: cancellation ?? Token)
            .GetAsyncEnumerator(cancellation ?? Token);

    private async Task<List<string>> ConsumeAsync(ChangePosition after, int batchBytes, int count)
    {
        var found = new List<string>();
        await foreach (var batch in _environment.ReadChangesAsync(FeedKit.Feed, after, batchBytes, Token))
        {
            foreach (var change in batch)
                found.Add(FeedKit.Describe(change));
            if (found.Count >= count)
                break;
        }

        return found;
    }
}
