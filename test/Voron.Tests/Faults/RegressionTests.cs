using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Faults;

/// <summary>Faults that have occurred once and must not occur again, each on a disk or at a moment made for it.</summary>
public sealed class RegressionTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_stale_handle_never_ends_the_transaction_that_its_pooled_object_serves_now()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var stale = environment.BeginRead();
        stale.Dispose();
        using (var now = environment.BeginRead())
        {
            stale.Dispose();
            now.TransactionId.Should().Be(1);
            environment.GetStatistics().OpenReaders.Should().Be(1);
        }

        // Two threads dispose copies of one handle; the first of them begins the next transaction at once.
        using var turn = new Barrier(2);
        var shared = default(ReadTransaction);
        var rounds = SuiteShare.Rounds(20_000);
        var other = Task.Factory.StartNew(
            () =>
            {
                for (var i = 0; i < rounds; i++)
                {
                    turn.SignalAndWait(Cancellation);
                    shared.Dispose();
                    turn.SignalAndWait(Cancellation);
                }
            },
            Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        var lost = 0;
        for (var i = 0; i < rounds; i++)
        {
            shared = environment.BeginRead();
            turn.SignalAndWait(Cancellation);
            shared.Dispose();
            var next = environment.BeginRead();
            turn.SignalAndWait(Cancellation);
            try
            {
                _ = next.TransactionId;
                next.Dispose();
            }
            catch (ObjectDisposedException)
            {
                lost++;
            }
        }

        await other;
        lost.Should().Be(0);
        environment.GetStatistics().OpenReaders.Should().Be(0);
    }

    [Theory]
    [InlineData("Write")]
    [InlineData("Sync")]
    [InlineData("Allocate")]
    [InlineData("Create")]
    [InlineData("Rename")]
    [InlineData("SyncDirectory")]
    [InlineData("List")]
    [InlineData("Punch")]
    public void A_call_that_fails_on_the_flusher_s_thread_poisons_or_pauses_and_ends_nothing_else(string kind)
    {
        var disk = new SimulatedDisk();
        var failures = 0;
        var logger = new ListLogger();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            FlushInterval = TimeSpan.FromMilliseconds(20),
            FlushThresholdBytes = 64 << 10,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            MaxGrowthBytes = 1 << 20,
            LoggerFactory = OneLoggerFactory.Of(logger),
        });
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 500));
        disk.FailNext(
            call =>
            {
                var fails = Thread.CurrentThread.Name == "Voron flusher" && call.Kind.ToString() == kind;
                failures += fails ? 1 : 0;
                return fails;
            },
            DiskError.Failed,
            forever: true);
        var last = 0;
        try
        {
            // Until the flusher has met the failure and its pause, or at least a megabyte where it makes no such call.
            TestWait.WorkUntil(() => environment.GetStatistics().IsPoisoned || (last >= 200 && (failures >= 2 || last >= 2_000)), () =>
            {
                FaultTestKit.Put(environment, last + 1, FaultTestKit.Value(last + 1, 5000));
                last++;
            });
        }
        catch (EnvironmentPoisonedException e)
        {
            e.InnerException.Should().BeOfType<DiskException>();
        }

        for (var i = 0; i <= last; i += 10)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, i == 0 ? 500 : 5000));
        if (environment.GetStatistics().IsPoisoned)
        {
            failures.Should().BePositive();
            environment.Invoking(poisoned => poisoned.BeginWrite()).Should().Throw<EnvironmentPoisonedException>()
                .WithInnerException<DiskException>();
            return;
        }

        disk.ClearFaults();
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 5000));
        WaitUntil(environment, statistics => statistics.CheckpointTransactionId == statistics.PublishedTransactionId);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_large_value_is_verified_before_anything_is_deleted()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 5; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 200_000));
            disk = new CrashImages(disk).BuildLost(disk.TraceCount);
        }

        var files = FaultTestKit.Bytes(disk);
        var at = files["voron.data"].AsSpan().IndexOf(FaultTestKit.Value(3, 200_000).AsSpan(0, 4000));
        at.Should().BePositive();
        files["voron.data"][at + 100_000] ^= 1;
        files.Add("rewrite-00000009.voron", new byte[4096]);
        files.Add("journal-00000007.voron.new", new byte[8192]);
        disk = FaultTestKit.DiskOf(files);
        FluentActions.Invoking(() => StorageEnvironment.Open(disk, FaultTestKit.Options())).Should().Throw<CorruptionException>();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    [Fact]
    public void A_file_that_cannot_be_cut_has_the_capacity_that_its_map_has()
    {
        const int PageSize = 4096;
        var disk = new SimulatedDisk();
        var handle = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        handle.Allocate(0, 64 * PageSize);
        using var file = new DataFile(handle, new RandomId(0, 17), PageSize, new PlannedAddresses(1 << 20), new PoisonState("test"));
        disk.FailNext(call => call.Kind == DiskCallKind.SetLength, DiskError.Failed);
        file.Truncate(16);
        file.Invoking(cut => cut.TryCut()).Should().Throw<DiskException>();
        file.CapacityPages.Should().Be(16, "the tail has no address any more");
        file.EnsureCapacity(64);
        file.CapacityPages.Should().Be(64);
        unsafe
        {
            file.Address(63)[PageSize - 1].Should().Be(0);
        }
    }

    [Fact]
    public void After_a_crash_on_a_full_disk_everything_can_be_read_and_room_lets_work_continue()
    {
        var disk = new SimulatedDisk();
        var last = 0;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (; last < 60; last++)
                FaultTestKit.Put(environment, last, FaultTestKit.Value(last, 3000));
            disk = new CrashImages(disk).BuildLost(disk.TraceCount);
        }

        disk.SpaceLimit = disk.UsedBytes;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < last; i++)
                FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 3000));
            environment.Verify().Problems.Should().BeEmpty();
            FluentActions.Invoking(() => FaultTestKit.Put(environment, last, [1])).Should().Throw<StorageFullException>();
            FaultTestKit.Get(environment, last).Should().BeNull();

            // Adds as much space as a journal file and the pages need, without a new opening.
            disk.SpaceLimit = disk.UsedBytes + (2 << 20);
            environment.Flush().Should().NotBeNull();
            FaultTestKit.Put(environment, last, [1]);
            environment.Verify().Problems.Should().BeEmpty();
        }

        disk.SpaceLimit = disk.UsedBytes;
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < last; i++)
            FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, 3000));
        FaultTestKit.Get(reopened, last).Should().Equal(1);
    }

    [Fact]
    public void A_journal_file_with_the_header_of_an_older_epoch_is_reported_not_taken_for_one_that_begins()
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 12; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 12_000));
            files = FaultTestKit.Bytes(disk);
        }

        byte[][] journals =
        [
            .. files.Where(file => file.Key.StartsWith("journal", StringComparison.Ordinal)).Select(file => file.Value)
                .Where(bytes => Header(bytes).Magic == JournalFormat.FileMagic).OrderBy(bytes => Header(bytes).Epoch),
        ];
        journals.Length.Should().BeGreaterThan(1);
        journals[0].AsSpan(0, JournalFormat.Block).CopyTo(journals[^1]);
        FluentActions.Invoking(() => StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options()))
            .Should().Throw<CorruptionException>().WithMessage("*copies name different epochs*");
    }

    [Fact]
    public void Free_space_of_journal_files_behind_a_reader_slows_no_writer()
    {
        var written = 0L;
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            TornPageProtection = TornPageProtection.FullPageImages,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
            CommitObserver = report => written += report.JournalBytes,
        };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        FaultTestKit.Put(environment, 0, [1]);
        using var reading = environment.BeginRead();
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i % 50, FaultTestKit.Value(i, 12_000));

        // With images, a journal file keeps more space free than it fills.
        environment.GetStatistics().LiveJournalBytes.Should().BeInRange(written / 2, written + (256 << 10));
    }

    [Fact]
    public async Task Flushes_beside_the_closing_are_made_or_refused()
    {
        for (var round = 0; round < SuiteShare.Rounds(200); round++)
        {
            var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
            FaultTestKit.Put(environment, 1, [1]);
            using var isFlushing = new ManualResetEventSlim();
            var flushing = Task.Factory.StartNew(
                () =>
                {
                    while (true)
                    {
                        try
                        {
                            FaultTestKit.Put(environment, 2, [2]);
                            environment.Flush();
                            isFlushing.Set();
                        }
                        catch (ObjectDisposedException)
                        {
                            return;
                        }
                    }
                },
                Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
            isFlushing.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
            environment.Dispose();
            await flushing.WaitAsync(TestWait.Limit, Cancellation);
        }
    }

    private static JournalFileHeader Header(byte[] file) => MemoryMarshal.Read<JournalFileHeader>(file);

    private static void WaitUntil(StorageEnvironment environment, Func<EnvironmentStatistics, bool> condition) =>
        TestWait.Until(() => condition(environment.GetStatistics()));
}
