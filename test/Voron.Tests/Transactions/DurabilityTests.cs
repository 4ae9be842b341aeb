using Voron.Feeds;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Lazy commits are visible at once and durable later, in order: what a crash leaves of them is a prefix.</summary>
public sealed class DurabilityTests
{
    public enum Way
    {
        Commit,
        CommitAsync,
        Write,
        WriteAsync,
        Default,
    }

    public enum Confirmation
    {
        Commit,
        EmptyCommit,
        EmptyCommitAsync,
        EmptyWrite,
        Flush,
        JournalSnapshot,
        Backup,
        ReadOfFeed,
        NewestPosition,
        Feeds,
        CompactCopy,
        Close,
    }

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(Way.Commit)]
    [InlineData(Way.CommitAsync)]
    [InlineData(Way.Write)]
    [InlineData(Way.WriteAsync)]
    [InlineData(Way.Default)]
    public async Task A_lazy_commit_is_visible_before_it_is_written(Way way)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(way == Way.Default));
        PutDurably(environment, 1);
        var writes = disk.TraceCount;
        await PutLazilyAsync(environment, way, 2);
        disk.TraceCount.Should().Be(writes, "nothing has been written");
        FaultTestKit.Get(environment, 2).Should().Equal([2]);
        var statistics = environment.GetStatistics();
        statistics.DurableTransactionId.Should().Be(statistics.PublishedTransactionId - 1);
        Recovered(disk).Should().Equal(1);
    }

    [Theory]
    [InlineData(Confirmation.Commit)]
    [InlineData(Confirmation.EmptyCommit)]
    [InlineData(Confirmation.EmptyCommitAsync)]
    [InlineData(Confirmation.EmptyWrite)]
    [InlineData(Confirmation.Flush)]
    [InlineData(Confirmation.JournalSnapshot)]
    [InlineData(Confirmation.Backup)]
    [InlineData(Confirmation.ReadOfFeed)]
    [InlineData(Confirmation.NewestPosition)]
    [InlineData(Confirmation.Feeds)]
    [InlineData(Confirmation.CompactCopy)]
    [InlineData(Confirmation.Close)]
    public async Task What_relies_on_lazy_commits_makes_them_durable_first(Confirmation confirmation)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        using (var writing = environment.BeginWrite())
        {
            writing.CreateFeed("feed");
            writing.CreateTree(FaultTestKit.TreeName);
            writing.RecordTree("feed", FaultTestKit.TreeName);
            writing.Commit();
        }

        for (var key = 1; key <= 3; key++)
            await PutLazilyAsync(environment, Way.Commit, key);
        Recovered(disk).Should().BeEmpty();
        await ConfirmAsync(environment, confirmation);
        Recovered(disk).Should().Equal(1, 2, 3);
    }

    [Fact]
    public void A_lazy_commit_becomes_durable_within_the_interval()
    {
        var options = Options();
        options.LazyInterval = TimeSpan.FromMilliseconds(1);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        PutDurably(environment, 1);
        for (var round = 2; round < 20; round++)
        {
            PutLazily(environment, round);
            TestWait.Until(() => IsDurable(environment));
        }
    }

    [Fact]
    public void Many_lazy_commits_do_not_wait_for_the_interval()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        for (var key = 0; key < 100; key++)
            PutLazily(environment, key);
        var statistics = environment.GetStatistics();
        statistics.DurableTransactionId.Should().BeGreaterThan(statistics.PublishedTransactionId - 20, "no more than sixteen records wait");
    }

    [Fact]
    public void A_large_lazy_commit_is_durable()
    {
        var options = Options();
        options.JournaledValueBytes = 0;
        options.JournalCompression = JournalCompression.Never;
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        using var writing = environment.BeginWrite();
        writing.Durability = Durability.Lazy;
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var key = 0; key < 50; key++)
            tree.Put(FaultTestKit.Key(key), FaultTestKit.Value(key, 8_000));
        writing.Commit();
        IsDurable(environment).Should().BeTrue();
    }

    [Fact]
    public void An_idle_consumer_of_a_feed_writes_nothing()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        using (var writing = environment.BeginWrite())
        {
            writing.CreateFeed("feed");
            writing.Commit();
        }

        PutLazily(environment, 1);
        using var reading = environment.BeginRead();
        reading.ReadChanges("feed", ChangePosition.Start, new ChangeBatch()).Should().BeFalse();
        IsDurable(environment).Should().BeFalse("nothing of the feed waits");
    }

    [Fact]
    public void Declared_trees_are_durable()
    {
        var disk = new SimulatedDisk();
        var options = Options(isLazy: true);
        options.Trees.Add("declared");
        using var environment = StorageEnvironment.Open(disk, options);
        IsDurable(environment).Should().BeTrue();
    }

    [Fact]
    public async Task A_lazy_commit_behind_a_durable_one_waits_with_it()
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        PutDurably(environment, 1);
        journal.Hold();
        var durable = Task.Run(() => PutDurably(environment, 2), Cancellation);
        journal.WaitUntilHeld();
        var blocking = Task.Run(() => PutLazily(environment, 3), Cancellation);
        await TestWait.GiveTimeForAsync(() => blocking.IsCompleted);
        var wasAnswered = blocking.IsCompleted;
        var seen = FaultTestKit.Get(environment, 3);
        journal.Release();
        await durable.WaitAsync(TestWait.Limit, Cancellation);
        await blocking.WaitAsync(TestWait.Limit, Cancellation);
        wasAnswered.Should().BeFalse("its changes are not visible before those of the durable commit");
        seen.Should().BeNull();
        FaultTestKit.Get(environment, 3).Should().Equal([3]);
    }

    [Fact]
    public async Task A_group_commit_is_lazy_if_all_its_operations_are()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        PutDurably(environment, 0);
        await RunTogetherAsync(environment, Durability.Lazy, Durability.Lazy);
        Recovered(disk).Should().Equal(0);
        await RunTogetherAsync(environment, Durability.Durable, Durability.Lazy);
        Recovered(disk).Should().Equal(0, 1, 2);
    }

    [Fact]
    public void A_lazy_commit_that_changes_nothing_does_not_wait_for_those_before()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        PutDurably(environment, 1);
        PutLazily(environment, 2);
        using (var writing = environment.BeginWrite())
        {
            writing.Durability = Durability.Lazy;
            writing.Commit();
        }

        Recovered(disk).Should().Equal(1);
    }

    [Fact]
    public void A_failed_write_fails_the_next_caller_and_leaves_a_prefix()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options()))
        {
            PutDurably(environment, 1);
            PutLazily(environment, 2);
            disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed);
            environment.Invoking(next => PutDurably(next, 3)).Should().Throw<EnvironmentPoisonedException>();
            environment.Invoking(next => PutLazily(next, 4)).Should().Throw<EnvironmentPoisonedException>();
            FaultTestKit.Get(environment, 2).Should().Equal([2], "readers keep what was published until the environment is closed");
            using var reading = environment.BeginRead();
            reading.Invoking(snapshot => snapshot.MakeDurable()).Should().Throw<EnvironmentPoisonedException>();
        }

        disk.ClearFaults();
        Recovered(disk).Should().Equal(1);
    }

    [Fact]
    public void A_transaction_has_the_durability_of_its_environment_until_it_is_set()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options(isLazy: true));
        using (var writing = environment.BeginWrite())
        {
            writing.Durability.Should().Be(Durability.Lazy);
            writing.Durability = Durability.Durable;
            writing.CreateTree(FaultTestKit.TreeName);
            writing.Commit();
        }

        IsDurable(environment).Should().BeTrue();
        environment.Write(writing => writing.Durability).Should().Be(Durability.Lazy);
        using var another = environment.BeginWrite();
        another.Durability.Should().Be(Durability.Lazy);
        another.Invoking(writing => writing.Durability = (Durability)2).Should().Throw<ArgumentOutOfRangeException>();
    }

    [Fact]
    public void In_memory_a_lazy_commit_is_a_commit()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        PutLazily(environment, 1);
        IsDurable(environment).Should().BeTrue();
        FaultTestKit.Get(environment, 1).Should().Equal([1]);
    }

    private static StorageOptions Options(bool isLazy = false)
    {
        var options = HeldJournal.Options();
        options.LazyInterval = TimeSpan.FromHours(1);
        options.Durability = isLazy ? Durability.Lazy : Durability.Durable;
        return options;
    }

    private static bool IsDurable(StorageEnvironment environment)
    {
        var statistics = environment.GetStatistics();
        return statistics.DurableTransactionId == statistics.PublishedTransactionId;
    }

    // What the next opening finds if the power fails now: unsynced bytes are lost.
    private static int[] Recovered(SimulatedDisk disk)
    {
        var images = new CrashImages(disk);
        images.StartAt(disk.TraceCount);
        using var environment = StorageEnvironment.Open(images.BuildLost(disk.TraceCount), HeldJournal.Options());
        return [.. Enumerable.Range(0, 10).Where(key => FaultTestKit.Get(environment, key) != null)];
    }

    private static void PutDurably(StorageEnvironment environment, int key) => Commit(environment, key, Durability.Durable);

    private static void PutLazily(StorageEnvironment environment, int key) => Commit(environment, key, Durability.Lazy);

    private static void Commit(StorageEnvironment environment, int key, Durability durability)
    {
        using var writing = environment.BeginWrite();
        Put(writing, key, durability);
        writing.Commit();
    }

    private static void Put(WriteTransaction writing, int key, Durability durability)
    {
        writing.Durability = durability;
        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), [(byte)key]);
    }

    private static async Task PutLazilyAsync(StorageEnvironment environment, Way way, int key)
    {
        switch (way)
        {
            case Way.Commit:
                PutLazily(environment, key);
                break;
            case Way.CommitAsync:
                using (var writing = environment.BeginWrite())
                {
                    Put(writing, key, Durability.Lazy);
                    var task = writing.CommitAsync(Cancellation);
                    task.IsCompletedSuccessfully.Should().BeTrue();
                    await task;
                }

                break;
            case Way.Write:
                environment.Write(writing => Put(writing, key, Durability.Lazy));
                break;
            case Way.WriteAsync:
                await environment.WriteAsync(writing => Put(writing, key, Durability.Lazy), Cancellation);
                break;
            default:
                FaultTestKit.Put(environment, key, [(byte)key]);
                break;
        }
    }

    // The operations wait while the writer is taken, so one transaction has both.
    private static async Task RunTogetherAsync(StorageEnvironment environment, Durability first, Durability second)
    {
        Task[] tasks;
        using (environment.BeginWrite())
        {
            tasks =
            [
                environment.WriteAsync(writing => Put(writing, 1, first), Cancellation).AsTask(),
                environment.WriteAsync(writing => Put(writing, 2, second), Cancellation).AsTask(),
            ];
        }

        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
    }

    private static async Task ConfirmAsync(StorageEnvironment environment, Confirmation confirmation)
    {
        switch (confirmation)
        {
            case Confirmation.Commit:
                PutDurably(environment, 3);
                break;
            case Confirmation.EmptyCommit or Confirmation.EmptyCommitAsync:
                using (var writing = environment.BeginWrite())
                {
                    if (confirmation == Confirmation.EmptyCommit)
                        writing.Commit();
                    else
                        await writing.CommitAsync(Cancellation);
                }

                break;
            case Confirmation.EmptyWrite:
                await environment.WriteAsync(_ => { }, Cancellation);
                break;
            case Confirmation.Flush:
                environment.Flush();
                break;
            case Confirmation.JournalSnapshot:
                environment.Internals.WriteJournalSnapshot().Should().BeTrue();
                break;
            case Confirmation.Backup:
                await environment.BackupAsync(new MemoryStream(), cancellationToken: Cancellation);
                break;
            case Confirmation.ReadOfFeed or Confirmation.NewestPosition or Confirmation.Feeds:
                using (var reading = environment.BeginRead())
                {
                    if (confirmation == Confirmation.ReadOfFeed)
                        reading.ReadChanges("feed", ChangePosition.Start, new ChangeBatch()).Should().BeTrue();
                    else if (confirmation == Confirmation.NewestPosition)
                        reading.GetNewestPosition("feed");
                    else
                        reading.GetFeeds().Should().ContainSingle();
                }

                break;
            case Confirmation.CompactCopy:
                using (var directory = new TemporaryDirectory())
                    await environment.CompactToAsync(Path.Combine(directory.Path, "copy"), cancellationToken: Cancellation);
                break;
            default:
                environment.Dispose();
                break;
        }
    }
}
