using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Closing while operations of other threads are under way: a slow write, open transactions, space being returned.</summary>
public sealed class ClosingRaceTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_poisoned_environment_is_not_closed_before_the_journal_write_under_way_has_ended(bool callerLeads)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(
            disk, new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20, MaxJournalFileBytes = 1 << 20 });
        FaultTestKit.Put(environment, 0, [0]);
        using var write = new HeldWrite(disk, "journal");
        var committing = Start(() =>
        {
            using var writing = environment.BeginWrite();
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), [1]);
            if (callerLeads)
                writing.Commit();
            else
                writing.CommitAsync(CancellationToken.None).AsTask().GetAwaiter().GetResult();
        });
        write.WaitUntilHeld();

        // Growing the data file fails in its sync while the commit is being written.
        disk.FailNext(call => call.Kind == DiskCallKind.Sync && call.Name == "voron.data", DiskError.Failed);
        using (var growing = environment.BeginWrite())
        {
            var grow = () => growing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(9), FaultTestKit.Value(9, 3_000_000));
            grow.Should().Throw<EnvironmentPoisonedException>();
        }

        var closing = Start(environment.Dispose);
        closing.WaitUntilBlockedOrEnded();
        closing.HasEnded.Should().BeFalse("a write is under way");
        disk.HeldLocks.Should().BePositive();
        write.Release();
        closing.Join();
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        committing.Join().Should().BeNull("its record is durable, and was before the closing ended");
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(1);
    }

    [Fact]
    public void A_flush_inside_a_write_transaction_ends_while_space_is_being_reclaimed()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, [0]);
        using var writing = environment.BeginWrite();
        var reclaiming = Start(() => environment.ReclaimSpace());
        reclaiming.WaitUntilBlockedOrEnded();
        var flushing = Start(() => environment.Flush());
        flushing.Join().Should().BeNull();
        writing.Dispose();
        reclaiming.Join().Should().BeNull();
    }

    [Fact]
    public void Reclaiming_space_fails_while_a_write_transaction_is_open_and_names_it()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, [0]);
        using var writing = environment.BeginWrite();
        environment.Invoking(busy => busy.ReclaimSpace()).Should().Throw<TimeoutException>().WithMessage("*rite transaction 2 has been open for*");
    }

    [Fact]
    public void Closing_ends_although_the_flusher_s_thread_reclaims_space_and_a_write_transaction_is_open()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions
        {
            FlushInterval = TimeSpan.FromMilliseconds(1),
            ReclaimInterval = TimeSpan.FromMilliseconds(1),
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
        };
        var environment = StorageEnvironment.Open(disk, options);
        var value = FaultTestKit.Value(1, 6_000_000);
        FaultTestKit.Put(environment, 1, value);
        using (var deleting = environment.BeginWrite())
        {
            deleting.OpenTree(FaultTestKit.TreeName).Delete(FaultTestKit.Key(1));
            deleting.Commit();
        }

        using var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);

        // The flusher finishes its flush, and then begins to return space.
        TestWait.Until(() => environment.GetStatistics() is var now && now.CheckpointTransactionId == now.PublishedTransactionId);
        var closing = Start(environment.Dispose);
        closing.Join().Should().BeNull();
    }

    [Fact]
    public void The_lock_goes_with_the_last_transaction_of_a_closed_environment_and_opening_names_them_until_then()
    {
        using var directory = new TestDirectory();
        var options = new StorageOptions { BackgroundFlush = false, CaptureTransactionStacks = true };
        var environment = StorageEnvironment.Open(directory, options);
        FaultTestKit.Put(environment, 1, [1]);
        var reading = environment.BeginRead();
        var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
        environment.Dispose();

        var open = () => StorageEnvironment.Open(directory, options);
        var message = open.Should().Throw<EnvironmentInUseException>().Which.Message;
        message.Should().Contain("1 read transaction").And.Contain("write transaction 2");
        message.Should().Contain(nameof(The_lock_goes_with_the_last_transaction_of_a_closed_environment_and_opening_names_them_until_then));
        reading.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();
        reading.Dispose();
        open.Should().Throw<EnvironmentInUseException>().WithMessage("*write transaction 2*").Which.Message.Should().NotContain("read transaction");

        // A transaction that was not committed before the closing can no longer be committed.
        writing.Invoking(late => late.Commit()).Should().Throw<ObjectDisposedException>();
        using var reopened = open();
        FaultTestKit.Get(reopened, 1).Should().Equal(1);
        FaultTestKit.Get(reopened, 2).Should().BeNull();
    }

    [Fact]
    public void A_transaction_that_is_open_at_the_closing_can_be_disposed_afterwards_and_everything_goes_with_it()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var writing = environment.BeginWrite();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), FaultTestKit.Value(2, 100_000));
        environment.Dispose();
        disk.HeldLocks.Should().BePositive();
        writing.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(2), out var value).Should().BeTrue();
        value.SequenceEqual(FaultTestKit.Value(2, 100_000)).Should().BeTrue();
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), FaultTestKit.Value(3, 3000));
        writing.Dispose();
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        disk.LiveMaps.Should().Be(0);
    }

    [Fact]
    public void Closing_the_environment_fails_the_callers_that_wait_for_the_writer()
    {
        var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        var writing = environment.BeginWrite();
        var waiting = Start(() => environment.BeginWrite().Dispose());
        waiting.WaitUntilBlockedOrEnded();
        var submitted = environment.WriteAsync(transaction => transaction.CreateTree("t"), CancellationToken.None).AsTask();
        environment.Dispose();
        waiting.Join().Should().BeOfType<ObjectDisposedException>();
        submitted.Invoking(task => task.Wait(TestWait.Limit, Cancellation)).Should().Throw<ObjectDisposedException>();
        writing.Dispose();
    }

    [Fact]
    public async Task Closing_inside_a_group_commit_operation_is_refused()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        var closing = environment.WriteAsync(_ => environment.Dispose(), Cancellation).AsTask();
        await closing.Awaiting(task => task.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<InvalidOperationException>()
            .WithMessage("*Dispose*inside a group-commit operation*");
        FaultTestKit.Put(environment, 1, [1]);
        FaultTestKit.Get(environment, 1).Should().Equal(1);
    }

    [Fact]
    public async Task Beginning_a_write_without_blocking_waits_for_back_pressure_without_blocking()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            FlushThresholdBytes = 64 << 10,
            JournalLimitBytes = 1 << 20,
            TornPageProtection = TornPageProtection.Checksums,
            ScratchMemoryBytes = 4 << 20,
            ScratchLimitBytes = 4 << 20,
        });

        // Page versions that a reader holds are no longer needed by the data file, but stay in scratch memory.
        FaultTestKit.Put(environment, 0, [0]);
        using var reading = environment.BeginRead();
        for (var i = 0; environment.GetStatistics().ScratchBytes <= 4 << 20; i++)
        {
            using var writing = environment.BeginWrite();
            for (var at = 0; at < 100; at++)
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key((i * 100) + at), FaultTestKit.Value(at, 10_000));
            writing.Commit();
        }

        var beginning = environment.BeginWriteAsync(Cancellation);
        var hasBlocked = beginning.IsCompleted;
        (await beginning).Dispose();
        hasBlocked.Should().BeFalse("back-pressure delays the writer, and the call must not block its thread for that");
    }

    private static TestThread Start(Action action) => new(action);

    /// <summary>Holds the first write-through write to a file whose name begins with a prefix.</summary>
    private sealed class HeldWrite : IDisposable
    {
        private readonly SimulatedDisk _disk;
        private readonly ManualResetEventSlim _isHeld = new();
        private readonly ManualResetEventSlim _mayGoOn = new();

        public HeldWrite(SimulatedDisk disk, string name)
        {
            _disk = disk;
            disk.InProgress = entry =>
            {
                if (entry.Kind != TraceKind.Write || !disk.NameOf(entry).StartsWith(name, StringComparison.Ordinal) || _isHeld.IsSet)
                    return;
                _isHeld.Set();
                _mayGoOn.Wait(TestWait.Limit).Should().BeTrue();
            };
        }

        public void WaitUntilHeld() => _isHeld.Wait(TestWait.Limit, Cancellation).Should().BeTrue();

        public void Release() => _mayGoOn.Set();

        public void Dispose()
        {
            _mayGoOn.Set();
            _disk.InProgress = null;
        }
    }
}
