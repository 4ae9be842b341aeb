using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.ChangeTracking.ChangeLogKit;

namespace Voron.Tests.ChangeTracking;

/// <summary>The change log as a file: when it begins, what ends it, and that it never answers with too few pages.</summary>
[Quick]
public sealed class ChangedPageTrackerTests
{
    [Fact]
    public void There_is_no_log_until_it_is_begun()
    {
        var disk = new SimulatedDisk();
        using var environment = Open(disk);
        Put(environment, 1);
        environment.Flush();
        Logs(disk).Should().BeEmpty();
        Named(disk).Should().Be(0);
        CanCollect(environment, since: 0).Should().BeFalse();
        AddPoint(environment).Should().BeNull("there is no log");

        environment.Internals.BeginChangeLog().Should().BeTrue();
        environment.Internals.BeginChangeLog().Should().BeTrue("a second call finds the log");
        Logs(disk).Should().Equal(ChangeLogFile.NameOf(1));
        Slot(disk, 0).Should().Be(Slot(disk, 1));
        Named(disk).Should().NotBe(0);
        CanCollect(environment, since: 0).Should().BeFalse("the log does not reach back so far");
        CanCollect(environment, since: 1).Should().BeTrue();
    }

    [Fact]
    public void An_environment_of_version_1_has_no_log()
    {
        var disk = new SimulatedDisk();
        var options = FaultTestKit.Options();
        options.FormatVersion = (int)JournalFormat.Version1;
        using var environment = StorageEnvironment.Open(disk, options);
        var files = FaultTestKit.Bytes(disk);
        environment.Internals.BeginChangeLog().Should().BeFalse();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
        environment.Internals.UpgradeFormat();
        environment.Internals.BeginChangeLog().Should().BeTrue();
    }

    [Fact]
    public void A_point_outlives_closing_and_crashes_once_the_checkpoint_has_reached_it()
    {
        var disk = new SimulatedDisk();
        BackupPoint first, second;
        using (var environment = Open(disk))
        {
            environment.Internals.BeginChangeLog();
            Put(environment, 1);
            first = AddPoint(environment)!.Value;
            IsDurable(environment, first).Should().BeFalse("the checkpoint has not reached it");
            using (environment.BeginRead())
            {
                Put(environment, 2);
                second = AddPoint(environment)!.Value;
                environment.Flush();
                IsDurable(environment, first).Should().BeTrue("the flush has reached the reader's state, which is that of the point");
                IsDurable(environment, second).Should().BeFalse("the reader holds the flush back");
            }

            var crashed = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
            using (var again = Open(crashed))
            {
                Find(again, first).Should().Be(first);
                Find(again, second).Should().BeNull("it was not durable");
            }
        }

        using (var environment = Open(disk))
        {
            Find(environment, first).Should().Be(first);
            Find(environment, second).Should().Be(second, "the closing has flushed");
            CanCollect(environment, second.TransactionId).Should().BeTrue();
        }
    }

    [Theory]
    [InlineData(nameof(DiskError.NoSpace))]
    [InlineData(nameof(DiskError.Failed))]
    public void A_log_that_cannot_be_continued_ends_and_the_flush_continues(string error)
    {
        var (disk, logger) = (new SimulatedDisk(), new ListLogger());
        using (var environment = Open(disk, logger))
        {
            Put(environment, 1);
            environment.Internals.BeginChangeLog();
            var point = AddPoint(environment)!.Value;
            environment.Flush();
            disk.FailNext(call => call.Kind == DiskCallKind.Write && IsLog(call.Name), Enum.Parse<DiskError>(error));
            Put(environment, 2);
            environment.Flush().Should().NotBeNull();
            FaultTestKit.WarningsOf(environment, logger).Should().ContainSingle().Which.Should().Contain("next backup has to be a full one");
            Named(disk).Should().Be(0);
            Find(environment, point).Should().BeNull();
            CanCollect(environment, point.TransactionId).Should().BeFalse();

            Put(environment, 3);
            environment.Internals.BeginChangeLog().Should().BeTrue("it begins anew");
            Logs(disk).Should().Equal(ChangeLogFile.NameOf(1));
            AddPoint(environment).Should().NotBeNull();
            environment.Flush();
        }

        using var later = Open(disk, logger);
        later.Verify().Problems.Should().BeEmpty();
        CanCollect(later, since: 3).Should().BeTrue();
    }

