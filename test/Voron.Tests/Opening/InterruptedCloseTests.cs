using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>No interruption of the thread that opens or closes an environment, and no exception on it, skips a step.</summary>
public sealed class InterruptedCloseTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    /// <summary>Opening ends with this wait: the environment was open, but its caller got an exception instead of it.</summary>
    [Fact]
    public void A_thread_that_is_interrupted_while_it_waits_for_the_log_continues_waiting()
    {
        using var log = new BlockingLogger();
        var logger = GuardedLogger.Of(OneLoggerFactory.Of(log));
        log.Arm();
        Log(logger, "held");
        log.WaitUntilBlocked();
        Log(logger, "behind it");
        var wasInterrupted = false;
        var finishing = new TestThread(() =>
        {
            GuardedLogger.Finish(logger, TestWait.Limit);
            wasInterrupted = TestThread.IsInterrupted();
        });
        finishing.WaitUntilBlockedOrEnded();
        finishing.Interrupt();
        finishing.WaitUntilBlockedOrEnded();
        var hasWaited = !finishing.HasEnded;
        log.Release();
        finishing.Join().Should().BeNull();
        hasWaited.Should().BeTrue();
        wasInterrupted.Should().BeTrue("the interruption comes after the call");
        log.Entries.Should().Equal("held", "behind it");
    }

    /// <summary>Without the wait, the last calls of the observers and the log were skipped.</summary>
    [Fact]
    public void A_closing_that_is_interrupted_while_it_waits_for_a_call_ends_all_the_same()
    {
        using var log = new BlockingLogger();
        var disk = new SimulatedDisk();
        var flushes = 0;
        var environment = OpenWithCommit(disk, log, () => flushes++);
        environment.Internals.Engine.Users.AddCall();
        var wasInterrupted = false;
        var closing = Close(environment, interrupted => wasInterrupted = interrupted);
        closing.WaitUntilBlockedOrEnded();
        closing.HasEnded.Should().BeFalse("a call is under way");
        closing.Interrupt();
        closing.WaitUntilBlockedOrEnded();
        var hasWaited = !closing.HasEnded;
        environment.Internals.Engine.Users.RemoveCall();
        closing.Join().Should().BeNull();
        hasWaited.Should().BeTrue();
        wasInterrupted.Should().BeTrue();
        flushes.Should().Be(1);
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
    }

    [Fact]
    public async Task A_closing_that_is_interrupted_while_it_waits_for_an_observer_ends_all_the_same()
    {
        using var log = new BlockingLogger();
        using var isBlocked = new ManualResetEventSlim();
        using var mayReturn = new ManualResetEventSlim();
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            BackgroundFlush = false,
            LoggerFactory = OneLoggerFactory.Of(log),
            CommitObserver = _ =>
            {
                isBlocked.Set();
                mayReturn.Wait(TestWait.Limit);
            },
        });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("t").Put([1], [1]);
            await writing.CommitAsync(Cancellation);
        }

        isBlocked.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        var wasInterrupted = false;
        var closing = Close(environment, interrupted => wasInterrupted = interrupted);
        closing.WaitUntilBlockedOrEnded();
        closing.Interrupt();
        closing.WaitUntilBlockedOrEnded();
        mayReturn.Set();
        closing.Join().Should().BeNull();
        wasInterrupted.Should().BeTrue();
        disk.HeldLocks.Should().Be(0);
    }

    /// <summary>Memory and files were released although the later steps had been skipped, while the engine's own threads still ran.</summary>
    [Fact]
    public void A_callback_of_the_closing_that_throws_leaves_out_no_step()
    {
        using var log = new BlockingLogger();
        var disk = new SimulatedDisk();
        var flushes = 0;
        var environment = OpenWithCommit(disk, log, () => flushes++);
        environment.Internals.Engine.Closing.Token.Register(() => throw new PlannedException());
        environment.Invoking(open => open.Dispose()).Should().NotThrow();
        flushes.Should().Be(1);
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        log.Entries.Should().ContainSingle(entry => entry.Contains("planned"));
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        reopened.Recovery.ReplayedRecords.Should().Be(0, "it was closed cleanly");
    }

    [Fact]
    public void An_interruption_that_a_callback_of_the_closing_meets_stays()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        environment.Internals.Engine.Closing.Token.Register(() => Thread.Sleep(Timeout.Infinite));
        var wasInterrupted = false;
        var closing = Close(environment, interrupted => wasInterrupted = interrupted);
        closing.WaitUntilBlockedOrEnded();
        closing.Interrupt();
        closing.Join().Should().BeNull();
        wasInterrupted.Should().BeTrue();
        disk.HeldLocks.Should().Be(0);
    }

    private static StorageEnvironment OpenWithCommit(SimulatedDisk disk, ILogger log, Action onFlush)
    {
        var environment = StorageEnvironment.Open(
            disk, new StorageOptions { BackgroundFlush = false, LoggerFactory = OneLoggerFactory.Of(log), FlushObserver = _ => onFlush() });
        FaultTestKit.Put(environment, 1, [1]);
        return environment;
    }

    /// <summary>Closes the environment on a separate thread, which finally reports whether it is still interrupted.</summary>
    private static TestThread Close(StorageEnvironment environment, Action<bool> end) => new(() =>
    {
        environment.Dispose();
        end(TestThread.IsInterrupted());
    });

    private static void Log(ILogger logger, string text) =>
        logger.Log(LogLevel.Information, default, text, null, static (state, _) => state);

    private sealed class PlannedException() : Exception("planned");

    /// <summary>Blocks in its next entry once it is armed.</summary>
    private sealed class BlockingLogger : ILogger, IDisposable
    {
        private readonly ManualResetEventSlim _isBlocked = new();
        private readonly ManualResetEventSlim _mayReturn = new();
        private bool _isArmed;

        public ConcurrentQueue<string> Entries { get; } = new();

        public void Arm() => Volatile.Write(ref _isArmed, true);

        public void WaitUntilBlocked() => _isBlocked.Wait(TestWait.Limit, Cancellation).Should().BeTrue();

        public void Release() => _mayReturn.Set();

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (Volatile.Read(ref _isArmed))
            {
                _isBlocked.Set();
                _mayReturn.Wait(TestWait.Limit);
            }

            Entries.Enqueue(formatter(state, exception));
        }

        public void Dispose() => _mayReturn.Set();
    }
}
