using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>The caller of a transaction that was never submitted learns that it was not committed, whatever failed beside it.</summary>
public sealed class OutcomeTests
{
    /// <summary>
    /// The commit waits for an older record before it makes room, and that record's write fails: its outcome is not that of this transaction.
    /// </summary>
    [Fact]
    public Task A_commit_that_found_no_room_does_not_report_the_outcome_of_an_older_record() => ShouldTellItsOwnOutcome(
        call => call.Kind == DiskCallKind.Create,
        writing =>
        {
            PutMany(writing, 300_000);
            return Record.Exception(writing.Commit);
        });

    [Fact]
    public Task A_put_that_found_no_room_does_not_report_the_outcome_of_an_older_record() => ShouldTellItsOwnOutcome(
        call => call.Kind == DiskCallKind.Allocate && call.Name == "voron.data",
        writing =>
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            return Record.Exception(() => tree.Put(FaultTestKit.Key(3), FaultTestKit.Value(3, 3_000_000)));
        });

    /// <summary>A transaction that outlives the environment can be used to its end, and reports a full disk like any other.</summary>
    [Fact]
    public void A_put_behind_a_closed_environment_learns_that_the_disk_is_full()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options());
        FaultTestKit.Put(environment, 1, [1]);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        environment.Dispose();
        disk.SpaceLimit = disk.UsedBytes;
        var put = () => tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(2, 3_000_000));
        put.Should().Throw<StorageFullException>().WithMessage("*voron.data*");
    }

    /// <summary>Puts journaled values, of more bytes than a journal file of these tests holds.</summary>
    internal static void PutMany(WriteTransaction writing, int bytes)
    {
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        for (var i = 0; i < bytes / 2_000; i++)
            tree.Put(FaultTestKit.Key(1_000 + i), FaultTestKit.Value(i, 2_000));
    }

    private static StorageOptions Options() => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        JournalCompression = JournalCompression.Never,
    };

    private static async Task ShouldTellItsOwnOutcome(Func<DiskCall, bool> hasNoRoom, Func<WriteTransaction, Exception?> act)
    {
        using var journal = new FailingJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, Options());
        FaultTestKit.Put(environment, 1, [1]);
        var older = journal.CommitHeld(environment, 2);
        journal.Disk.FailNext(hasNoRoom, DiskError.NoSpace, forever: true);

        Exception? failure = null;
        var thread = new TestThread(() =>
        {
            using var writing = environment.BeginWrite();
            failure = act(writing);
        });
        thread.WaitUntilBlockedOrEnded();
        journal.Fail();
        thread.Join().Should().BeNull();
        ShouldBeNotCommitted(failure);
        var thrown = await Record.ExceptionAsync(() => older.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken));
        thrown.Should().BeOfType<EnvironmentPoisonedException>().Which.Outcome.Should().Be(CommitOutcome.Unknown);
    }

    private static void ShouldBeNotCommitted(Exception? failure)
    {
        var poisoned = failure.Should().BeOfType<EnvironmentPoisonedException>().Subject;
        poisoned.Outcome.Should().Be(CommitOutcome.NotCommitted);
        poisoned.Message.Should().Contain("was not committed");
    }
}
