using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// A transaction that changes nothing is acknowledged when the commits that it read are durable: "if it exists, do nothing" is an answer
/// too.
/// </summary>
public sealed class EmptyCommitTests
{
    public enum Way
    {
        Commit,
        CommitAsync,
        WriteAsync,
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(Way.Commit)]
    [InlineData(Way.CommitAsync)]
    [InlineData(Way.WriteAsync)]
    public async Task It_is_acknowledged_when_its_snapshot_is_durable_and_published(Way way)
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var first = SubmitHeld(environment, journal);
        var wasHeld = true;
        var empty = FindSecond(environment, way).ContinueWith(
            answered =>
            {
                wasHeld = journal.IsHeld;
                answered.GetAwaiter().GetResult();
                FaultTestKit.Get(environment, 2).Should().Equal([2], "a snapshot that begins after the answer shows the state behind it");
            },
            Cancellation,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);

        await TestWait.GiveTimeForAsync(() => empty.IsCompleted);
        journal.Release();
        await empty.WaitAsync(TestWait.Limit, Cancellation);
        await first.WaitAsync(TestWait.Limit, Cancellation);
        wasHeld.Should().BeFalse("the commit that it read was still being written");
    }

    [Theory]
    [InlineData(Way.Commit)]
    [InlineData(Way.CommitAsync)]
    [InlineData(Way.WriteAsync)]
    public async Task It_fails_when_its_snapshot_cannot_be_written(Way way)
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        journal.Disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed);
        var first = SubmitHeld(environment, journal, isReached: false);
        var empty = Task.Run(() => FindSecond(environment, way), Cancellation);
        journal.Release();

        // The write of the commit that it read had begun, or was refused because the environment was poisoned by then.
        await FluentActions.Awaiting(() => empty.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<EnvironmentPoisonedException>();
        await FluentActions.Awaiting(() => first.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<EnvironmentPoisonedException>();
    }

    [Fact]
    public async Task Its_outcome_shows_whether_the_write_of_its_snapshot_had_begun()
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        journal.Disk.FailNext(call => call.Kind == DiskCallKind.Sync && call.Name == "voron.data", DiskError.Failed);
        var first = SubmitHeld(environment, journal);
        var onFirst = FindSecond(environment, Way.CommitAsync);
        var second = environment.BeginWrite();
        second.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), [3]);
        var queued = second.CommitAsync(Cancellation).AsTask();
        var onQueued = FindSecond(environment, Way.CommitAsync);

        // Growing the data file poisons the environment while the first commit is being written: that commit succeeds, queued ones are
        // never written.
        using (var growing = environment.BeginWrite())
        {
            var grow = () => growing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(9), FaultTestKit.Value(9, 3_000_000));
            grow.Should().Throw<EnvironmentPoisonedException>();
        }

        journal.Release();
        await first.WaitAsync(TestWait.Limit, Cancellation);
        await onFirst.WaitAsync(TestWait.Limit, Cancellation);
        foreach (var commit in new[] { queued, onQueued })
        {
            var waiting = () => commit.WaitAsync(TestWait.Limit, Cancellation);
            var thrown = await waiting.Should().ThrowAsync<EnvironmentPoisonedException>();
            thrown.Which.Outcome.Should().Be(CommitOutcome.NotCommitted);
        }
    }

    [Theory]
    [InlineData(Way.Commit)]
    [InlineData(Way.CommitAsync)]
    public async Task It_is_acknowledged_in_a_poisoned_environment_when_its_snapshot_is_durable(Way way)
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 2, [2]);
        journal.Disk.FailNext(call => call.Kind == DiskCallKind.Sync && call.Name == "voron.data", DiskError.Failed);
        using var empty = environment.BeginWrite();
        empty.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(2)).Should().BeTrue();
        environment.Invoking(poisoned => poisoned.Flush()).Should().Throw<EnvironmentPoisonedException>();
        if (way == Way.Commit)
            empty.Commit();
        else
            await empty.CommitAsync(Cancellation).AsTask().WaitAsync(TestWait.Limit, Cancellation);
    }

    [Fact]
    public async Task Nothing_is_written_for_it_and_a_durable_one_does_not_wait()
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        environment.BeginWrite().Commit();
        FaultTestKit.Put(environment, 2, [2]);
        var before = environment.GetStatistics();
        FindSecond(environment, Way.CommitAsync).IsCompleted.Should().BeTrue("the commit that it read is durable");
        await FindSecond(environment, Way.Commit);
        await FindSecond(environment, Way.WriteAsync);
        var after = environment.GetStatistics();
        after.JournalBytes.Should().Be(before.JournalBytes);
        after.CommittedTransactions.Should().Be(before.CommittedTransactions);
    }

    private static Task SubmitHeld(StorageEnvironment environment, HeldJournal journal, bool isReached = true)
    {
        journal.Hold();
        var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
        var commit = writing.CommitAsync(Cancellation).AsTask();
        if (isReached)
            journal.WaitUntilHeld();
        return commit;
    }

    private static Task FindSecond(StorageEnvironment environment, Way way)
    {
        switch (way)
        {
            case Way.WriteAsync:
                return environment.WriteAsync(Find, Cancellation).AsTask();
            case Way.CommitAsync:
                var writing = environment.BeginWrite();
                Find(writing);
                return writing.CommitAsync(Cancellation).AsTask();
            default:
                var empty = environment.BeginWrite();
                Find(empty);
                return Task.Factory.StartNew(empty.Commit, Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }
    }

    private static void Find(WriteTransaction writing) =>
        writing.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(2)).Should().BeTrue();
}
