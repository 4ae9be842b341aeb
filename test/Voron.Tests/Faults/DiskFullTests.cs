using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

public sealed class DiskFullTests(ITestOutputHelper output)
{
    [Fact]
    public void Wherever_the_disk_is_full_reads_continue_the_flush_empties_it_and_work_resumes()
    {
        var probe = new SimulatedDisk();
        Fill(probe, out var last);
        var full = probe.UsedBytes;
        last.Should().Be(80);
        int refused = 0, unopened = 0;
        for (var limit = 16L << 10; limit < full; limit += (28 << 10) * SuiteShare.Step(3))
        {
            var disk = new SimulatedDisk { SpaceLimit = limit };
            StorageEnvironment? environment;
            try
            {
                environment = Fill(disk, out last);
            }
            catch (StorageFullException e)
            {
                // There is no room even for the empty environment. With room, the same directory can be used.
                e.Message.Should().Contain("cannot be opened");
                unopened++;
                disk.SpaceLimit = long.MaxValue;
                environment = Fill(disk, out last);
                last.Should().Be(80);
                environment.Dispose();
                continue;
            }

            refused += last < 80 ? 1 : 0;
            for (var i = 0; i < last; i++)
                FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, SizeOf(i)));
            FaultTestKit.Get(environment, last).Should().BeNull();
            if (last > 0)
                environment.Flush();
            var statistics = environment.GetStatistics();
            statistics.CheckpointTransactionId.Should().Be(statistics.PublishedTransactionId, "a full disk can be emptied");
            environment.Verify().Problems.Should().BeEmpty();

            disk.SpaceLimit = long.MaxValue;
            for (var i = last; i < 80; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, SizeOf(i)));
            environment.Verify().Problems.Should().BeEmpty();
            environment.Dispose();
            using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
            for (var i = 0; i < 80; i++)
                FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, SizeOf(i)));
        }

        output.WriteLine($"of {(full >> 10) / 28} sizes of disk, {refused} were full at a commit, {unopened} at the opening.");
        refused.Should().BeGreaterThan(10);
        unopened.Should().BeGreaterThan(0);
    }

    [Fact]
    public void An_environment_on_a_full_disk_keeps_its_content_over_a_reopening()
    {
        var disk = new SimulatedDisk { SpaceLimit = 1300 << 10 };
        var environment = Fill(disk, out var last);
        last.Should().BeInRange(2, 79);
        environment.Dispose();
        disk.SpaceLimit = disk.UsedBytes;
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < last; i++)
            FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, SizeOf(i)));
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_flush_that_finds_no_room_is_paused_and_continues_with_the_list_it_wrote()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 500));
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == "voron.data", DiskError.NoSpace);
        var flush = () => environment.Flush();
        flush.Should().Throw<StorageFullException>().WithMessage("*paused*voron.data*");
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 500));
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 500));
        var journalWrites = environment.GetStatistics().JournalWrites;
        environment.Flush()!.Value.TransactionId.Should().Be(1);
        environment.GetStatistics().JournalWrites.Should().Be(journalWrites, "the list is in the journal already");
        environment.Flush()!.Value.TransactionId.Should().Be(2);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_write_that_finds_no_room_in_the_journal_after_it_began_poisons()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20 });
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 500));
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.NoSpace);
        var commit = () => FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 500));
        commit.Should().Throw<EnvironmentPoisonedException>().Which.Outcome.Should().Be(CommitOutcome.Unknown);
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 500));
    }

    [Fact]
    public void The_list_of_a_flush_fits_into_the_file_that_the_last_commit_filled()
    {
        // A large list: many pages, each changed once, by commits that leave the journal file nearly full.
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 4 << 20, MaxJournalFileBytes = 4 << 20 };
        using var environment = StorageEnvironment.Open(disk, options);
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 10));
        disk.SpaceLimit = disk.UsedBytes + (24L << 20);
        var last = 1;
        var fill = () =>
        {
            // Allows no new journal file, only the room of the first one.
            disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
            for (; ; last++)
                FaultTestKit.Put(environment, last, FaultTestKit.Value(last, 1500));
        };
        fill.Should().Throw<StorageFullException>().WithMessage("*not committed*");
        last.Should().BeGreaterThan(200);

        // The commit that found no room has flushed; the list was written without another file.
        environment.GetStatistics().CheckpointTransactionId.Should().Be(last);
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Commits one value after the other until there is no room.</summary>
    private static StorageEnvironment Fill(SimulatedDisk disk, out int last)
    {
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (last = 0; last < 80; last++)
        {
            try
            {
                FaultTestKit.Put(environment, last, FaultTestKit.Value(last, SizeOf(last)));
            }
            catch (StorageFullException)
            {
                break;
            }
        }

        return environment;
    }

    private static int SizeOf(int i) => i % 7 == 3 ? 80_000 : i % 5 == 0 ? 9_000 : 700;
}
