using Microsoft.Extensions.DependencyInjection;
using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>Several callers that need the environment at once, with openings that fail, are cancelled, or take their time.</summary>
public sealed class HostedEnvironmentTests
{
    [Fact]
    public async Task Callers_at_the_same_time_get_one_environment()
    {
        using var mayOpen = new ManualResetEventSlim();
        var source = new FakeSource(_ => Task.Run(() =>
        {
            mayOpen.Wait(TestWait.Limit);
            return StorageEnvironment.OpenInMemory();
        }));
        await using var hosted = new HostedEnvironment(source);
        var asynchronous = hosted.OpenAsync(CancellationToken.None);
        StorageEnvironment? found = null;
        var waiting = new TestThread(() => found = hosted.Open());
        var another = hosted.OpenAsync(CancellationToken.None);
        waiting.WaitUntilBlockedOrEnded();
        waiting.HasEnded.Should().BeFalse();
        hosted.Condition.IsOpening.Should().BeTrue();
        mayOpen.Set();
        var opened = await asynchronous;
        waiting.Join().Should().BeNull();
        found.Should().BeSameAs(opened);
        (await another).Should().BeSameAs(opened);
        hosted.Open().Should().BeSameAs(opened);
        source.Openings.Should().Be(1);
    }

    [Fact]
    public async Task A_failure_reaches_all_that_wait_and_the_next_caller_tries_again()
    {
        using var mayFail = new ManualResetEventSlim();
        var fails = true;
        var source = new FakeSource(_ => Task.Run(() =>
        {
            mayFail.Wait(TestWait.Limit);
            return fails ? throw new IOException("The disk is on fire.") : StorageEnvironment.OpenInMemory();
        }));
        await using var hosted = new HostedEnvironment(source);
        var first = hosted.OpenAsync(CancellationToken.None);
        var second = hosted.OpenAsync(CancellationToken.None);
        var third = new TestThread(() => hosted.Open());
        third.WaitUntilBlockedOrEnded();
        mayFail.Set();
        foreach (var opening in new[] { first, second })
        {
            (await FluentActions.Awaiting(() => opening).Should().ThrowAsync<InvalidOperationException>())
                .WithMessage("The environment of section 'Voron:fake' cannot be opened in 'nowhere': The disk is on fire.").WithInnerException<IOException>();
        }

        third.Join().Should().BeOfType<InvalidOperationException>();
        hosted.Condition.Failure.Should().BeOfType<InvalidOperationException>();
        source.Openings.Should().Be(1);
        fails = false;
        hosted.Open().Path.Should().Be("memory");
        hosted.Condition.Failure.Should().BeNull();
        source.Openings.Should().Be(2);
    }

    [Fact]
    public async Task A_cancellation_ends_only_the_call_that_was_cancelled()
    {
        var isFirst = 1;
        var source = new FakeSource(async cancellationToken =>
        {
            if (Interlocked.Exchange(ref isFirst, 0) == 1)
                await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            return StorageEnvironment.OpenInMemory();
        });
        await using var hosted = new HostedEnvironment(source);
        using var giveUp = new CancellationTokenSource();
        using var alsoGivesUp = new CancellationTokenSource();
        var first = hosted.OpenAsync(giveUp.Token);
        var second = hosted.OpenAsync(alsoGivesUp.Token);
        var third = hosted.OpenAsync(CancellationToken.None);
        StorageEnvironment? found = null;
        var fourth = new TestThread(() => found = hosted.Open());
        fourth.WaitUntilBlockedOrEnded();

        // One that only waits ends its own wait.
        await alsoGivesUp.CancelAsync();
        await FluentActions.Awaiting(() => second).Should().ThrowAsync<OperationCanceledException>();
        (first.IsCompleted, third.IsCompleted).Should().Be((false, false));

        await giveUp.CancelAsync();
        await FluentActions.Awaiting(() => first).Should().ThrowAsync<OperationCanceledException>();
        var opened = await third.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
        fourth.Join().Should().BeNull();
        found.Should().BeSameAs(opened);
        source.Openings.Should().Be(2);
        await FluentActions.Awaiting(() => hosted.OpenAsync(giveUp.Token)).Should().ThrowAsync<OperationCanceledException>();
    }

