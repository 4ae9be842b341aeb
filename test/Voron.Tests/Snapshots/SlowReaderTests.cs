using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Snapshots;

public sealed class SlowReaderTests
{
    private const long JournalLimit = 8 << 20;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_slowest_reader_is_named_before_the_limit_once_in_an_interval(bool isTracked)
    {
        var reports = new ConcurrentQueue<SlowReaderReport>();
        using var reported = new SemaphoreSlim(0);
        var commitThread = Environment.CurrentManagedThreadId;
        var onCommitThread = false;
        var logger = new ListLogger();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            CaptureTransactionStacks = isTracked,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
            FlushThresholdBytes = 256 << 10,
            JournalLimitBytes = JournalLimit,
            SlowReaderInterval = TimeSpan.FromHours(1),
            LoggerFactory = OneLoggerFactory.Of(logger),
            SlowReaderObserver = report =>
            {
                onCommitThread |= Environment.CurrentManagedThreadId == commitThread;
                reports.Enqueue(report);
                reported.Release();
                throw new InvalidOperationException("thrown by the observer");
            },
        });
        FaultTestKit.Put(environment, 0, [1]);
        for (var round = 1; round <= 2; round++)
        {
            using (var reading = OpenSlowReader(environment))
            {
                var snapshot = reading.TransactionId;
                var waits = environment.GetStatistics().BackPressureWaits;
                TestWait.WorkUntil(() => reports.Count >= round, () =>
                {
                    // The writer waits when it is near the limit, so that the test does not depend on which thread is faster.
                    if (environment.GetStatistics().LiveJournalBytes < JournalLimit * 5 / 8)
                        FaultTestKit.Put(environment, 1, FaultTestKit.Value(round, 20_000));
                    else
                        reported.Wait(10, TestContext.Current.CancellationToken);
                });

                reports.Should().HaveCount(round);
                var report = reports.Last();
                report.TransactionId.Should().Be(snapshot);
                report.JournalBytes.Should().BeInRange(JournalLimit / 2, JournalLimit - 1, "there is still room");
                report.Age.Should().BePositive().And.BeLessThan(TestWait.Limit * 2);
                report.ThreadId.Should().Be(commitThread, "this thread began it");
                if (isTracked)
                    report.OpenedAt.Should().Contain(nameof(OpenSlowReader));
                else
                    report.OpenedAt.Should().BeNull();

                // Goes well beyond the limit: the reader is the same, so there is no further report.
                for (var i = 0; i < 600; i++)
                    FaultTestKit.Put(environment, 2, FaultTestKit.Value(i, 20_000));
                reports.Should().HaveCount(round);
            }

            environment.Flush();
        }

        onCommitThread.Should().BeFalse();
        reports.Select(report => report.TransactionId).Should().OnlyHaveUniqueItems();
        logger.Warnings.Where(message => message.Contains("half a limit", StringComparison.Ordinal)).Should().HaveCount(2);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_reader_that_blocks_no_flush_is_not_named()
    {
        var reported = 0;
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
            FlushThresholdBytes = 256 << 10,
            JournalLimitBytes = JournalLimit,
            SlowReaderObserver = _ => Interlocked.Increment(ref reported),
        });
        for (var i = 0; i < 300; i++)
        {
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(i, 20_000));
            using var reading = environment.BeginRead();
            if (i % 20 == 0)
                environment.Flush();
        }

        reported.Should().Be(0);
    }

    // The test looks for the name of this method on the stack, where an inlined method has no frame.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ReadTransaction OpenSlowReader(StorageEnvironment environment) => environment.BeginRead();
}
