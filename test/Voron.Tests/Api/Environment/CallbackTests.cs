using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>
/// Observers and logs, the user code that the engine calls, may throw, block, call the environment or close it without harming it.
/// </summary>
public sealed class CallbackTests
{
    private static readonly string[] Members =
        ["throw", "Dispose", "Flush", "BeginRead", "write", "WriteAsync", "ReclaimSpace", "Verify", "GetStatistics"];

    public static TheoryData<string, string> Calls
    {
        get
        {
            var data = new TheoryData<string, string>();
            foreach (var who in (string[])["commit", "flush", "slow reader", "scrub", "log"])
            {
                foreach (var what in Members)
                    data.Add(who, what);
            }

            return data;
        }
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [MemberData(nameof(Calls))]
    public void Every_observer_and_log_may_call_the_environment(string who, string what)
    {
        var disk = new SimulatedDisk();
        using var called = new SemaphoreSlim(0);
        var failures = new ConcurrentQueue<Exception>();
        StorageEnvironment? environment = null;
        var calls = 0;
        void Act(string caller)
        {
            // Ignores the calls during opening; and a single call is enough, since it may cause others.
            if (caller != who || Volatile.Read(ref environment) == null || Interlocked.Increment(ref calls) > 1)
                return;
            try
            {
                Call(environment!, what);
            }
            catch (ObjectDisposedException)
            {
            }
            catch (Exception e) when (e is not PlannedException)
            {
                failures.Enqueue(e);
            }
            finally
            {
                called.Release();
            }
        }

        var opened = StorageEnvironment.Open(disk, new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            FlushThresholdBytes = 64 << 10,
            JournalLimitBytes = 256 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            ScrubInterval = TimeSpan.FromMilliseconds(1),
            LoggerFactory = OneLoggerFactory.Of(new ActingLogger(() => Act("log"))),
            CommitObserver = _ => Act("commit"),
            FlushObserver = _ => Act("flush"),
            SlowReaderObserver = _ => Act("slow reader"),
            ScrubObserver = _ => Act("scrub"),
        });
        var working = new TestThread(() =>
        {
            FaultTestKit.Put(opened, 0, [0]);
            using var reading = opened.BeginRead();
            Volatile.Write(ref environment, opened);
            var i = 0;
            TestWait.WorkUntil(() => Volatile.Read(ref calls) > 0, () =>
            {
                // The reader keeps blocking flushes only where the test needs a slow reader.
                if (who != "slow reader" && ++i == 2)
                    reading.Dispose();
                FaultTestKit.Put(opened, i % 5, FaultTestKit.Value(i, 20_000));
            });
        });
        called.Wait(TestWait.Limit, Cancellation).Should().BeTrue("{0} is called and {1} returns", who, what);
        (working.Join() is null or ObjectDisposedException).Should().BeTrue();
        failures.Should().BeEmpty();
        var closing = new TestThread(opened.Dispose);
        closing.Join().Should().BeNull();
        TestWait.Until(() => disk.HeldLocks == 0, "the environment is closed");
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 0).Should().NotBeNull();
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData("commit")]
    [InlineData("flush")]
    [InlineData("log")]
    public async Task An_observer_or_log_that_blocks_keeps_neither_other_commits_nor_the_closing(string who)
    {
        var disk = new SimulatedDisk();
        using var mayReturn = new ManualResetEventSlim();
        using var isBlocked = new ManualResetEventSlim();
        var isArmed = false;
        void Block(string caller)
        {
            if (caller != who || !Volatile.Read(ref isArmed))
                return;
            isBlocked.Set();
            mayReturn.Wait(TestWait.Limit);
        }

        var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
            LoggerFactory = OneLoggerFactory.Of(new ActingLogger(() => Block("log"))),
            CommitObserver = _ => Block("commit"),
            FlushObserver = _ => Block("flush"),
        });
        FaultTestKit.Put(environment, 0, [0]);
        Volatile.Write(ref isArmed, true);
        for (var i = 1; i <= 30; i++)
        {
            var write = environment.WriteAsync(
                transaction => transaction.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 20_000)), Cancellation);
            await write.AsTask().WaitAsync(TestWait.Limit, Cancellation);
        }

        isBlocked.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        var closing = new TestThread(environment.Dispose);
        closing.Join().Should().BeNull();
        disk.HeldLocks.Should().Be(0);
        using (var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            FaultTestKit.Get(reopened, 30).Should().NotBeNull();
        mayReturn.Set();
    }

    [Fact]
    public async Task A_commit_observer_and_a_log_that_both_throw_stop_no_later_commit()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions
        {
            LoggerFactory = OneLoggerFactory.Of(new ActingLogger(() => throw new PlannedException())),
            CommitObserver = _ => throw new PlannedException(),
            FlushObserver = _ => throw new PlannedException(),
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(1),
        };
        var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < 20; i++)
        {
            var put = new TestThread(() => FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 12_000)));
            put.Join().Should().BeNull();
            await environment.WriteAsync(transaction => transaction.CreateTree("other"), Cancellation).AsTask()
                .WaitAsync(TestWait.Limit, Cancellation);
        }

        environment.Flush();
        environment.GetStatistics().IsPoisoned.Should().BeFalse();
        environment.Dispose();
        using var reopened = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < 20; i++)
            FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, 12_000));
    }

    [Fact]
    public void Reports_of_commits_come_in_order_and_before_a_commit_by_one_thread_returns()
    {
        var reported = new List<long>();
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, CommitObserver = report => reported.Add(report.TransactionId) });
        for (var i = 1; i <= 50; i++)
        {
            FaultTestKit.Put(environment, i, [1]);
            reported.Should().HaveCount(i);
        }

        reported.Should().BeInAscendingOrder();
    }

    private static void Call(StorageEnvironment environment, string what)
    {
        switch (what)
        {
            case "throw":
                throw new PlannedException();
            case "Dispose":
                environment.Dispose();
                break;
            case "Flush":
                environment.Flush();
                break;
            case "BeginRead":
                using (var reading = environment.BeginRead())
                    reading.OpenTree(FaultTestKit.TreeName).Count.Should().BePositive();
                break;
            case "write":
                using (var writing = environment.BeginWrite())
                {
                    writing.CreateTree("written").Put("a"u8, "b"u8);
                    writing.Commit();
                }

                break;
            case "WriteAsync":
                environment.WriteAsync(transaction => transaction.CreateTree("grouped"), Cancellation).AsTask().Wait(TestWait.Limit, Cancellation)
                    .Should().BeTrue();
                break;
            case "ReclaimSpace":
                environment.ReclaimSpace();
                break;
            case "Verify":
                environment.Verify().Problems.Should().BeEmpty();
                break;
            default:
                environment.GetStatistics().PageCount.Should().BePositive();
                break;
        }
    }

    private sealed class PlannedException : Exception
    {
        public PlannedException()
            : base("planned")
        {
        }
    }

    /// <summary>Runs an action whenever the engine logs or asks whether a level is enabled.</summary>
    private sealed class ActingLogger(Action act) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel)
        {
            act();
            return true;
        }

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            act();
    }
}
