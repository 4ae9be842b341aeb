using Voron.Feeds;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Feeds;

/// <summary>Old changes are deleted by age and by size, whole transactions at a time, and none that a named consumer has not seen.</summary>
public sealed class RetentionTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly FeedClock _clock = new();
    private readonly ListLogger _logger = new();
    private readonly StorageEnvironment _environment;

    public RetentionTests()
    {
        var options = FeedKit.Options();
        options.CommitClock = _clock;
        options.LoggerFactory = new OneLoggerFactory(_logger);
        _environment = StorageEnvironment.Open(_directory.Path, options);
    }

    private static CancellationToken Token => FeedKit.Token;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Transactions_are_deleted_when_they_are_too_old()
    {
        _environment.Record(options: new FeedOptions { MaxAge = TimeSpan.FromHours(1) });
        for (byte i = 0; i < 6; i++)
        {
            _environment.Write(writing =>
            {
                writing.OpenTree(FeedKit.TreeName).Put([i, 1], [i]);
                writing.OpenTree(FeedKit.TreeName).Put([i, 2], [i]);
            });
            _clock.Now += TimeSpan.FromMinutes(20);
        }

        // Transactions of 0, 20, 40, 60, 80 and 100 minutes, and it is minute 120.
        (await TrimAsync()).Should().Be(7);
        var oldest = _environment.Info().Oldest;
        _environment.Changes(oldest).Should().Equal("Put 0301=03", "Put 0302=03", "Put 0401=04", "Put 0402=04", "Put 0501=05", "Put 0502=05");
        (await TrimAsync()).Should().Be(0);
        _environment.Info().Oldest.Should().Be(oldest);
        _clock.Now += TimeSpan.FromTicks(1);
        (await TrimAsync()).Should().Be(2);
        _clock.Now += TimeSpan.FromDays(1);
        (await TrimAsync()).Should().Be(4);
        _environment.Info().Changes.Should().Be(0);
        _environment.Info().Newest.Should().Be(_environment.Info().Oldest);
        (await TrimAsync()).Should().Be(0);
        _environment.Put(9, 9);
        _environment.Changes(_environment.Info().Oldest).Should().Equal("Put 09=09");
    }

    [Fact]
    public async Task Without_limits_nothing_is_deleted()
    {
        (await TrimAsync()).Should().Be(0);
        _environment.Record(options: new FeedOptions { MaxAge = Timeout.InfiniteTimeSpan, MaxBytes = long.MaxValue, HoldLimitBytes = long.MaxValue });
        _environment.Put(1, 1);
        _clock.Now += TimeSpan.FromDays(10_000);
        (await TrimAsync()).Should().Be(0);
        _environment.Changes().Should().HaveCount(2);
    }

    [Fact]
    public async Task The_oldest_transactions_are_deleted_when_there_are_too_many_bytes()
    {
        const int MaxBytes = 1 << 20;
        _environment.Record(options: new FeedOptions { MaxBytes = MaxBytes });
        Fill(600, 20, 1_000);
        _environment.Info().Bytes.Should().BeGreaterThan(10 * MaxBytes);
        (await TrimAsync()).Should().BePositive();
        var info = _environment.Info();
        info.Bytes.Should().BeInRange(MaxBytes / 2, MaxBytes);
        var left = _environment.Changes(info.Oldest);
        left.Should().HaveCount((int)info.Changes);
        (left.Count % 20).Should().Be(0, "a transaction is deleted as a whole");
        (await TrimAsync()).Should().Be(0);
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Flush();
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_transaction_that_is_larger_than_a_step_is_deleted_as_a_whole()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 0 });
        Fill(1, 10_000, 1_000);
        (await TrimAsync()).Should().Be(10_001);
        _environment.Info().Changes.Should().Be(0);
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_consumer_holds_back_what_it_has_not_seen()
    {
        _environment.Record(options: new FeedOptions { MaxAge = TimeSpan.FromHours(1), MaxBytes = 0 });
        _environment.Put(1, 1);
        var first = _environment.Newest();
        _environment.Put(2, 2);
        var second = _environment.Newest();
        _environment.Write(writing =>
        {
            writing.SetPosition(FeedKit.Feed, "slow", first);
            writing.SetPosition(FeedKit.Feed, "fast", second);
        });
        _clock.Now += TimeSpan.FromDays(1);
        (await TrimAsync()).Should().Be(2);
        _environment.Info().Oldest.Should().Be(first);
        _environment.Changes(first).Should().Equal("Put 02=02");
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "slow", second));
        (await TrimAsync()).Should().Be(1);
        _environment.Put(3, 3);
        (await TrimAsync()).Should().Be(0);
        _environment.Write(writing => writing.RemoveConsumer(FeedKit.Feed, "slow"));
        (await TrimAsync()).Should().Be(0);
        _environment.Write(writing => writing.RemoveConsumer(FeedKit.Feed, "fast"));
        (await TrimAsync()).Should().Be(1);
        FaultTestKit.WarningsOf(_environment, _logger).Should().BeEmpty();
    }

    [Fact]
    public async Task A_consumer_in_the_middle_of_a_transaction_holds_back_all_of_it()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 0 });
        var start = _environment.Newest();
        _environment.Write(writing =>
        {
            for (byte i = 0; i < 5; i++)
                writing.OpenTree(FeedKit.TreeName).Put([i], [i]);
        });
        var batch = new ChangeBatch(1);
        using (var reading = _environment.BeginRead())
            reading.ReadChanges(FeedKit.Feed, start, batch).Should().BeTrue();
        batch.IsTransactionComplete.Should().BeFalse();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "slow", batch.Position));
        (await TrimAsync()).Should().Be(1);
        _environment.Info().Oldest.Should().Be(start);
        _environment.Changes(batch.Position).Should().HaveCount(4);
    }

    [Fact]
    public async Task Above_the_limit_a_consumer_holds_back_nothing_and_is_named()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 1 << 20, HoldLimitBytes = 2 << 20 });
        var start = _environment.Newest();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "slow", start));
        Fill(60, 20, 1_000);
        _environment.Info().Bytes.Should().BeInRange(1 << 20, 2 << 20);
        (await TrimAsync()).Should().Be(1, "only the change before the consumer");
        Fill(80, 20, 1_000);
        _environment.Info().Bytes.Should().BeGreaterThan(2 << 20);
        (await TrimAsync()).Should().BePositive();
        _environment.Info().Bytes.Should().BeLessThanOrEqualTo(2 << 20);
        FaultTestKit.WarningsOf(_environment, _logger).Should().NotBeEmpty().And.OnlyContain(
            warning => warning.Contains("'slow'", StringComparison.Ordinal) && warning.Contains("'feed'", StringComparison.Ordinal));
        FluentActions.Invoking(() => _environment.Changes(start)).Should().Throw<ChangesLostException>()
            .Which.Oldest.Should().Be(_environment.Info().Oldest);
        _environment.Info().Consumers.Should().Equal(new FeedConsumer("slow", start));
    }

    [Fact]
    public async Task A_consumer_within_the_limit_keeps_its_changes_beside_one_that_is_beyond_it()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 100_000, HoldLimitBytes = 400_000 });
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "dead", writing.GetNewestPosition(FeedKit.Feed)));
        Fill(20, 10, 1_000);
        var medium = _environment.Newest();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "medium", medium));
        Fill(20, 10, 1_000);
        _environment.Info().Bytes.Should().BeGreaterThan(400_000);

        (await TrimAsync()).Should().BePositive();

        _environment.Info().Oldest.Should().Be(medium);
        _environment.Changes(medium).Should().HaveCount(200);
        FaultTestKit.WarningsOf(_environment, _logger).Should().ContainSingle().Which.Should().Contain("'dead'");
    }

    [Fact]
    public async Task A_consumer_that_a_cut_has_passed_holds_back_nothing_more()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 1 << 20, HoldLimitBytes = 2 << 20 });
        var start = _environment.Newest();
        _environment.Write(writing => writing.SetPosition(FeedKit.Feed, "gone", start));
        Fill(140, 20, 1_000);
        await TrimAsync();
        var warnings = FaultTestKit.WarningsOf(_environment, _logger).Count();

        Fill(30, 20, 1_000);
        _environment.Info().Bytes.Should().BeInRange(1 << 20, 2 << 20);
        (await TrimAsync()).Should().BePositive();
        _environment.Info().Bytes.Should().BeLessThanOrEqualTo(1 << 20);
        FaultTestKit.WarningsOf(_environment, _logger).Should().HaveCount(warnings, "the consumer is reported once");
    }

    [Fact]
    public async Task A_damaged_feed_does_not_keep_the_others_from_being_trimmed()
    {
        var options = new FeedOptions { MaxBytes = 0 };
        _environment.Record(options: options, feed: "a", tree: "first");
        _environment.Record(options: options, feed: "b", tree: "second");
        _environment.Write(writing => FeedEditor.OpenFeeds(writing).Put(FeedRegistry.FeedKey("a"), [1]));

        await FluentActions.Awaiting(() => TrimAsync()).Should().ThrowAsync<CorruptionException>().WithMessage("*'a'*");

        using var reading = _environment.BeginRead();
        reading.GetNewestPosition("b").Should().Be(new FeedRegistry(reading).OldestOf(new FeedRegistry(reading).Get("b")));
    }

    [Fact]
    public async Task Sources_that_have_ended_are_forgotten_with_their_last_change()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 0 });
        for (var i = 0; i < 5; i++)
        {
            _environment.Write(writing => writing.RenameTree(i == 0 ? FeedKit.TreeName : $"{i}", $"{i + 1}"));
            _environment.Write(writing => writing.OpenTree($"{i + 1}").Put([1], [1]));
        }

        Sources().Should().Be(6);
        await TrimAsync();
        Sources().Should().Be(1);
        var oldest = _environment.Info().Oldest;
        _environment.Write(writing => writing.OpenTree("5").Put([2], [2]));
        _environment.Changes(oldest).Should().Equal("tree '5': Put 02=02");
    }

    [Fact]
    public async Task Changes_are_deleted_in_the_background_while_others_are_recorded()
    {
        using var place = new TestDirectory();
        var options = FeedKit.Options();
        options.BackgroundFlush = true;
        options.LoggerFactory = new OneLoggerFactory(_logger);
        using var environment = StorageEnvironment.Open(place.Path, options);
        environment.Record(options: new FeedOptions { MaxBytes = 1 << 20 });
        for (var round = 0; round < 12; round++)
        {
            environment.Write(writing =>
            {
                for (var i = 0; i < 1_000; i++)
                    writing.OpenTree(FeedKit.TreeName).Put([(byte)i], new byte[1_000]);
            });
        }

        TestWait.Until(() => environment.Info().Changes < 12_001);
        TestWait.Until(() => _logger.Entries.Any(entry => entry.Message.StartsWith("Old changes were", StringComparison.Ordinal)));
        await environment.TrimFeedsAsync(Token);
        environment.Info().Bytes.Should().BeLessThanOrEqualTo(1 << 20);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_consumer_that_reads_while_changes_are_deleted_gets_all_or_learns_of_it()
    {
        _environment.Record(options: new FeedOptions { MaxBytes = 0 });
        Fill(5, 100, 100);
        using var reading = _environment.BeginRead();
        (await TrimAsync()).Should().Be(501);
        var batch = new ChangeBatch(1 << 20);
        reading.ReadChanges(FeedKit.Feed, ChangePosition.Start, batch).Should().BeTrue("the snapshot was begun before");
        batch.Count.Should().Be(501);
        FluentActions.Invoking(() => _environment.Changes()).Should().Throw<ChangesLostException>();
    }

    [Fact]
    public async Task A_call_that_cannot_be_made_is_refused()
    {
        _environment.Record();
        await FluentActions.Awaiting(() => TrimAsync(new CancellationToken(true))).Should().ThrowAsync<OperationCanceledException>();
        _environment.Write(_ =>
            FluentActions.Invoking(() => _environment.TrimFeedsAsync(Token).AsTask().GetAwaiter().GetResult()).Should()
                .Throw<InvalidOperationException>().WithMessage("*TrimFeedsAsync*"));
        _environment.Dispose();
        await FluentActions.Awaiting(() => TrimAsync()).Should().ThrowAsync<ObjectDisposedException>();
        using var readOnly = StorageEnvironment.Open(_directory.Path, new StorageOptions { ReadOnly = true });
        await FluentActions.Awaiting(() => readOnly.TrimFeedsAsync(Token).AsTask()).Should().ThrowAsync<InvalidOperationException>();
    }

    private Task<long> TrimAsync(CancellationToken? token = null) => _environment.TrimFeedsAsync(token ?? Token).AsTask();

    private void Fill(int transactions, int puts, int length)
    {
        for (var i = 0; i < transactions; i++)
        {
            _environment.Write(writing =>
            {
                for (var k = 0; k < puts; k++)
                    writing.OpenTree(FeedKit.TreeName).Put([(byte)k], new byte[length]);
            });
        }
    }

    private int Sources()
    {
        using var reading = _environment.BeginRead();
        var registry = new FeedRegistry(reading);
        return registry.Sources(registry.Get(FeedKit.Feed)).Count;
    }
}
