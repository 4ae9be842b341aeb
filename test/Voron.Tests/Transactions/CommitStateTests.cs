using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>An object attached to a commit belongs to its state: each snapshot has its own, and what is undone is gone.</summary>
[Quick]
public sealed class CommitStateTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private int Now => CommitStateKit.VersionNow(_environment);

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Fact]
    public void A_transaction_has_what_it_sets_and_readers_have_it_from_the_commit_on()
    {
        using var before = _environment.BeginRead();
        before.TryGetState(CommitStateKit.Key, out var none).Should().BeFalse();
        none.Should().BeNull();
        using (var writing = _environment.BeginWrite())
        {
            CommitStateKit.VersionIn(writing).Should().Be(0);
            CommitStateKit.Set(writing, 1);
            CommitStateKit.VersionIn(writing).Should().Be(1);
            Now.Should().Be(0, "it is not committed");
            writing.Commit();
        }

        Now.Should().Be(1);
        CommitStateKit.VersionIn(before).Should().Be(0, "the snapshot is older");
        FaultTestKit.Put(_environment, 1, [1]);
        Now.Should().Be(1, "a commit that sets none leaves it attached");
        using (var writing = _environment.BeginWrite())
        {
            CommitStateKit.VersionIn(writing).Should().Be(1);
            CommitStateKit.Set(writing, 0);
            CommitStateKit.VersionIn(writing).Should().Be(0);
            writing.Commit();
        }

        Now.Should().Be(0, "it was removed");
    }

    [Fact]
    public void The_object_itself_is_returned()
    {
        var schema = new CommitStateKit.Schema(5);
        using (var writing = _environment.BeginWrite())
        {
            writing.SetState(CommitStateKit.Key, schema);
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.TryGetState(CommitStateKit.Key, out var found).Should().BeTrue();
        found.Should().BeSameAs(schema);
    }

    [Fact]
    public void Keys_are_known_by_their_references_and_each_has_its_own_object()
    {
        CommitStateKey<string>[] keys = [new("same"), new("same"), new("same")];
        using (var writing = _environment.BeginWrite())
        {
            for (var i = 0; i < keys.Length; i++)
                writing.SetState(keys[i], $"{i}");
            writing.SetState(keys[0], "replaced");
            writing.SetState(keys[1], null);
            writing.SetState(keys[1], null);
            writing.Commit();
        }

        using (var reading = _environment.BeginRead())
        {
            reading.TryGetState(keys[0], out var first).Should().BeTrue();
            reading.TryGetState(keys[1], out _).Should().BeFalse();
            reading.TryGetState(keys[2], out var third).Should().BeTrue();
            (first, third).Should().Be(("replaced", "2"));
        }

        keys[0].Name.Should().Be("same");
        keys[0].ToString().Should().Be("same (String)");
        FluentActions.Invoking(() => new CommitStateKey<string>("")).Should().Throw<ArgumentException>().WithParameterName("name");
        FluentActions.Invoking(() => new CommitStateKey<string>(null!)).Should().Throw<ArgumentNullException>().WithParameterName("name");
    }

    [Fact]
    public void A_rollback_undoes_it()
    {
        CommitStateKit.Commit(_environment, 1);
        using (var writing = _environment.BeginWrite())
            CommitStateKit.Set(writing, 2);
        Now.Should().Be(1);
        using (var writing = _environment.BeginWrite())
        {
            CommitStateKit.VersionIn(writing).Should().Be(1);
            writing.Commit();
        }

        Now.Should().Be(1);
    }

    [Fact]
    public void Savepoints_and_nested_transactions_undo_it_or_keep_it()
    {
        using (var writing = _environment.BeginWrite())
        {
            CommitStateKit.Set(writing, 1);
            using var savepoint = writing.CreateSavepoint();
            CommitStateKit.Set(writing, 2);
            using (writing.BeginNested())
                CommitStateKit.Set(writing, 3);
            CommitStateKit.VersionIn(writing).Should().Be(2, "the nested transaction was not committed");
            using (var nested = writing.BeginNested())
            {
                CommitStateKit.Set(writing, 4);
                nested.Commit();
            }

            CommitStateKit.VersionIn(writing).Should().Be(4, "the nested transaction was committed");
            savepoint.Rollback();
            CommitStateKit.VersionIn(writing).Should().Be(1);
            CommitStateKit.Set(writing, 0);
            savepoint.Rollback();
            CommitStateKit.VersionIn(writing).Should().Be(1, "a removal is undone too");
            CommitStateKit.Set(writing, 5);
            savepoint.Release();
            writing.Commit();
        }

        Now.Should().Be(5);
    }

    [Fact]
    public void A_savepoint_before_the_first_object_undoes_it_and_nothing_is_committed()
    {
        var id = _environment.GetStatistics().PublishedTransactionId;
        using (var writing = _environment.BeginWrite())
        {
            using var savepoint = writing.CreateSavepoint();
            CommitStateKit.Set(writing, 1);
            savepoint.Rollback();
            writing.Commit();
        }

        Now.Should().Be(0);
        _environment.GetStatistics().PublishedTransactionId.Should().Be(id);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_operation_that_fails_amid_a_batch_leaves_nothing_attached(bool putsFirst)
    {
        FaultTestKit.Put(_environment, 0, [0]);
        var seen = -1;
        Task first, failing, last;
        using (_environment.BeginWrite())
        {
            first = _environment.WriteAsync(writing => Both(writing, 1), Cancellation).AsTask();
            failing = _environment.WriteAsync(
                writing =>
                {
                    if (putsFirst)
                        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
                    CommitStateKit.VersionIn(writing).Should().Be(1, "the batch is one transaction");
                    CommitStateKit.Set(writing, 2);
                    throw new OperationCanceledException("as planned");
                },
                Cancellation).AsTask();
            last = _environment.WriteAsync(
                writing =>
                {
                    seen = CommitStateKit.VersionIn(writing);
                    writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), [3]);
                },
                Cancellation).AsTask();
        }

        (await Record.ExceptionAsync(() => failing)).Should().BeOfType<OperationCanceledException>().Which.Message.Should().Be("as planned");
        await first;
        await last;
        seen.Should().Be(1);
        Now.Should().Be(1);
        FaultTestKit.Get(_environment, 1).Should().Equal(1);
        FaultTestKit.Get(_environment, 2).Should().BeNull();
        FaultTestKit.Get(_environment, 3).Should().Equal(3);
        _environment.GetStatistics().CommittedTransactions.Should().Be(2, "the batch was one transaction");
    }

    [Fact]
    public void An_operation_that_only_sets_it_fails_alone()
    {
        CommitStateKit.Commit(_environment, 1);
        _environment.Invoking(open => open.Write(writing =>
        {
            CommitStateKit.Set(writing, 2);
            throw new InvalidDataException();
        })).Should().Throw<InvalidDataException>();
        Now.Should().Be(1);
        _environment.Write(writing => CommitStateKit.Set(writing, 3));
        Now.Should().Be(3);
    }

    [Fact]
    public void A_transaction_that_sets_nothing_else_is_committed_and_one_that_sets_the_same_object_is_empty()
    {
        FaultTestKit.Put(_environment, 0, [0]);
        var before = _environment.GetStatistics();
        CommitStateKit.Commit(_environment, 1);
        var after = _environment.GetStatistics();
        after.PublishedTransactionId.Should().Be(before.PublishedTransactionId + 1);
        after.CommittedTransactions.Should().Be(before.CommittedTransactions + 1);
        using (var writing = _environment.BeginWrite())
        {
            writing.TryGetState(CommitStateKit.Key, out var schema).Should().BeTrue();
            writing.SetState(CommitStateKit.Key, schema);
            writing.Commit();
        }

        _environment.GetStatistics().PublishedTransactionId.Should().Be(after.PublishedTransactionId);
    }

    [Fact]
    public void A_broken_transaction_refuses_it_until_it_is_rolled_back_to_a_savepoint()
    {
        using var writing = _environment.BeginWrite();
        using var savepoint = writing.CreateSavepoint();
        writing.Body.Context.Break(new IOException("as planned"));
        writing.Invoking(broken => CommitStateKit.Set(broken, 1)).Should().Throw<InvalidOperationException>().WithMessage("*as planned*rolled back*");
        CommitStateKit.VersionIn(writing).Should().Be(0);
        savepoint.Rollback();
        CommitStateKit.Set(writing, 1);
        writing.Commit();
        Now.Should().Be(1);
    }

    [Fact]
    public void Snapshots_and_their_forks_keep_theirs_over_a_thousand_commits()
    {
        var readings = new List<ReadTransaction>();
        for (var version = 1; version <= 1_000; version++)
        {
            _environment.Write(version, static (writing, version) => Both(writing, version));
            if (version % 100 == 50)
                readings.Add(_environment.BeginRead());
            if (version % 100 == 0)
                _environment.Flush();
        }

        _environment.Internals.TrimMemory();
        var expected = 50;
        foreach (var reading in readings)
        {
            CommitStateKit.VersionIn(reading).Should().Be(expected);
            var fork = reading.Fork();
            reading.Dispose();
            reading.Invoking(ended => CommitStateKit.VersionIn(ended)).Should().Throw<ObjectDisposedException>();
            CommitStateKit.VersionIn(fork).Should().Be(expected);
            fork.OpenTree(FaultTestKit.TreeName).Get(FaultTestKit.Key(expected)).Should().Equal((byte)expected);
            fork.Dispose();
            expected += 100;
        }

        Now.Should().Be(1_000);
    }

    // The object and the data that it belongs to change together.
    private static void Both(WriteTransaction writing, int version)
    {
        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(version), [(byte)version]);
        CommitStateKit.Set(writing, version);
    }
}
