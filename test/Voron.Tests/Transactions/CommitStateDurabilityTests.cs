using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>An object attached to a commit is visible no earlier than the commit is durable, and is not stored.</summary>
public sealed class CommitStateDurabilityTests
{
    public enum Work
    {
        Flush,
        JournalSnapshot,
        ReclaimSpace,
        Grow,
        TrimMemory,
        ConfirmDurability,
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Readers_have_it_when_it_is_durable_and_the_next_writer_at_once(bool changesPages)
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        CommitStateKit.Commit(environment, 1);
        journal.Hold();
        var first = Submit(environment, 2, changesPages);
        journal.WaitUntilHeld();
        var whileWritten = CommitStateKit.VersionNow(environment);
        int next;
        using (var writing = environment.BeginWrite())
            next = CommitStateKit.VersionIn(writing);
        var second = Submit(environment, 3, changesPages);
        using var before = environment.BeginRead();
        var whileQueued = CommitStateKit.VersionIn(before);

        // Nothing is asserted while the write is held: the environment could not be closed.
        journal.Release();
        await first.WaitAsync(TestWait.Limit, Cancellation);
        CommitStateKit.VersionNow(environment).Should().BeOneOf(2, 3);
        await second.WaitAsync(TestWait.Limit, Cancellation);
        CommitStateKit.VersionNow(environment).Should().Be(3);
        whileWritten.Should().Be(1, "the commit was being written");
        next.Should().Be(2, "the next transaction builds on the submitted one");
        whileQueued.Should().Be(1, "neither commit was durable");
        CommitStateKit.VersionIn(before).Should().Be(1, "a snapshot keeps its own");
    }