    [Theory]
    [InlineData(nameof(DiskCallKind.Create))]
    [InlineData(nameof(DiskCallKind.Allocate))]
    [InlineData(nameof(DiskCallKind.Sync))]
    [InlineData(nameof(DiskCallKind.Write))]
    [InlineData(nameof(DiskCallKind.SyncDirectory))]
    public void A_log_that_cannot_be_begun_is_an_error_of_the_caller_alone(string kind)
    {
        var disk = new SimulatedDisk();
        using var environment = Open(disk);
        disk.FailNext(
            call => call.Kind.ToString() == kind && (IsLog(call.Name) || call.Kind == DiskCallKind.SyncDirectory), DiskError.Failed);
        var begin = () => environment.Internals.BeginChangeLog();
        begin.Should().Throw<StorageAccessException>().WithMessage("The change log of the environment in 'simulated' cannot be written: *");
        Named(disk).Should().Be(0);
        Put(environment, 1);
        environment.Flush();
        begin().Should().BeTrue();
        Logs(disk).Should().HaveCount(1, "what the first attempt has left is gone");
    }

    [Fact]
    public void A_point_that_cannot_be_written_is_an_error_of_the_caller_alone()
    {
        var disk = new SimulatedDisk();
        using var environment = Open(disk);
        Put(environment, 1);
        environment.Internals.BeginChangeLog();
        environment.Flush();
        disk.FailNext(call => call.Kind == DiskCallKind.Write && IsLog(call.Name), DiskError.NoSpace);
        var add = () => AddPoint(environment);
        add.Should().Throw<StorageAccessException>();
        var point = add()!.Value;
        Find(environment, point).Should().Be(point);
        IsDurable(environment, point).Should().BeTrue();
    }

    [Fact]
    public void A_damaged_block_ends_the_log_or_is_behind_its_end()
    {
        var files = FilesWithPoint(out var point);
        var name = files.Keys.Single(IsLog);
        for (var block = 0; block < 4; block++)
        {
            for (var offset = 0; offset < ChangeLogEntry.Size; offset++)
            {
                var damaged = Copy(files);
                damaged[name][block * JournalFormat.Block + offset] ^= 0x10;
                using var environment = Open(FaultTestKit.DiskOf(damaged));
                Find(environment, point).Should().BeNull($"a bit is wrong at {offset} of block {block}");
                CanCollect(environment, point.TransactionId).Should().Be(block == 3, "only the last block is behind the entry that the header names");
                environment.Verify().Problems.Should().BeEmpty();
            }
        }
    }

    [Fact]
    public void A_log_that_is_gone_or_was_cut_ends()
    {
        var files = FilesWithPoint(out var point);
        var name = files.Keys.Single(IsLog);
        for (var blocks = -1; blocks < 3; blocks++)
        {
            var damaged = Copy(files);
            if (blocks < 0)
                damaged.Remove(name);
            else
                damaged[name] = damaged[name][..(blocks * JournalFormat.Block)];
            var disk = FaultTestKit.DiskOf(damaged);
            var logger = new ListLogger();
            using (var environment = Open(disk, logger))
            {
                Find(environment, point).Should().BeNull();
                Put(environment, 7);
                FaultTestKit.WarningsOf(environment, logger).Should().ContainSingle().Which.Should().Contain("No file contains the entry");
            }

            Named(disk).Should().Be(0, "the close has moved the checkpoint");
        }
    }

