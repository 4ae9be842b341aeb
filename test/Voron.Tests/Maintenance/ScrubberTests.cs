using System.Collections.Concurrent;
using System.Text;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Maintenance;

public sealed class ScrubberTests
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);

    [Fact]
    public void A_bit_that_flips_after_its_page_was_verified_is_found()
    {
        using var directory = new TestDirectory();
        using var found = new BlockingCollection<VerificationReport>();
        var options = new StorageOptions { ScrubInterval = TimeSpan.FromMilliseconds(20), ScrubBytesPerSecond = 0, ScrubObserver = found.Add };
        using var environment = StorageEnvironment.Open(directory, options);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("users");
            for (var i = 0; i < 1000; i++)
                tree.Put(Encoding.ASCII.GetBytes($"key {i:D4}"), new byte[100]);
            writing.Commit();
        }

        // The scrubber itself may be reading an older state, which a flush waits for.
        while (environment.GetStatistics() is var now && now.CheckpointTransactionId != now.PublishedTransactionId)
            environment.Flush();
        Take(found).Problems.Should().BeEmpty();
        FlipBit(System.IO.Path.Combine(directory, "voron.data"), "key 0500");

        VerificationReport report;
        do
            report = Take(found);
        while (report.IsSound);
        report.Problems.Should().Contain(problem => problem.Contains("is damaged", StringComparison.Ordinal));
    }

    /// <summary>The scrub held one snapshot for the whole store: at the default rate, nothing was flushed for hours.</summary>
    [Fact]
    public void Between_two_slices_of_a_scrub_no_snapshot_is_held_and_everything_is_flushed()
    {
        var disk = ScrubTestKit.MakeStore(2_000);
        using var reports = new BlockingCollection<VerificationReport>();
        using var opened = new ManualResetEventSlim();
        StorageEnvironment? environment = null;
        var waits = 0;
        var left = new List<string>();
        var clock = new FastClock(Interval, passes: 1)
        {
            Between = () =>
            {
                opened.Wait();
                FaultTestKit.Put(environment!, waits++, [1, 2, 3]);
                environment!.Flush();
                var now = environment.GetStatistics();
                if (now.OpenReaders != 0 || now.CheckpointTransactionId != now.PublishedTransactionId)
                    left.Add($"wait {waits}: {now.OpenReaders} readers, {now.CheckpointTransactionId} of {now.PublishedTransactionId} flushed");
            },
        };
        environment = StorageEnvironment.Open(disk, Options(clock, 512 << 10, reports.Add));
        opened.Set();
        using (environment)
        {
            var report = Take(reports);
            report.Problems.Should().BeEmpty();
            waits.Should().BeGreaterThan(30, "two megabytes are read in slices of 64 KiB at this rate");
            left.Should().BeEmpty();
        }
    }

    /// <summary>The walk over the trees ignored the rate: it read 656 MiB in 1.5 seconds at 1 MiB a second.</summary>
    [Fact]
    public void A_scrub_stays_within_its_bytes_a_second()
    {
        var disk = ScrubTestKit.MakeStore(2_000);
        using var reports = new BlockingCollection<VerificationReport>();
        const int Rate = 1 << 20;
        var clock = new FastClock(Interval, passes: 1);
        long read = 0, most = 0;
        ScrubTestKit.OnRead(disk, call =>
        {
            // The opening reads too, and does not count.
            if (Thread.CurrentThread.Name != "Voron scrubber")
                return;
            read += call.Length;
            most = Math.Max(most, read - (long)((clock.Now - Interval).TotalSeconds * Rate));
        });
        using var environment = StorageEnvironment.Open(disk, Options(clock, Rate, reports.Add));
        Take(reports).Problems.Should().BeEmpty();
        read.Should().BeGreaterThan(3 << 19);
        most.Should().BeLessThan(400 << 10, "the bytes of an eighth of a second are read at once, and one more page with the extent that it begins");
    }

    [Fact]
    public void An_observer_that_throws_is_called_again()
    {
        using var calls = new BlockingCollection<VerificationReport>();
        var logger = new ListLogger();
        var options = new StorageOptions
        {
            ScrubInterval = TimeSpan.FromMilliseconds(1),
            LoggerFactory = OneLoggerFactory.Of(logger),
            ScrubObserver = report =>
            {
                calls.Add(report);
                throw new InvalidOperationException("the observer's own");
            },
        };
        using var environment = StorageEnvironment.OpenInMemory(options);
        Take(calls);
        Take(calls);

        // The log is written when the observer has returned.
        var isReported = () => logger.Warnings.Any(warning => warning.Contains("the observer's own", StringComparison.Ordinal));
        TestWait.Until(isReported);
    }

    /// <summary>Closing joined the thread that the observer runs on, and so waited for itself.</summary>
    [Fact]
    public void An_observer_may_close_the_environment()
    {
        using var opened = new ManualResetEventSlim();
        using var closed = new ManualResetEventSlim();
        StorageEnvironment? environment = null;
        var options = new StorageOptions
        {
            ScrubInterval = TimeSpan.FromMilliseconds(1),
            ScrubObserver = _ =>
            {
                opened.Wait();
                environment!.Dispose();
                closed.Set();
            },
        };
        environment = StorageEnvironment.OpenInMemory(options);
        opened.Set();
        closed.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        environment.Invoking(one => one.BeginRead()).Should().Throw<ObjectDisposedException>();
    }

    /// <summary>An observer may wait for the thread that closes; closing must not wait for the observer.</summary>
    [Fact]
    public void Closing_does_not_wait_for_the_observer()
    {
        using var entered = new ManualResetEventSlim();
        using var closed = new ManualResetEventSlim();
        using var left = new ManualResetEventSlim();
        var options = new StorageOptions
        {
            ScrubInterval = TimeSpan.FromMilliseconds(1),
            ScrubObserver = _ =>
            {
                entered.Set();
                closed.Wait();
                left.Set();
            },
        };
        var environment = StorageEnvironment.OpenInMemory(options);
        entered.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        environment.Dispose();
        closed.Set();
        left.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
    }

    /// <summary>If memory runs out in the middle of a pass, or the disk fails, the next pass comes all the same.</summary>
    [Fact]
    public void A_pass_that_fails_is_followed_by_another()
    {
        var disk = ScrubTestKit.MakeStore(100);
        using var reports = new BlockingCollection<VerificationReport>();
        var logger = new ListLogger();
        var fails = true;
        var clock = new FastClock(Interval, passes: 2)
        {
            Between = () =>
            {
                if (fails)
                {
                    fails = false;
                    throw new InsufficientMemoryException("no memory left for this pass");
                }
            },
        };
        var options = Options(clock, 64 << 10, reports.Add, logger);
        using var environment = StorageEnvironment.Open(disk, options);
        Take(reports).Problems.Should().BeEmpty();

        // The log is written on the pool, and may come later than the report of the next pass.
        TestWait.Until(() => logger.Warnings.Any());
        logger.Warnings.Should().ContainSingle().Which.Should().Contain("no memory left for this pass");
    }

    private static StorageOptions Options(FastClock clock, long rate, Action<VerificationReport> observer, ListLogger? logger = null) => new()
    {
        ScrubInterval = Interval,
        ScrubClock = clock,
        ScrubBytesPerSecond = rate,
        ScrubObserver = observer,
        FlushInterval = TimeSpan.FromDays(1),
        LoggerFactory = OneLoggerFactory.Of(logger),
    };

    private static VerificationReport Take(BlockingCollection<VerificationReport> reports)
    {
        reports.TryTake(out var report, TestWait.Limit).Should().BeTrue("the scrubber reports after each pass");
        return report!;
    }

    private static void FlipBit(string path, string marker)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        var bytes = new byte[file.Length];
        file.ReadExactly(bytes);
        var at = bytes.AsSpan().IndexOf(Encoding.ASCII.GetBytes(marker));
        at.Should().BePositive();
        file.Position = at;
        file.WriteByte((byte)(bytes[at] ^ 1));
    }
}
