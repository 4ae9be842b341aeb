using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>A staged value follows the transaction that has put it: it stays with a commit, and is ready again after a rollback.</summary>
[Quick]
public sealed class StagingTransactionTests : IDisposable
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private readonly SimulatedDisk _disk = new();
    private readonly StorageEnvironment _environment;

    public StagingTransactionTests()
    {
        _environment = StagingTestKit.Open(_disk);
        FaultTestKit.Put(_environment, 1000, [1]);
    }

    public static TheoryData<int> Lengths => [10, StagingTestKit.Large, 300_000];

    public void Dispose() => _environment.Dispose();

    [Theory]
    [MemberData(nameof(Lengths))]
    public void After_a_rollback_it_can_be_put_again(int length)
    {
        using var staged = StagingTestKit.Stage(_environment, 1, length);
        for (var round = 0; round < 3; round++)
        {
            using var writing = _environment.BeginWrite();
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(round), staged);
            staged.State.Should().Be(StagedValueState.InTransaction);
            writing.Dispose();
            staged.State.Should().Be(StagedValueState.Ready);

            // Others use free space meanwhile.
            FaultTestKit.Put(_environment, 100 + round, FaultTestKit.Value(round, 400_000));
        }

        StagingTestKit.Put(_environment, 5, staged);
        StagingTestKit.Check(_environment, 5, 1, length);
        for (var round = 0; round < 3; round++)
            FaultTestKit.Get(_environment, round).Should().BeNull();
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_savepoint_returns_the_values_that_were_put_after_it(int length)
    {
        using var before = StagingTestKit.Stage(_environment, 1, length);
        using var within = StagingTestKit.Stage(_environment, 2, length);
        using var released = StagingTestKit.Stage(_environment, 3, length);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), before);
            var savepoint = writing.CreateSavepoint();
            tree.Put(FaultTestKit.Key(2), within);
            using (var inner = writing.CreateSavepoint())
            {
                tree.Put(FaultTestKit.Key(3), released);
                inner.Release();
            }

            released.State.Should().Be(StagedValueState.InTransaction);
            savepoint.Rollback();
            before.State.Should().Be(StagedValueState.InTransaction);
            within.State.Should().Be(StagedValueState.Ready);
            released.State.Should().Be(StagedValueState.Ready);
            tree.Put(FaultTestKit.Key(4), within);
            savepoint.Release();
            writing.Commit();
        }

        StagingTestKit.Check(_environment, 1, 1, length);
        StagingTestKit.Check(_environment, 4, 2, length);
        FaultTestKit.Get(_environment, 2).Should().BeNull();
        FaultTestKit.Get(_environment, 3).Should().BeNull();
        StagingTestKit.Put(_environment, 3, released);
        StagingTestKit.Check(_environment, 3, 3, length);
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void A_nested_transaction_that_is_not_committed_returns_it(int length)
    {
        using var staged = StagingTestKit.Stage(_environment, 1, length);
        using var writing = _environment.BeginWrite();
        using (writing.BeginNested())
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), staged);
        staged.State.Should().Be(StagedValueState.Ready);
        using (var nested = writing.BeginNested())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), staged);
            nested.Commit();
        }

        staged.State.Should().Be(StagedValueState.InTransaction);
        writing.Commit();
        FaultTestKit.Get(_environment, 1).Should().BeNull();
        StagingTestKit.Check(_environment, 2, 1, length);
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Disposing_it_within_the_transaction_leaves_the_value_to_the_transaction(int length)
    {
        var committed = StagingTestKit.Stage(_environment, 1, length);
        using (var writing = _environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), committed);
            committed.Dispose();
            committed.State.Should().Be(StagedValueState.Disposed);
            writing.Commit();
        }

        StagingTestKit.Check(_environment, 1, 1, length);

        var rolledBack = StagingTestKit.Stage(_environment, 2, length);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            var savepoint = writing.CreateSavepoint();
            tree.Put(FaultTestKit.Key(2), rolledBack);
            rolledBack.Dispose();
            savepoint.Rollback();
            tree.Invoking(t => t.Put(FaultTestKit.Key(2), rolledBack)).Should().Throw<ObjectDisposedException>();
            writing.Commit();
        }

        FaultTestKit.Get(_environment, 2).Should().BeNull();
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Fact]
    public void A_value_that_its_transaction_deletes_again_leaves_free_pages()
    {
        foreach (var commits in new[] { false, true })
        {
            using var staged = StagingTestKit.Stage(_environment, 1, 300_000);
            using (var writing = _environment.BeginWrite())
            {
                var tree = writing.OpenTree(FaultTestKit.TreeName);
                tree.Put(FaultTestKit.Key(1), staged);
                tree.Put(FaultTestKit.Key(1), FaultTestKit.Value(2, 200_000));
                tree.Delete(FaultTestKit.Key(1)).Should().BeTrue();
                if (commits)
                    writing.Commit();
            }

            staged.State.Should().Be(commits ? StagedValueState.Committed : StagedValueState.Ready);
        }

        StagingTestKit.CheckUnreserved(_environment);
    }

    [Fact]
    public void An_operation_of_a_group_commit_that_is_run_again_puts_it_again()
    {
        using var staged = StagingTestKit.Stage(_environment, 1, 300_000);
        using var failed = StagingTestKit.Stage(_environment, 2, 300_000);
        var runs = 0;
        var tasks = new List<Task>();
        using (_environment.BeginWrite())
        {
            tasks.Add(_environment.WriteAsync(writing => writing.CreateTree("other").Put("a"u8, "b"u8), Cancellation).AsTask());
            tasks.Add(_environment.WriteAsync(writing =>
            {
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), staged);

                // With its neighbours, the operation has no room: it is undone, and comes first in the next transaction.
                if (runs++ == 0)
                    throw new StorageFullException("There is no room beside the neighbour.");
            }, Cancellation).AsTask());
            tasks.Add(_environment.WriteAsync(writing =>
            {
                writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), failed);
                if (failed.State == StagedValueState.InTransaction)
                    throw new InvalidOperationException("The operation changes its mind.");
            }, Cancellation).AsTask());
        }

        StagingTestKit.Wait(tasks[0]);
        StagingTestKit.Wait(tasks[1]);
        FluentActions.Invoking(() => StagingTestKit.Wait(tasks[2])).Should().Throw<InvalidOperationException>().WithMessage("*changes its mind*");
        runs.Should().Be(2);
        staged.State.Should().Be(StagedValueState.Committed);
        failed.State.Should().Be(StagedValueState.Ready);
        StagingTestKit.Put(_environment, 2, failed);
        StagingTestKit.Check(_environment, 1, 1, 300_000);
        StagingTestKit.Check(_environment, 2, 2, 300_000);
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Fact]
    public void A_commit_that_finds_no_room_returns_it()
    {
        using var staged = StagingTestKit.Stage(_environment, 1, 300_000);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), staged);
            for (var i = 0; i < 200; i++)
                tree.Put(FaultTestKit.Key(10_000 + i), FaultTestKit.Value(i, 3_000));
            _disk.SpaceLimit = _disk.UsedBytes;
            writing.Invoking(w => w.Commit()).Should().Throw<StorageFullException>();
        }

        _disk.SpaceLimit = long.MaxValue;
        staged.State.Should().Be(StagedValueState.Ready);
        StagingTestKit.Put(_environment, 1, staged);
        StagingTestKit.Check(_environment, 1, 1, 300_000);
        StagingTestKit.CheckUnreserved(_environment);
    }

    [Fact]
    public void A_commit_of_unknown_outcome_keeps_it()
    {
        using var staged = StagingTestKit.Stage(_environment, 1, 300_000);
        using (var writing = _environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), staged);
            _disk.FailNext(call => call.Kind == DiskCallKind.Write, Voron.IO.DiskError.Failed);
            writing.Invoking(w => w.Commit()).Should().Throw<EnvironmentPoisonedException>();
        }

        staged.State.Should().Be(StagedValueState.Committed, "the record may be durable, and this environment takes no more writes");
        _environment.Invoking(e => e.StageAsync(Stream.Null)).Should().Throw<EnvironmentPoisonedException>();
        staged.Dispose();
        _environment.Dispose();
        using var reopened = StagingTestKit.Open(_disk);
        if (FaultTestKit.Get(reopened, 1) != null)
            StagingTestKit.Check(reopened, 1, 1, 300_000);
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_transaction_that_was_never_ended_returns_it()
    {
        using var staged = StagingTestKit.Stage(_environment, 1, 300_000);
        Leak(staged);
        StagingTestKit.WaitUntil(
            () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return staged.State == StagedValueState.Ready;
            },
            "the leaked transaction is rolled back");
        StagingTestKit.Put(_environment, 2, staged);
        StagingTestKit.Check(_environment, 2, 1, 300_000);
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private void Leak(StagedValue staged) =>
        _environment.BeginWrite().OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), staged);

    /// <summary>Whichever of the two comes first, the value is either there whole or gone, and its space is used once.</summary>
    [Fact]
    public void Another_thread_may_dispose_it_during_the_put()
    {
        for (var round = 0; round < SuiteShare.Rounds(200); round++)
        {
            var staged = StagingTestKit.Stage(_environment, round, 20_000);
            using var start = new Barrier(2);
            var disposing = new TestThread(() =>
            {
                start.SignalAndWait(Cancellation);
                staged.Dispose();
            });
            var isPut = true;
            using (var writing = _environment.BeginWrite())
            {
                var tree = writing.OpenTree(FaultTestKit.TreeName);
                start.SignalAndWait(Cancellation);
                try
                {
                    tree.Put(FaultTestKit.Key(1), staged);
                }
                catch (ObjectDisposedException)
                {
                    isPut = false;
                }

                if (round % 2 == 0)
                    writing.Commit();
                else
                    isPut = false;
            }

            disposing.Join().Should().BeNull();
            if (isPut)
                StagingTestKit.Check(_environment, 1, round, 20_000);
        }

        StagingTestKit.CheckUnreserved(_environment);
    }
}
