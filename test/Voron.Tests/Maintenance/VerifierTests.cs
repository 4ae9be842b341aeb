using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Maintenance;

public sealed class VerifierTests
{
    /// <summary>It took 240 bytes a page, which for a store of 100 GiB is more memory than many machines have.</summary>
    [Fact]
    public void Verification_takes_two_bits_a_page_and_a_constant()
    {
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, new StorageOptions { BackgroundFlush = false });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            for (var i = 0; i < 20_000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 900));
            writing.Commit();
        }

        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
        var before = GC.GetAllocatedBytesForCurrentThread();
        var report = environment.Verify();
        var bytes = GC.GetAllocatedBytesForCurrentThread() - before;
        report.UsedPages.Should().BeGreaterThan(5_000);
        bytes.Should().BeLessThan(report.UsedPages / 4 + (16 << 10), $"it walked {report.UsedPages} pages");
    }

    /// <summary>
    /// The verification ran to its end, with the files open and the directory locked, and closing gave up on it after five seconds.
    /// </summary>
    [Fact]
    public void Closing_the_environment_ends_a_verification_of_a_slow_disk()
    {
        var disk = ScrubTestKit.MakeStore(4_000, largeBytes: 1_000_000);
        var options = new StorageOptions { BackgroundFlush = false };
        var environment = StorageEnvironment.Open(disk, options);
        using var isReading = new ManualResetEventSlim();
        var (reads, readsAfterClosing) = (0, 0);
        disk.FailNext(
            call =>
            {
                if (call.Kind != DiskCallKind.Read || call.Name != ScrubTestKit.DataFile)
                    return false;
                if (environment.Internals.Engine.Closing.IsCancellationRequested)
                    readsAfterClosing++;
                if (++reads == 20)
                {
                    isReading.Set();
                    environment.Internals.Engine.Closing.Token.WaitHandle.WaitOne(TestWait.Limit);
                }

                return false;
            },
            DiskError.Failed,
            forever: true);
        var verifying = new TestThread(() => environment.Verify());
        isReading.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        environment.Dispose();
        disk.HeldLocks.Should().Be(0);
        disk.ClearFaults();
        verifying.Join().Should().BeOfType<ObjectDisposedException>().Which.Message.Should().Contain("closed during the call");
        readsAfterClosing.Should().BeLessThan(50, "some four thousand pages are left");
        using var reopened = StorageEnvironment.Open(disk, options);
        reopened.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Bytes 8 to 31 of a page are outside its checksum, and were not checked.</summary>
    [Fact]
    public void A_bit_in_the_spare_bytes_of_a_page_is_found()
    {
        var disk = ScrubTestKit.MakeStore(100, largeBytes: 100_000);
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });
        var large = Enumerable.Range(0, 40).Where(i => i % 10 == 3).Select(i => i == 33 ? 100_000 : 30_000).Sum(length => (length + 4095) / 4096);
        var before = environment.Verify();
        before.Problems.Should().BeEmpty();
        var headers = 0;
        for (var page = 0L; page < environment.GetStatistics().PageCount; page++)
        {
            var offset = page * 4096 + (page == 0 ? 16 : 8) + page % 16;
            disk.FlipBit(ScrubTestKit.DataFile, offset, (int)(page % 8));
            var problems = environment.Verify().Problems;
            disk.FlipBit(ScrubTestKit.DataFile, offset, (int)(page % 8));
            headers += problems.Any(problem => problem.Contains($"Page {page} ", StringComparison.Ordinal)) ? 1 : 0;
        }

        // Each page in use is reported, except those of large values, where these bytes belong to the value, and the inner pages of
        // extents, where a checksum covers them.
        headers.Should().BeGreaterThan((int)before.UsedPages - large - 40);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void With_as_many_readers_as_there_can_be_statistics_and_verification_work()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        FaultTestKit.Put(environment, 1, [1]);
        var readers = new List<ReadTransaction>();
        try
        {
            for (var i = 0; i < 65_535; i++)
                readers.Add(environment.BeginRead());
            environment.Invoking(one => one.BeginRead()).Should().Throw<InvalidOperationException>().WithMessage("65535 read transactions are open*");
            environment.GetStatistics().OpenReaders.Should().Be(65_535);
            environment.Verify().Problems.Should().BeEmpty();
            FaultTestKit.Put(environment, 2, [2]);
        }
        finally
        {
            readers.ForEach(reader => reader.Dispose());
        }
    }
}