    /// <summary>An engine that does not know the log keeps its name when it moves the checkpoint or writes a journal snapshot.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_header_that_has_moved_without_an_entry_ends_the_log(bool movesCheckpoint)
    {
        var disk = new SimulatedDisk();
        BackupPoint point;
        SortedDictionary<string, byte[]> files;
        using (var environment = Open(disk))
        {
            Put(environment, 1);
            environment.Internals.BeginChangeLog();
            environment.Flush();
            point = AddPoint(environment)!.Value;
            var named = Named(disk);
            var log = FaultTestKit.Bytes(disk).Single(file => IsLog(file.Key));
            using (environment.BeginRead())
            {
                FaultTestKit.Put(environment, 5, FaultTestKit.Value(5, 200_000));
                if (!movesCheckpoint)
                    environment.Internals.WriteJournalSnapshot().Should().BeTrue();
            }

            if (movesCheckpoint)
                environment.Flush();
            files = FaultTestKit.Bytes(disk);
            files[log.Key] = log.Value;
            Rename(files, named);
        }

        using var again = Open(FaultTestKit.DiskOf(files));
        FaultTestKit.Get(again, 5).Should().NotBeNull();
        Find(again, point).Should().BeNull("the log lacks the pages of the value");
        CanCollect(again, point.TransactionId).Should().BeFalse();
    }

    /// <summary>After a recovery that ends earlier, as when the newest journal file is lost, ids of transactions are used again.</summary>
    [Fact]
    public void A_point_is_not_known_after_a_recovery_that_ends_before_its_state()
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        BackupPoint point;
        using (var environment = Open(disk))
        {
            Put(environment, 1);
            environment.Internals.BeginChangeLog();
            environment.Flush();
            var before = FaultTestKit.Bytes(disk);
            Put(environment, 2);
            point = AddPoint(environment)!.Value;
            files = FaultTestKit.Bytes(disk);
            foreach (var journal in before.Keys.Where(name => name.StartsWith("journal-", StringComparison.Ordinal)))
                files[journal] = before[journal];
        }

        using var again = Open(FaultTestKit.DiskOf(files));
        FaultTestKit.Get(again, 2).Should().BeNull("the last commit is lost");
        Put(again, 3);
        Find(again, point).Should().BeNull("another transaction has its id");
    }

    [Fact]
    public void A_log_of_another_lineage_does_not_count()
    {
        var files = FilesWithPoint(out var point);
        var lineage = new Lineage { Id = RandomId.New() };
        ForEachSlot(files, (ref CheckpointHeader header) => header.Lineage = lineage);
        using var environment = Open(FaultTestKit.DiskOf(files));
        Find(environment, point).Should().BeNull();
    }

    [Fact]
    public void An_opening_for_reading_leaves_the_log_as_it_is()
    {
        var files = FilesWithPoint(out _);
        var disk = FaultTestKit.DiskOf(files);
        disk.IsReadOnly = true;
        var options = FaultTestKit.Options();
        options.ReadOnly = true;
        using (var environment = StorageEnvironment.Open(disk, options))
            FaultTestKit.Get(environment, 1).Should().NotBeNull();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    [Fact]
    public void A_file_that_only_has_the_name_of_a_log_is_left_alone()
    {
        var files = FilesWithPoint(out var point);
        files.Add(ChangeLogFile.NameOf(7), [1, 2, 3]);
        files.Add(ChangeLogFile.NameOf(8), FaultTestKit.Value(1, 10_000));
        var disk = FaultTestKit.DiskOf(files);
        disk.FailNext(call => call.Name == ChangeLogFile.NameOf(8) && call.Kind == DiskCallKind.Open, DiskError.AccessDenied, forever: true);
        using (var environment = Open(disk))
        {
            Find(environment, point).Should().Be(point);
            disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == ChangeLogFile.NameOf(1), DiskError.Failed);
            Put(environment, 2);
            environment.Flush();
            environment.Internals.BeginChangeLog().Should().BeTrue();
        }

        Logs(disk).Should().BeEquivalentTo([ChangeLogFile.NameOf(7), ChangeLogFile.NameOf(8), ChangeLogFile.NameOf(9)]);
    }
}
