using System.Text;
using Voron.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>An environment that is open for writing shows its figures in a file, at no cost for its callers.</summary>
public sealed class StatusFileTests
{
    private readonly StatusKit _kit = new();

    private SimulatedDisk Disk => _kit.Disk;

    [Fact]
    public void A_block_has_the_figures_of_the_environment()
    {
        using var environment = _kit.Open();
        for (var i = 0; i < 20; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 3_000));
        FaultTestKit.Put(environment, 100, FaultTestKit.Value(100, 200_000));
        StatusKit.WaitUntilIdle(environment);
        using var reading = environment.BeginRead();
        _kit.Clock.Advance(StatusKit.Interval);
        var (block, statistics) = (_kit.Block, environment.GetStatistics());
        _kit.Reading!.Cause.Should().BeNull();
        block.ProcessId.Should().Be(Environment.ProcessId);
        new DateTime(block.ProcessStartTicks).Should().BeBefore(DateTime.UtcNow);
        block.OpenedTicks.Should().Be(statistics.OpenedAt.UtcTicks);
        block.UpdatedTicks.Should().Be(_kit.Clock.GetUtcNow().UtcTicks);
        block.UptimeMilliseconds.Should().Be(1_000);
        block.Sequence.Should().Be(1);
        block.IntervalMilliseconds.Should().Be(1_000);
        block.EnvironmentId.Should().Be(environment.Internals.Engine.EnvironmentId);
        (block.FormatVersion, block.PageSize).Should().Be((2, 4096));
        (block.TransactionId, block.CheckpointTransactionId).Should().Be((21, 21));
        (block.CommittedTransactions, block.RolledBackTransactions, block.PagesChanged).Should().Be((21, 0, statistics.PagesChanged));
        block.DirectBytes.Should().BeGreaterThanOrEqualTo(200_000);
        (block.JournalBytes, block.JournalWrites, block.JournalWriteTicks).Should()
            .Be((statistics.JournalBytes, statistics.JournalWrites, statistics.JournalWriteTime.Ticks));
        (block.LiveJournalBytes, block.TotalJournalBytes, block.JournalLimitBytes).Should()
            .Be((statistics.LiveJournalBytes, statistics.TotalJournalBytes, statistics.JournalLimitBytes));
        block.UnflushedJournalBytes.Should().Be(0);
        (block.DataFileBytes, block.PageCount, (long?)block.FreeDataFileBytes).Should()
            .Be((statistics.DataFileBytes, statistics.PageCount, statistics.FreeDataFileBytes));
        (block.ScratchBytes, block.ScratchLimitBytes, block.NativeMemoryBytes).Should()
            .Be((statistics.ScratchBytes, statistics.ScratchLimitBytes, statistics.NativeMemoryBytes));
        (block.OpenReaders, block.OldestReaderTransactionId).Should().Be((1, 21));
        (block.UpdatedTicks - block.OldestReaderTicks).Should().BeInRange(0, TimeSpan.FromMinutes(1).Ticks);
        (block.Flushes, block.FlushedBytes).Should().Be((statistics.Flushes, statistics.FlushedBytes));
        new DateTime(block.LastFlushTicks).Should().BeCloseTo(DateTime.UtcNow, TimeSpan.FromMinutes(2));
        block.LastFlushDuration.Should().BePositive();
        (block.BackupsUnderWay, block.CompactionsUnderWay).Should().Be((0, 0));
    }

    [Fact]
    public void Commits_and_flushes_make_no_call_for_the_file()
    {
        using var environment = _kit.Open();
        for (var i = 0; i < 300; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 1_000));
        environment.Flush();
        StatusKit.WaitUntilIdle(environment);
        _kit.Calls.Should().BeEmpty("the clock is stopped");
    }

    [Fact]
    public void A_block_is_written_once_an_interval_and_never_synced()
    {
        using (var environment = _kit.Open())
        {
            for (var i = 1; i <= 20; i++)
            {
                FaultTestKit.Put(environment, i, [1]);
                _kit.Clock.Advance(StatusKit.Interval / 2);
                FaultTestKit.Put(environment, i, [2]);
                _kit.Clock.Advance(StatusKit.Interval / 2);
                _kit.Writes.Should().Be(i);
                (_kit.Block.Sequence, _kit.Block.CommittedTransactions).Should().Be((i, 2 * i));
            }
        }

        _kit.Calls.Should().NotContain(call => call.Kind == DiskCallKind.Sync || call.Kind == DiskCallKind.Allocate);
        _kit.Calls.Count(call => call.Kind == DiskCallKind.Create).Should().Be(1);
    }

    [Fact]
    public void An_idle_environment_writes_nothing_and_wakes_with_the_next_commit()
    {
        using var environment = _kit.Open();
        FaultTestKit.Put(environment, 1, [1]);
        _kit.Settle(environment);
        var writes = _kit.Writes;
        var calls = _kit.Calls.Count;
        for (var hour = 0; hour < 100; hour++)
            _kit.Clock.Advance(TimeSpan.FromHours(1));
        _kit.Calls.Should().HaveCount(calls, "nothing has happened");

        // The flusher, which the commit wakes, makes the timer run at full pace. Without that, it would take ten intervals.
        FaultTestKit.Put(environment, 2, [2]);
        StatusKit.WaitUntilIdle(environment);
        _kit.Clock.Advance(StatusKit.Interval);
        _kit.Writes.Should().Be(writes + 1);
        _kit.Block.CommittedTransactions.Should().Be(2);

        // A reader wakes no thread. It shows all the same.
        using var reading = environment.BeginRead();
        _kit.Clock.Advance(20 * StatusKit.Interval);
        _kit.Block.OpenReaders.Should().Be(1);
    }

    public static TheoryData<string> WithoutFile => new("zero", "infinite", "read-only", "no background", "invisible");

    [Theory]
    [MemberData(nameof(WithoutFile))]
    public void Some_environments_have_no_file(string reason)
    {
        var kit = reason == "invisible" ? new StatusKit(new SimulatedDisk()) : _kit;
        var options = kit.Options();
        using (var made = StorageEnvironment.Open(kit.Disk, options))
            FaultTestKit.Put(made, 1, [1]);
        options.StatusInterval = reason == "zero" ? TimeSpan.Zero : reason == "infinite" ? Timeout.InfiniteTimeSpan : options.StatusInterval;
        options.ReadOnly = reason == "read-only";
        options.BackgroundFlush = reason != "no background";
        using var environment = StorageEnvironment.Open(kit.Disk, options);
        kit.Clock.Advance(10 * StatusKit.Interval);
        kit.Calls.Should().BeEmpty();
    }

    [Fact]
    public void The_file_goes_with_the_close()
    {
        var environment = _kit.Open();
        _kit.Clock.Advance(StatusKit.Interval);
        _kit.HasFile.Should().BeTrue();
        environment.Dispose();
        _kit.HasFile.Should().BeFalse();
        _kit.Clock.Advance(100 * StatusKit.Interval);
        _kit.HasFile.Should().BeFalse("a closed environment writes nothing");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_file_that_a_killed_process_has_left_is_deleted_by_the_next_opening(bool hasOwn)
    {
        var environment = _kit.Open();
        FaultTestKit.Put(environment, 1, [1]);
        _kit.Clock.Advance(StatusKit.Interval);
        var left = _kit.Block;
        var files = FaultTestKit.Bytes(Disk);
        environment.Dispose();

        var disk = new SimulatedDisk { IsVisibleToOthers = true };
        foreach (var (name, bytes) in files)
        {
            using var file = disk.Open(name, DiskOpen.New, DiskAccess.Buffered);
            file.Write(0, bytes);
        }

        var kit = new StatusKit(disk);
        kit.Block.Should().Be(left);
        var options = kit.Options();
        if (!hasOwn)
            options.StatusInterval = TimeSpan.Zero;
        using var again = StorageEnvironment.Open(disk, options);
        kit.HasFile.Should().BeFalse("its figures are those of another process");
        FaultTestKit.Get(again, 1).Should().Equal(1);
        kit.Clock.Advance(StatusKit.Interval);
        kit.HasFile.Should().Be(hasOwn);
        if (hasOwn)
            kit.Block.Session.Should().NotBe(left.Session);
    }

    [Fact]
    public async Task Backups_and_copies_are_made_without_it()
    {
        using var directory = new TestDirectory();
        var store = Path.Combine(directory, "store");
        var token = TestContext.Current.CancellationToken;
        using var environment = StorageEnvironment.Open(store, _kit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 50_000));
        _kit.Clock.Advance(StatusKit.Interval);
        File.Exists(Path.Combine(store, StatusFile.FileName)).Should().BeTrue();
        var underWay = new List<(int, int)>();

        await environment.BackupAsync(Path.Combine(directory, "backup"), new BackupOptions { Progress = Progress<BackupProgress>() }, token);
        await BackupFile.RestoreAsync([Path.Combine(directory, "backup")], Path.Combine(directory, "restored"), null, token);
        await environment.CopyToAsync(Path.Combine(directory, "copy"), null, token);
        await environment.CompactToAsync(
            Path.Combine(directory, "dense"), new CompactionOptions { Progress = Progress<CompactionProgress>() }, token);
        foreach (var made in new[] { "restored", "copy", "dense" })
        {
            var files = Directory.GetFiles(Path.Combine(directory, made)).Select(Path.GetFileName);
            files.Should().NotContain(StatusFile.FileName).And.Contain("voron.header");
            using var opened = StorageEnvironment.Open(Path.Combine(directory, made), FaultTestKit.Options());
            FaultTestKit.Get(opened, 1).Should().Equal(FaultTestKit.Value(1, 50_000));
        }

        underWay.Should().Contain((1, 0)).And.Contain((0, 1), "the file shows what is under way").And.NotContain((0, 0));
        _kit.Clock.Advance(StatusKit.Interval);
        var last = Read().Block;
        (last.BackupsUnderWay, last.CompactionsUnderWay).Should().Be((0, 0));

        SynchronousProgress<T> Progress<T>() => new(_ =>
        {
            _kit.Clock.Advance(20 * StatusKit.Interval);
            underWay.Add((Read().Block.BackupsUnderWay, Read().Block.CompactionsUnderWay));
        });

        StatusReading Read()
        {
            using var disk = FileSystemDisk.Open(store, readOnly: true, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance);
            return StatusFile.TryRead(disk, out var reason) ?? throw new InvalidOperationException(reason);
        }
    }

    [Fact]
    public void A_poisoned_environment_says_why()
    {
        using var environment = _kit.Open();
        _kit.Clock.Advance(StatusKit.Interval);
        _kit.Block.Flags.Should().Be(StatusFlags.None);
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("x" + string.Concat(Enumerable.Repeat("ä", 1_000))));
        _kit.Clock.Advance(20 * StatusKit.Interval);
        _kit.Block.Flags.Should().Be(StatusFlags.IsPoisoned);
        _kit.Reading!.Cause.Should().Be("x" + string.Concat(Enumerable.Repeat("ä", 511)), "a long text is cut between two characters");
    }

    [Fact]
    public void A_reader_reads_again_until_it_has_a_whole_block()
    {
        using var environment = _kit.Open();
        _kit.Clock.Advance(StatusKit.Interval);
        var whole = Disk.Contents(StatusFile.FileName);
        foreach (var at in new[] { 0, 8, 16, 300, StatusBlock.Size, StatusFile.Length - 1 })
        {
            Disk.FlipBit(StatusFile.FileName, at, 3);
            StatusFile.TryRead(Disk, out var reason).Should().BeNull($"byte {at} is wrong");
            reason.Should().Contain(StatusFile.FileName);
            Disk.FlipBit(StatusFile.FileName, at, 3);
        }

        // The writer completes the block between two reads.
        Disk.FlipBit(StatusFile.FileName, 300, 3);
        var reads = 0;
        Disk.FailNext(
            call =>
            {
                if (call is { Kind: DiskCallKind.Read, Name: StatusFile.FileName } && ++reads == 4)
                    Disk.FlipBit(StatusFile.FileName, 300, 3);
                return false;
            },
            DiskError.Failed,
            forever: true);
        StatusFile.TryRead(Disk, out _)!.Block.Should().Be(_kit.Block);
        Disk.Contents(StatusFile.FileName).Should().Equal(whole);
    }

    [Fact]
    public void A_file_that_is_none_is_no_status()
    {
        StatusFile.TryRead(Disk, out var missing).Should().BeNull();
        missing.Should().Contain(StatusFile.FileName);
        using (var file = Disk.Open(StatusFile.FileName, DiskOpen.New, DiskAccess.Buffered))
        {
            StatusFile.TryRead(Disk, out _).Should().BeNull("it is empty");
            file.Write(0, Encoding.UTF8.GetBytes(new string('x', 5_000)));
        }

        StatusFile.TryRead(Disk, out var foreign).Should().BeNull();
        foreign.Should().Contain("not a status file");
    }

    [Fact]
    public void A_layout_of_a_later_version_is_not_read()
    {
        var block = new byte[StatusFile.Length];
        StatusFile.Fill(new StatusBlock { ProcessId = 7 }, null, block);
        block[16]++;
        BitConverter.TryWriteBytes(block.AsSpan(8), StatusBlock.ChecksumOf(block));
        using (var file = Disk.Open(StatusFile.FileName, DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, block);
        StatusFile.TryRead(Disk, out var reason).Should().BeNull();
        reason.Should().Contain("layout 2");
    }
}
