using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Voron.Simulation.Harness;
using Voron.Simulation.Processes;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>An opening can wait until another environment is closed, as when a service is replaced by its next version.</summary>
public sealed partial class LockTimeoutTests
{
    private static readonly TimeSpan Long = TimeSpan.FromHours(2);

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task An_opening_waits_until_the_environment_is_closed(bool isAsync, bool readOnly)
    {
        using var directory = Place.WithEnvironment();
        var before = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        var logger = new WaitLogger();
        var options = new StorageOptions
        {
            LockTimeout = Long,
            ReadOnly = readOnly,
            BackgroundFlush = false,
            LoggerFactory = OneLoggerFactory.Of(logger),
        };
        var opening = isAsync
            ? StorageEnvironment.OpenAsync(directory.Path, options, TestContext.Current.CancellationToken)
            : Task.Run(() => StorageEnvironment.Open(directory.Path, options), TestContext.Current.CancellationToken);
        (await logger.Waits).Should().Contain(directory.Path).And.Contain("02:00:00");
        FaultTestKit.Put(before, 2, [2]);
        opening.IsCompleted.Should().BeFalse();
        before.Dispose();
        using var after = await opening;
        FaultTestKit.Get(after, 2).Should().Equal(2);
        logger.Count.Should().Be(1, "the wait is logged once");
    }

    [Fact]
    public async Task An_opening_waits_until_another_process_has_ended()
    {
        using var directory = new TestDirectory();
        using var other = new KillTargetProcess(directory.Path);
        other.Listen();
        var logger = new WaitLogger();
        var options = new StorageOptions
        {
            LockTimeout = Timeout.InfiniteTimeSpan,
            BackgroundFlush = false,
            LoggerFactory = OneLoggerFactory.Of(logger),
        };
        var opening = StorageEnvironment.OpenAsync(directory, options, TestContext.Current.CancellationToken);
        await logger.Waits;
        other.Kill();
        using var environment = await opening;
        FaultTestKit.Put(environment, 1, [1]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task When_the_time_is_over_the_message_says_how_long_it_was(bool isAsync)
    {
        using var directory = Place.WithEnvironment();
        using var open = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        var options = new StorageOptions { LockTimeout = TimeSpan.FromMilliseconds(300), BackgroundFlush = false };
        var start = Stopwatch.GetTimestamp();
        var failure = isAsync
            ? (await FluentActions.Awaiting(() => StorageEnvironment.OpenAsync(directory.Path, options))
                .Should().ThrowAsync<EnvironmentInUseException>()).Which
            : FluentActions.Invoking(() => StorageEnvironment.Open(directory.Path, options)).Should().Throw<EnvironmentInUseException>().Which;
        var elapsed = Stopwatch.GetElapsedTime(start);
        elapsed.Should().BeGreaterThanOrEqualTo(TimeSpan.FromMilliseconds(300));
        failure.Message.Should().Contain($"process {Environment.ProcessId}").And.Contain("LockTimeout");
        double.Parse(Waited().Match(failure.Message).Groups[1].Value, CultureInfo.InvariantCulture)
            .Should().BeInRange(0.3, elapsed.TotalSeconds + 0.1);
        FaultTestKit.Put(open, 3, [3]);
    }

    [Fact]
    public void Without_a_timeout_an_opening_fails_at_once_and_mentions_none()
    {
        using var directory = Place.WithEnvironment();
        using var open = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        FluentActions.Invoking(() => StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            .Should().Throw<EnvironmentInUseException>().Which.Message.Should().NotContain("LockTimeout");
    }

    [Fact]
    public async Task A_wait_can_be_cancelled_and_holds_nothing_afterwards()
    {
        using var directory = Place.WithEnvironment();
        using (var open = StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
        {
            using var cancel = new CancellationTokenSource();
            var logger = new WaitLogger();
            var opening = StorageEnvironment.OpenAsync(
                directory.Path,
                new StorageOptions
                {
                    LockTimeout = Long,
                    BackgroundFlush = false,
                    LoggerFactory = OneLoggerFactory.Of(logger),
                },
                cancel.Token);
            await logger.Waits;
            await cancel.CancelAsync();
            await FluentActions.Awaiting(() => opening).Should().ThrowAsync<OperationCanceledException>();
            FaultTestKit.Put(open, 2, [2]);
        }

        await FluentActions.Awaiting(() => StorageEnvironment.OpenAsync(directory.Path, null, new CancellationToken(true)))
            .Should().ThrowAsync<OperationCanceledException>();
        using var again = await StorageEnvironment.OpenAsync(directory.Path, FaultTestKit.Options(), TestContext.Current.CancellationToken);
        FaultTestKit.Get(again, 2).Should().Equal(2);
    }

    /// <summary>The wait ends with the failure of an attempt that is no conflict.</summary>
    [Fact]
    public async Task An_environment_that_is_gone_ends_the_wait()
    {
        using var directory = Place.WithEnvironment();
        var open = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        var logger = new WaitLogger();
        var opening = StorageEnvironment.OpenAsync(
            directory.Path,
            new StorageOptions
            {
                LockTimeout = Long,
                OpenMode = OpenMode.OpenExisting,
                BackgroundFlush = false,
                LoggerFactory = OneLoggerFactory.Of(logger),
            },
            TestContext.Current.CancellationToken);
        await logger.Waits;
        if (OperatingSystem.IsWindows())
            open.Dispose();
        foreach (var file in Directory.GetFiles(directory.Path))
            File.Delete(file);
        await FluentActions.Awaiting(() => opening).Should().ThrowAsync<VoronException>();
        open.Dispose();
    }

    [GeneratedRegex(@"Waited ([0-9.]+) s")]
    private static partial Regex Waited();

    /// <summary>Reports the message of an opening that waits.</summary>
    private sealed class WaitLogger : ILogger
    {
        private readonly TaskCompletionSource<string> _waits = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _count;

        public Task<string> Waits => _waits.Task.WaitAsync(TestWait.Limit);

        public int Count => Volatile.Read(ref _count);

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            var text = formatter(state, exception);
            if (!text.Contains("waits up to", StringComparison.Ordinal))
                return;
            Interlocked.Increment(ref _count);
            _waits.TrySetResult(text);
        }
    }
}