    [Fact]
    public async Task Disposing_ends_an_opening_that_waits()
    {
        var hosted = new HostedEnvironment(new FakeSource(async cancellationToken =>
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            return StorageEnvironment.OpenInMemory();
        }));
        var opening = hosted.OpenAsync(CancellationToken.None);
        var waiting = hosted.OpenAsync(CancellationToken.None);
        await hosted.DisposeAsync();
        await FluentActions.Awaiting(() => opening.WaitAsync(TestWait.Limit)).Should().ThrowAsync<ObjectDisposedException>()
            .WithMessage("*'Voron:fake'*");
        await FluentActions.Awaiting(() => waiting.WaitAsync(TestWait.Limit)).Should().ThrowAsync<ObjectDisposedException>();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_opening_that_ends_after_the_disposal_closes_what_it_opened(bool isAsynchronous)
    {
        using var hasBegun = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        var opened = StorageEnvironment.OpenInMemory();
        var hosted = new HostedEnvironment(new FakeSource(_ => Task.Run(() =>
        {
            hasBegun.Set();
            mayEnd.Wait(TestWait.Limit);
            return opened;
        })));
        var opening = new TestThread(() => _ = isAsynchronous ? hosted.OpenAsync(CancellationToken.None).GetAwaiter().GetResult() : hosted.Open());
        hasBegun.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        await hosted.DisposeAsync();
        hosted.Dispose();
        mayEnd.Set();
        opening.Join().Should().BeOfType<ObjectDisposedException>();
        opened.Invoking(closed => closed.BeginRead()).Should().Throw<ObjectDisposedException>();
        hosted.Invoking(closed => closed.Open()).Should().Throw<ObjectDisposedException>();
        await FluentActions.Awaiting(() => hosted.OpenAsync(CancellationToken.None)).Should().ThrowAsync<ObjectDisposedException>();
    }

    [Fact]
    public async Task Disposing_twice_closes_once_and_both_calls_wait_for_the_close()
    {
        var hosted = new HostedEnvironment(new FakeSource(() => StorageEnvironment.OpenInMemory()));
        var environment = hosted.Open();
        await Task.WhenAll(hosted.DisposeAsync().AsTask(), hosted.DisposeAsync().AsTask());
        hosted.Dispose();
        environment.Invoking(closed => closed.GetStatistics()).Should().Throw<ObjectDisposedException>();
    }

    /// <summary>The observer runs inside the opening, when the declared tree is created: to wait there would be to wait for itself.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_observer_that_needs_the_environment_during_its_opening_does_not_hang(bool isAsynchronous)
    {
        HostedEnvironment? hosted = null;
        Exception? thrown = null;
        using var hasRun = new ManualResetEventSlim();
        var options = new InMemoryOptions
        {
            CommitObserver = _ =>
            {
                thrown = Record.Exception(() => { hosted!.Open(); });
                hasRun.Set();
            },
        };
        options.Trees.Add("tree");
        hosted = new HostedEnvironment(new FakeSource(() => StorageEnvironment.OpenInMemory(options)));
        using var _ = hosted;
        var opening = new TestThread(
            () => (isAsynchronous ? hosted.OpenAsync(CancellationToken.None).GetAwaiter().GetResult() : hosted.Open()).GetStatistics());
        opening.Join().Should().BeNull();
        hasRun.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        thrown.Should().BeOfType<InvalidOperationException>().Which.Message.Should().Contain("Voron:fake");
        hosted.Open().Path.Should().Be("memory");
    }

    [Fact]
    public void Options_that_need_the_environment_they_are_for_do_not_hang()
    {
        var services = HostKit.Services(("Voron:InMemory", "true"));
        services.AddVoron();
        services.AddOptions<StorageOptions>().Configure<IServiceProvider>((_, provider) => provider.GetRequiredService<StorageEnvironment>());
        using var provider = services.BuildServiceProvider();
        var opening = new TestThread(() => provider.GetRequiredService<StorageEnvironment>());
        opening.Join().Should().BeOfType<InvalidOperationException>();
    }
}
