using Voron.IO;
using Voron.Recovery;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Journal;

/// <summary>
/// The file for the first record since an opening is prepared beside the opening, without a name: the first commit waits for little, and an
/// environment without a commit leaves its directory as it was.
/// </summary>
[Quick]
public sealed class FirstJournalFileTests
{
    private static readonly StorageOptions Options = new() { BackgroundFlush = false };

    /// <summary>
    /// A commit that finds the file waits for its name, and for the record. In a new environment, the data file has its blocks already.
    /// </summary>
    [Theory]
    [InlineData(true, false, 2)]
    [InlineData(true, true, 2)]
    [InlineData(false, false, 4)]
    [InlineData(false, true, 4)]
    public void The_first_commit_waits_for_few_writes(bool isPrepared, bool isReopened, int expected)
    {
        var disk = new SimulatedDisk();
        if (isReopened)
        {
            using var first = StorageEnvironment.Open(disk, Options);
            Put(first, 0, 10);
        }

        using var environment = StorageEnvironment.Open(disk, Options);
        if (isPrepared)
            environment.Internals.PrepareJournal();
        var from = disk.TraceCount;
        Put(environment, 0, 1, seed: 7);
        Enumerable.Range(from, disk.TraceCount - from).Select(i => disk.Trace(i).Kind)
            .Count(kind => kind is TraceKind.WriteEnd or TraceKind.SyncEnd or TraceKind.DirectorySyncEnd).Should().Be(expected);
        Count(Reopened(disk)).Should().Be(isReopened ? 10 : 1);
    }

