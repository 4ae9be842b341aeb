using Voron.Feeds;
using Voron.Tests.Feeds;

namespace Voron.Tests.Opening;

/// <summary>Closing waits for the engine's own work on the pool, so that the directory can be opened again at once.</summary>
public sealed class ClosingWorkTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_trim_of_a_feed_that_takes_long_keeps_no_lock_behind_the_closing()
    {
        using var clock = new HoldingClock();
        var options = FeedKit.Options();
        options.BackgroundFlush = true;
        options.CommitClock = clock;

        // Closing would hardly wait for calls of the user, and for an open write transaction.
        options.ClosingPatience = TimeSpan.FromMilliseconds(1);
        var environment = StorageEnvironment.Open(_directory.Path, options);
        environment.Record();
        clock.WaitUntilHeld();
        var closing = new TestThread(environment.Dispose);
        closing.WaitUntilBlockedOrEnded();
        TestWait.GiveTimeFor(() => closing.HasEnded);
        var hadEnded = closing.HasEnded;
        clock.Release();
        closing.Join().Should().BeNull();
        hadEnded.Should().BeFalse("the trim was under way");
        StorageEnvironment.Open(_directory.Path, FeedKit.Options()).Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_consumer_that_waits_for_changes_continues_on_another_thread_than_the_closing_one(bool isAsynchronous)
    {
        using var closed = new ManualResetEventSlim();
        var environment = StorageEnvironment.Open(_directory.Path, FeedKit.Options());
        environment.Record();
        var (changes, hasWaited) = (environment.ReadChangesAsync(FeedKit.Feed, environment.Newest(), cancellationToken: Cancellation), false);

        // Without a context of the test, which would have the continuation run elsewhere.
        var consumer = Task.Run(
            async () =>
            {
                await using var reader = changes.GetAsyncEnumerator(Cancellation);
                try
                {
                    await reader.MoveNextAsync();
                }
                catch (ObjectDisposedException)
                {
                    hasWaited = closed.Wait(TestWait.Limit, Cancellation);
                }
            },
            Cancellation);
        TestWait.GiveTimeFor(() => consumer.IsCompleted);
        var closing = new TestThread(() =>
        {
            if (isAsynchronous)
                environment.DisposeAsync().AsTask().Wait();
            else
                environment.Dispose();
            closed.Set();
        });
        closing.Join().Should().BeNull();
        await consumer.WaitAsync(TestWait.Limit, Cancellation);
        hasWaited.Should().BeTrue("the environment was closed meanwhile");
    }

    /// <summary>The observer runs on a thread of the work's own kind, which closing must not wait for.</summary>
    [Fact]
    public void Closing_inside_an_observer_waits_for_the_trim_no_longer_than_for_other_calls()
    {
        using var clock = new HoldingClock();
        using var closed = new ManualResetEventSlim();
        StorageEnvironment? environment = null;
        var options = FeedKit.Options();
        options.BackgroundFlush = true;
        options.CommitClock = clock;
        options.CommitObserver = _ =>
        {
            if (environment == null || closed.IsSet)
                return;
            environment.Dispose();
            closed.Set();
        };
        var opened = StorageEnvironment.Open(_directory.Path, options);
        opened.Record();
        clock.WaitUntilHeld();
        environment = opened;
        var committing = new TestThread(() => opened.Put(1, 1));
        closed.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        clock.Release();

        // The observer may have been called for the commit before, and this one refused.
        committing.Join();
    }

    /// <summary>Holds the first thread of the pool that asks for the time, which is that of the trim.</summary>
    private sealed class HoldingClock : TimeProvider, IDisposable
    {
        private readonly Thread _committing = Thread.CurrentThread;
        private readonly ManualResetEventSlim _isHeld = new();
        private readonly ManualResetEventSlim _mayGoOn = new();

        public void WaitUntilHeld() => _isHeld.Wait(TestWait.Limit, Cancellation).Should().BeTrue();

        public void Release() => _mayGoOn.Set();

        public override DateTimeOffset GetUtcNow()
        {
            if (Thread.CurrentThread != _committing && Thread.CurrentThread.IsThreadPoolThread && !_isHeld.IsSet)
            {
                _isHeld.Set();
                _mayGoOn.Wait(TestWait.Limit).Should().BeTrue();
            }

            return DateTimeOffset.UtcNow;
        }

        public void Dispose() => _mayGoOn.Set();
    }
}
