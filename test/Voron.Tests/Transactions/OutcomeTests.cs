using Voron.IO;
using Voron.Primitives;
using Voron.Tests.Faults;
using Voron.Torture.Simulation;

namespace Voron.Tests.Transactions;

/// <summary>The caller of a transaction that was never submitted learns that it was not committed, whatever failed beside it.</summary>
public sealed class OutcomeTests
{
    private static readonly TimeSpan Patience = HeldJournal.Patience;

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
        var told = await Record.ExceptionAsync(() => older.WaitAsync(Patience, TestContext.Current.CancellationToken));
        told.Should().BeOfType<EnvironmentPoisonedException>().Which.Outcome.Should().Be(CommitOutcome.Unknown);
    }

    private static void ShouldBeNotCommitted(Exception? failure)
    {
        var poisoned = failure.Should().BeOfType<EnvironmentPoisonedException>().Subject;
        poisoned.Outcome.Should().Be(CommitOutcome.NotCommitted);
        poisoned.Message.Should().Contain("was not committed");
    }
}

/// <summary>A simulated disk whose next write to the journal is held, and fails or goes on as the test decides.</summary>
internal sealed class FailingJournal : IDisposable
{
    private readonly ManualResetEventSlim _isWriting = new();
    private readonly ManualResetEventSlim _mayGoOn = new();
    private int _armed;
    private volatile bool _fails;

    public FailingJournal()
    {
        Disk.InProgress = entry =>
        {
            if (entry.Kind != TraceKind.Write || !entry.WriteThrough || Interlocked.Exchange(ref _armed, 0) == 0)
                return;
            _isWriting.Set();

            // An interruption of the thread does not break off the write of any device.
            Uninterrupted.Run(() => _mayGoOn.Wait(HeldJournal.Patience).Should().BeTrue("the test has to release the write"));
            if (_fails)
                throw new DiskException(DiskError.Failed, "write", "simulated", "a planted fault");
        };
    }

    public SimulatedDisk Disk { get; } = new();

    /// <summary>Commits an item, and returns while its write is held.</summary>
    public Task CommitHeld(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        return CommitHeld(writing, key);
    }

    /// <inheritdoc cref="CommitHeld(StorageEnvironment, int)"/>
    public Task CommitHeld(WriteTransaction writing, int key)
    {
        Volatile.Write(ref _armed, 1);
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), FaultTestKit.Value(key, 100));
        var task = writing.CommitAsync().AsTask();
        _isWriting.Wait(HeldJournal.Patience).Should().BeTrue("the record has to reach the disk");
        return task;
    }

    public void Fail()
    {
        _fails = true;
        _mayGoOn.Set();
    }

    public void GoOn() => _mayGoOn.Set();

    public void Dispose()
    {
        _mayGoOn.Set();
        Disk.InProgress = null;
    }
}