    [Fact]
    public async Task In_a_chain_of_commits_each_state_has_its_own()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), HeldJournal.Options());
        CommitStateKit.Commit(environment, 1);
        var first = environment.GetStatistics().PublishedTransactionId - 1;
        var commits = new List<Task>();
        for (var version = 2; version <= 300; version++)
        {
            commits.Add(Submit(environment, version, changesPages: version % 2 == 0));
            using var reading = environment.BeginRead();
            CommitStateKit.VersionIn(reading).Should().Be((int)(reading.TransactionId - first));
        }

        await Task.WhenAll(commits).WaitAsync(TestWait.Limit, Cancellation);
        CommitStateKit.VersionNow(environment).Should().Be(300);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_commit_that_fails_leaves_the_one_before(bool changesPages)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, HeldJournal.Options());
        CommitStateKit.Commit(environment, 1);
        disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed);
        var commit = Submit(environment, 2, changesPages);
        commit.Invoking(failed => failed.Wait(TestWait.Limit, Cancellation)).Should().Throw<EnvironmentPoisonedException>();
        CommitStateKit.VersionNow(environment).Should().Be(1);
    }

    [Theory]
    [InlineData(1, JournalCompression.Always)]
    [InlineData(2, JournalCompression.Always)]
    [InlineData(2, JournalCompression.Never)]
    public void After_a_kill_or_a_close_the_transaction_is_there_and_the_object_is_not(int formatVersion, JournalCompression compression)
    {
        var options = FaultTestKit.Options();
        options.FormatVersion = formatVersion;
        options.JournalCompression = compression;
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> killed;
        long id;
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            for (var version = 1; version <= 5; version++)
                CommitStateKit.Commit(environment, version);
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 3_000));
            CommitStateKit.Commit(environment, 6);
            CommitStateKit.VersionNow(environment).Should().Be(6);
            id = environment.GetStatistics().PublishedTransactionId;
            id.Should().Be(7);
            killed = FaultTestKit.Bytes(disk);
        }

        foreach (var files in new[] { killed, FaultTestKit.Bytes(disk) })
        {
            using (var readOnly = StorageEnvironment.Open(FaultTestKit.DiskOf(files), new StorageOptions(options) { ReadOnly = true }))
                CheckReopened(readOnly, id);
            using var again = StorageEnvironment.Open(FaultTestKit.DiskOf(files), options);
            CheckReopened(again, id);
            CommitStateKit.Commit(again, 7);
            again.Flush()!.Value.TransactionId.Should().Be(id + 1);
            CommitStateKit.VersionNow(again).Should().Be(7);
            again.Verify().Problems.Should().BeEmpty();
        }
    }

    /// <summary>The snapshot has no page to hold, but ids that were acknowledged.</summary>
    [Fact]
    public void A_journal_snapshot_of_transactions_that_only_attach_keeps_their_ids()
    {
        var disk = new SimulatedDisk();
        long id;
        SortedDictionary<string, byte[]> killed;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 3_000));
            environment.Flush();
            using var reading = environment.BeginRead();
            for (var version = 1; version <= 20; version++)
                CommitStateKit.Commit(environment, version);
            environment.Internals.WriteJournalSnapshot();
            id = environment.GetStatistics().PublishedTransactionId;
            killed = FaultTestKit.Bytes(disk);
        }

        using var again = StorageEnvironment.Open(FaultTestKit.DiskOf(killed), FaultTestKit.Options());
        again.GetStatistics().PublishedTransactionId.Should().Be(id);
        FaultTestKit.Put(again, 2, [2]);
        again.Flush()!.Value.TransactionId.Should().Be(id + 1);
        again.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(Work.Flush)]
    [InlineData(Work.JournalSnapshot)]
    [InlineData(Work.ReclaimSpace)]
    [InlineData(Work.Grow)]
    [InlineData(Work.TrimMemory)]
    [InlineData(Work.ConfirmDurability)]
    public void Work_of_the_engine_itself_leaves_it_attached(Work work)
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 400_000));
        CommitStateKit.Commit(environment, 1);
        FaultTestKit.Put(environment, 1, [1]);
        using (environment.BeginRead())
        {
            Do(environment, work);
            CommitStateKit.VersionNow(environment).Should().Be(1);
        }

        Do(environment, work);
        CommitStateKit.VersionNow(environment).Should().Be(1);
        using (var writing = environment.BeginWrite())
            CommitStateKit.VersionIn(writing).Should().Be(1);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task The_transactions_of_a_compaction_pass_it_on()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 50_000));
        CommitStateKit.Commit(environment, 1);
        using var before = environment.BeginRead();
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).DeleteRange(KeyRange.Before(FaultTestKit.Key(150)));
            CommitStateKit.Set(writing, 2);
            writing.Commit();
        }

        var id = environment.GetStatistics().PublishedTransactionId;
        before.Dispose();
        var report = await environment.CompactAsync(null, Cancellation);
        report.BytesMoved.Should().BeGreaterThan(0);
        environment.GetStatistics().PublishedTransactionId.Should().BeGreaterThan(id, "it has transactions of its own");
        CommitStateKit.VersionNow(environment).Should().Be(2);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_backup_of_changes_has_the_transaction_and_not_the_object()
    {
        using var directory = new TemporaryDirectory();
        var (full, changes) = (At("full"), At("changes"));
        long id;
        using (var environment = StorageEnvironment.Open(At("store"), new StorageOptions(FaultTestKit.Options()) { TrackChanges = true }))
        {
            FaultTestKit.Put(environment, 1, [1]);
            var report = await environment.BackupAsync(full, cancellationToken: Cancellation);
            CommitStateKit.Commit(environment, 1);
            await environment.BackupAsync(changes, new BackupOptions { Since = report.BackupId }, Cancellation);
            id = environment.GetStatistics().PublishedTransactionId;
        }

        await BackupFile.RestoreAsync([full, changes], At("restored"), cancellationToken: Cancellation);
        using var restored = StorageEnvironment.Open(At("restored"));
        CheckReopened(restored, id);
        FaultTestKit.Get(restored, 1).Should().Equal(1);

        string At(string name) => Path.Combine(directory.Path, name);
    }

    private static void CheckReopened(StorageEnvironment environment, long id)
    {
        using var reading = environment.BeginRead();
        reading.TransactionId.Should().Be(id);
        CommitStateKit.VersionIn(reading).Should().Be(0);
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static void Do(StorageEnvironment environment, Work work)
    {
        switch (work)
        {
            case Work.Flush:
                environment.Flush();
                break;
            case Work.JournalSnapshot:
                environment.Internals.WriteJournalSnapshot();
                break;
            case Work.ReclaimSpace:
                environment.ReclaimSpace();
                break;
            case Work.Grow:
                FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 20_000_000));
                break;
            case Work.TrimMemory:
                environment.Internals.TrimMemory();
                break;
            default:
                environment.Internals.ConfirmDurability();
                break;
        }
    }

    private static Task Submit(StorageEnvironment environment, int version, bool changesPages)
    {
        using var writing = environment.BeginWrite();
        CommitStateKit.Set(writing, version);
        if (changesPages)
            writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(version), [1]);
        return writing.CommitAsync(Cancellation).AsTask();
    }
}
