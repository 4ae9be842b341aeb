using System.Runtime.CompilerServices;
using Voron.Simulation.Harness;

namespace Voron.Tests.Faults;

/// <summary>Write transactions that no caller can end any more: they must not keep later writers out for ever.</summary>
public sealed class LeakedWriterTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void It_is_named_and_rolled_back_and_the_next_one_begins(bool isTracked)
    {
        var logger = new ListLogger();
        using var environment = StorageEnvironment.OpenInMemory(Options(logger, isTracked));
        FaultTestKit.Put(environment, 1, [1]);
        for (var round = 1; round <= 3; round++)
        {
            Leak(environment);
            WaitForLeaks(environment, round);
            WriteAfterLeak(environment, round);
            FaultTestKit.Get(environment, 1).Should().Equal((byte)round);
        }

        TestWait.Until(() => logger.Warnings.Count() >= 3);
        logger.Warnings.Should().HaveCount(3);
        var first = logger.Warnings.First();
        first.Should().Contain("Write transaction 2 ").And.Contain("rolled back");
        if (isTracked)
            first.Should().Contain(nameof(Leak));
        else
            first.Should().Contain(nameof(StorageOptions.CaptureTransactionStacks));
        environment.GetStatistics().RolledBackTransactions.Should().BeGreaterThanOrEqualTo(3);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_waiting_writer_runs_the_collector_to_find_a_leaked_one()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options(new ListLogger(), isTracked: false));
        FaultTestKit.Put(environment, 1, [1]);
        Leak(environment);

        // Nothing here allocates, and no other code collects garbage: only the wait does.
        using var writing = environment.BeginWrite(TestWait.Limit, TestContext.Current.CancellationToken);
        writing.TransactionId.Should().Be(2);
        environment.GetStatistics().LeakedWriters.Should().Be(1);
    }

    [Fact]
    public void A_writer_that_waits_without_a_limit_runs_the_collector_too()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options(new ListLogger(), isTracked: false));
        FaultTestKit.Put(environment, 1, [1]);
        Leak(environment);
        var waiting = new TestThread(() => environment.BeginWrite(Timeout.InfiniteTimeSpan, TestContext.Current.CancellationToken).Dispose());
        waiting.Join().Should().BeNull();
        environment.GetStatistics().LeakedWriters.Should().Be(1);
    }

    /// <summary>A method that calls <c>Write</c> while its caller holds a write transaction waited for ever, and the log said nothing.</summary>
    [Fact]
    public void A_transaction_that_keeps_callers_waiting_is_named_once()
    {
        var logger = new ListLogger();
        using var environment = StorageEnvironment.OpenInMemory(Options(logger, isTracked: true));
        using var writing = environment.BeginWrite();
        TestThread[] waiting = [new(() => FaultTestKit.Put(environment, 1, [1])), new(() => environment.Write(_ => { }))];
        TestWait.Until(() => logger.Warnings.Any());
        TestWait.GiveTimeFor(() => logger.Warnings.Count() > 1);
        writing.Dispose();
        waiting.Should().OnlyContain(thread => thread.Join() == null);
        logger.Warnings.Should().ContainSingle().Which.Should()
            .Contain("Write transaction 1 ").And.Contain($"Thread {Environment.CurrentManagedThreadId} began it at:")
            .And.Contain(nameof(A_transaction_that_keeps_callers_waiting_is_named_once));
    }

    [Fact]
    public void A_handle_of_a_tree_is_enough_to_keep_it()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options(new ListLogger(), isTracked: false));
        FaultTestKit.Put(environment, 1, [1]);
        var held = new StrongBox<WriteTree>();
        OpenTreeOnly(environment, held);
        for (var i = 0; i < 5; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        environment.GetStatistics().LeakedWriters.Should().Be(0);
        PutAndForget(held);
        WaitForLeaks(environment, 1);
        FaultTestKit.Put(environment, 2, [2]);
    }

    [Fact]
    public void A_log_that_throws_does_no_harm()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            LeakGrace = TimeSpan.Zero,
            LoggerFactory = OneLoggerFactory.Of(new ThrowingLogger()),
        });
        FaultTestKit.Put(environment, 1, [1]);
        Leak(environment);
        LeakReader(environment);
        WaitForLeaks(environment, 1);
        using var writing = environment.BeginWrite(TestWait.Limit, TestContext.Current.CancellationToken);
        writing.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(1), out _).Should().BeTrue();
    }

    private static StorageOptions Options(ListLogger logger, bool isTracked) => new()
    {
        BackgroundFlush = false,
        CaptureTransactionStacks = isTracked,
        LeakGrace = TimeSpan.Zero,
        LoggerFactory = OneLoggerFactory.Of(logger),
    };

    private static void WaitForLeaks(StorageEnvironment environment, int count)
    {
        TestWait.WorkUntil(() => environment.GetStatistics().LeakedWriters >= count, () =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        });

        environment.GetStatistics().LeakedWriters.Should().Be(count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WriteAfterLeak(StorageEnvironment environment, int round)
    {
        using var writing = environment.BeginWrite(TestWait.Limit, TestContext.Current.CancellationToken);
        writing.TransactionId.Should().Be(1 + round);
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        tree.Contains(FaultTestKit.Key(2)).Should().BeFalse();
        writing.TryOpenTree("leaked", out _).Should().BeFalse();
        tree.Put(FaultTestKit.Key(1), [(byte)round]);
        writing.Commit();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Leak(StorageEnvironment environment)
    {
        var writing = environment.BeginWrite();
        writing.CreateTree("leaked").Put("a"u8, "b"u8);
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), FaultTestKit.Value(1, 10_000));
        _ = writing.CreateSavepoint();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void OpenTreeOnly(StorageEnvironment environment, StrongBox<WriteTree> held) =>
        held.Value = environment.BeginWrite().OpenTree(FaultTestKit.TreeName);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void PutAndForget(StrongBox<WriteTree> held)
    {
        held.Value.Put(FaultTestKit.Key(5), [5]);
        held.Value.Contains(FaultTestKit.Key(5)).Should().BeTrue();
        held.Value = default;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LeakReader(StorageEnvironment environment) =>
        environment.BeginRead().OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();

    private sealed class ThrowingLogger : Microsoft.Extensions.Logging.ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(Microsoft.Extensions.Logging.LogLevel logLevel) => true;

        public void Log<TState>(
            Microsoft.Extensions.Logging.LogLevel logLevel,
            Microsoft.Extensions.Logging.EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter)
        {
            if (logLevel >= Microsoft.Extensions.Logging.LogLevel.Warning)
                throw new InvalidOperationException("thrown by a log");
        }
    }
}