    [Fact]
    public void An_opening_prepares_the_file_and_a_close_leaves_nothing_of_it()
    {
        var disk = new SimulatedDisk { HasUnnamedFiles = true };
        var environment = StorageEnvironment.Open(disk, new StorageOptions());
        var before = FaultTestKit.Bytes(disk);
        var open = OpenFilesWithoutFirst(environment, disk);
        TestWait.Until(() => disk.OpenFiles > open, "the pool prepares the file");
        environment.Dispose();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);
        disk.OpenFiles.Should().Be(0);
    }

    /// <summary>
    /// The preparation fails at each of its calls: the opening succeeds, nothing is poisoned, and the commit makes the file itself.
    /// </summary>
    [Theory]
    [InlineData(nameof(DiskCallKind.Create))]
    [InlineData(nameof(DiskCallKind.Allocate))]
    [InlineData(nameof(DiskCallKind.Sync))]
    [InlineData(nameof(DiskCallKind.Write))]
    [InlineData(nameof(DiskCallKind.Link))]
    public void A_preparation_that_fails_has_no_consequence(string kind)
    {
        foreach (var error in new[] { DiskError.NoSpace, DiskError.AccessDenied, DiskError.Failed })
        {
            var disk = new SimulatedDisk { HasUnnamedFiles = true };
            using (var first = StorageEnvironment.Open(disk, Options))
                Put(first, 0, 10);
            var failed = 0;
            disk.FailNext(
                call => $"{call.Kind}" == kind && (call.Name.Length == 0 || call.Kind == DiskCallKind.Link) && Interlocked.Increment(ref failed) > 0,
                error, forever: true);
            using var environment = StorageEnvironment.Open(disk, new StorageOptions());
            if (kind == nameof(DiskCallKind.Link))
                environment.Internals.PrepareJournal();
            else
                TestWait.Until(() => Volatile.Read(ref failed) > 0, "the preparation fails");
            Put(environment, 10, 1);
            failed.Should().BeGreaterThan(0);
            environment.Internals.Engine.Poison.IsPoisoned.Should().BeFalse();
            Count(Reopened(disk)).Should().Be(11);
        }
    }

    /// <summary>
    /// The name of the prepared file may not be durable: the commit says so, as it does of a file that it makes, and the next one succeeds.
    /// </summary>
    [Fact]
    public void A_name_that_is_not_durable_fails_the_commit_alone()
    {
        var disk = new SimulatedDisk();
        using (var first = StorageEnvironment.Open(disk, Options))
            Put(first, 0, 10);
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.PrepareJournal();
        disk.FailNext(call => call.Kind == DiskCallKind.SyncDirectory, DiskError.Failed);
        var files = Files(disk);
        var commit = () => Put(environment, 10, 1);
        commit.Should().Throw<StorageAccessException>().WithMessage("*was not committed*");
        Files(disk).Should().Be(files);
        commit();
        Count(Reopened(disk)).Should().Be(11);
    }

    /// <summary>A file of the name that the prepared one would get belongs to another program, and stays.</summary>
    [Fact]
    public void A_name_that_is_taken_is_passed_over()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.PrepareJournal();
        using (var foreign = disk.Open("journal-00000001.voron", DiskOpen.New, DiskAccess.Buffered))
            foreign.Write(0, "not ours"u8);
        Put(environment, 0, 1);
        disk.Contents("journal-00000001.voron").Should().Equal("not ours"u8.ToArray());
        disk.List().Should().Contain(file => file.Name == "journal-00000002.voron");
    }

    /// <summary>A close during the preparation waits for the device, and one before it leaves it nothing to do.</summary>
    [Fact]
    public void A_close_waits_for_the_preparation_and_leaves_nothing()
    {
        var disk = new SimulatedDisk { HasUnnamedFiles = true };
        using (var first = StorageEnvironment.Open(disk, Options))
            Put(first, 0, 10);
        var before = FaultTestKit.Bytes(disk);
        using var reached = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        disk.InProgress = entry =>
        {
            if (disk.NameOf(entry).Length > 0 || entry.Kind != TraceKind.Sync)
                return;
            reached.Set();
            TestWait.Until(() => release.IsSet);
        };
        var environment = StorageEnvironment.Open(disk, new StorageOptions());
        TestWait.Until(() => reached.IsSet, "the pool prepares the file");
        var files = environment.Internals.Engine.JournalFiles!;
        var closing = new TestThread(environment.Dispose);
        closing.WaitUntilBlockedOrEnded();
        closing.HasEnded.Should().BeFalse("the preparation uses the disk");
        release.Set();
        closing.Join().Should().BeNull();
        disk.OpenFiles.Should().Be(0);
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), before);

        files.PrepareFirst(default);
        disk.OpenFiles.Should().Be(0, "the pool was late");
    }

    /// <summary>A file that is too short for the record, or of an older version, is passed over, and so is its epoch number.</summary>
    [Theory]
    [InlineData(20_000, 2)]
    [InlineData(1, 1)]
    public void A_file_that_does_not_suit_the_first_record_is_passed_over(int puts, int version)
    {
        var disk = new SimulatedDisk();
        using (var first = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, FormatVersion = version }))
            Put(first, 0, 1);
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.PrepareJournal();
        var open = disk.OpenFiles;
        if (version == 1)
            environment.Internals.UpgradeFormat().Should().BeTrue();
        Put(environment, 1, puts);
        disk.OpenFiles.Should().Be(open, "one file has taken the place of the other");
        using var again = Reopened(disk);
        Count(again).Should().Be(puts + 1);
        again.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The file ends the journal of the process before it for good, as one does that a commit makes.</summary>
    [Fact]
    public void The_file_seals_the_ones_before_it()
    {
        var disk = new SimulatedDisk();
        var killed = StorageEnvironment.Open(disk, Options);
        Put(killed, 0, 10);
        disk = Kill(killed, disk);
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.PrepareJournal();
        Put(environment, 10, 1);
        var name = environment.Internals.Engine.JournalFiles!.Newest!.Name;
        using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
        var info = JournalFileHeaderReader.Read(file, name, environment.Internals.Engine.EnvironmentId, out _);
        info!.Seals.Should().Equal(environment.Internals.Recovered.Seals).And.NotBeEmpty();
    }

    /// <summary>
    /// Recovery misses the first epoch of an environment that was never flushed. A file without a name must not have taken its number.
    /// </summary>
    [Fact]
    public void A_file_that_is_passed_over_does_not_take_the_first_epoch()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Internals.PrepareJournal();
        Put(environment, 0, 20_000);
        environment.Internals.Engine.JournalFiles!.Newest!.Epoch.Should().Be(1);
        Count(Reopened(disk)).Should().Be(20_000);
    }

    [Fact]
    public void Nothing_is_prepared_once_a_record_has_been_written()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0, 1);
        var open = disk.OpenFiles;
        environment.Internals.PrepareJournal();
        disk.OpenFiles.Should().Be(open);
    }

    /// <summary>
    /// The power fails at each point from the preparation to the second commit, after a process that was killed and left a record that was never
    /// acknowledged: each image has a state that was committed, and an acknowledged commit is never lost.
    /// </summary>
    [Fact]
    public void The_power_may_fail_at_any_point_of_the_first_commits()
    {
        var disk = new SimulatedDisk();
        var killed = StorageEnvironment.Open(disk, Options);
        Put(killed, 0, 10);
        disk = Kill(killed, disk);
        using var environment = StorageEnvironment.Open(disk, Options);
        var opened = disk.TraceCount;
        environment.Internals.PrepareJournal();
        var prepared = disk.TraceCount;
        Put(environment, 10, 1);
        var first = disk.TraceCount;
        Put(environment, 11, 1);
        var images = new CrashImages(disk);
        for (var cut = opened; cut <= disk.TraceCount; cut++)
        {
            for (var kind = 0; kind < 8; kind++)
            {
                var image = kind == 0 ? images.BuildLost(cut) : images.Build(cut, new Random(cut * 10 + kind));
                using var again = StorageEnvironment.Open(image, Options);
                var least = cut == disk.TraceCount ? 12 : cut >= first ? 11 : 10;
                Count(again).Should().BeInRange(least, cut <= prepared ? 10 : cut <= first ? 11 : 12, "cut {0} of kind {1}", cut, kind);
                Put(again, 100, 1);
                again.Verify().Problems.Should().BeEmpty();
            }
        }
    }

    private static StorageEnvironment Reopened(SimulatedDisk disk) =>
        StorageEnvironment.Open(new CrashImages(disk).BuildLost(disk.TraceCount), Options);

    private static int OpenFilesWithoutFirst(StorageEnvironment environment, SimulatedDisk disk)
    {
        using var other = StorageEnvironment.Open(FileSet.Of(disk).ToDisk(), environment.Options);
        return ((SimulatedDisk)other.Internals.Engine.Disk).OpenFiles;
    }
}
