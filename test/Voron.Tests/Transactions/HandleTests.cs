using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// Handles that are used after the end of their owner, and transactions that end with a nested transaction or a savepoint open inside.
/// </summary>
[Quick]
public sealed class HandleTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_cursor_has_no_key_when_its_entry_has_been_deleted()
    {
        using var writing = _environment.BeginWrite();
        var tree = Filled(writing, "t");
        using var cursor = tree.OpenCursor();
        cursor.SeekExact([5]).Should().BeTrue();
        tree.Put([6], [60]);
        cursor.Key.ToArray().Should().Equal(5);
        tree.Delete([5]).Should().BeTrue();
        cursor.IsOnEntry.Should().BeFalse();
        FluentActions.Invoking(() => cursor.Key.Length).Should().Throw<InvalidOperationException>().WithMessage("*entry*");
        FluentActions.Invoking(() => cursor.Value.Length).Should().Throw<InvalidOperationException>().WithMessage("*entry*");
        tree.Put([5], [50]);
        cursor.Key.ToArray().Should().Equal([5], "an entry with this key exists again");
        cursor.Delete().Should().BeTrue();
        FluentActions.Invoking(() => cursor.Key.Length).Should().Throw<InvalidOperationException>();
        cursor.MoveNext().Should().BeTrue();
        cursor.Key.ToArray().Should().Equal(6);
    }

    [Fact]
    public void A_cursor_of_a_deleted_tree_throws_as_the_handle_of_the_tree_does()
    {
        using var writing = _environment.BeginWrite();
        var tree = Filled(writing, "doomed");
        var cursor = tree.OpenCursor();
        cursor.SeekExact([5]).Should().BeTrue();
        var savepoint = writing.CreateSavepoint();
        writing.DeleteTree("doomed").Should().BeTrue();
        Deleted(
            () => cursor.MoveNext(),
            () => cursor.MovePrevious(),
            () => cursor.SeekFirst(),
            () => cursor.SeekLast(),
            () => cursor.Seek([1]),
            () => cursor.SeekExact([1]),
            () => cursor.SeekForPrevious([1]),
            () => _ = cursor.IsOnEntry,
            () => _ = cursor.Key.Length,
            () => _ = cursor.Value.Length,
            () => _ = cursor.ValueLength,
            () => cursor.Delete(),
            () => _ = tree.Count,
            () => tree.Put([1], [1]),
            () => tree.OpenCursor());
        Filled(writing, "doomed");
        Deleted(() => cursor.MoveNext());
        savepoint.Rollback();
        cursor.Key.ToArray().Should().Equal([5], "the tree exists again, as it was");
        cursor.MoveNext().Should().BeTrue();
        writing.DeleteTree("doomed").Should().BeTrue();
        cursor.Dispose();
        FluentActions.Invoking(() => cursor.MoveNext()).Should().Throw<ObjectDisposedException>();
        writing.Commit();
    }

    [Fact]
    public async Task A_commit_is_refused_while_a_nested_transaction_is_open()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = Filled(writing, "t");
            var nested = writing.BeginNested();
            tree.Put([1], [100]);
            FluentActions.Invoking(() => writing.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*nested transaction*");
            await FluentActions.Awaiting(() => writing.CommitAsync(Cancellation).AsTask())
                .Should().ThrowAsync<InvalidOperationException>().WithMessage("*nested transaction*");
            tree.Put([2], [100]);
            nested.Dispose();
            nested = writing.BeginNested();
            tree.Put([3], [100]);
            nested.Commit();
            writing.Commit();
        }

        Value("t", 1).Should().Equal([1], "that nested transaction was not committed");
        Value("t", 2).Should().Equal(2);
        Value("t", 3).Should().Equal(100);
    }

    [Fact]
    public void An_enclosing_transaction_does_not_keep_the_changes_of_a_nested_one_either()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = Filled(writing, "t");
            var outer = writing.BeginNested();
            tree.Put([1], [100]);
            var inner = writing.BeginNested();
            tree.Put([2], [100]);
            FluentActions.Invoking(() => outer.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*nested transaction*");
            inner.Commit();
            outer.Commit();

            var savepoint = writing.CreateSavepoint();
            tree.Put([3], [100]);
            var left = writing.BeginNested();
            tree.Put([4], [100]);
            FluentActions.Invoking(() => savepoint.Release()).Should().Throw<InvalidOperationException>().WithMessage("*nested transaction*");
            savepoint.Dispose();
            FluentActions.Invoking(() => left.Commit()).Should().Throw<InvalidOperationException>("it ended with the savepoint");
            writing.Commit();
        }

        Value("t", 1).Should().Equal(100);
        Value("t", 2).Should().Equal(100);
        Value("t", 3).Should().Equal(100);
        Value("t", 4).Should().Equal([4], "the nested transaction inside the savepoint was never committed");
    }

    [Fact]
    public void A_savepoint_left_open_is_no_nested_transaction()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = Filled(writing, "t");
            _ = writing.CreateSavepoint();
            tree.Put([1], [100]);
            var nested = writing.BeginNested();
            _ = writing.CreateSavepoint();
            tree.Put([2], [100]);
            nested.Commit();
            writing.Commit();
        }

        Value("t", 1).Should().Equal(100);
        Value("t", 2).Should().Equal(100);
    }

    [Fact]
    public async Task A_group_commit_operation_that_leaves_a_nested_transaction_open_fails_alone()
    {
        Task left, good;
        using (_environment.BeginWrite())
        {
            left = _environment.WriteAsync(
                transaction =>
                {
                    Filled(transaction, "left");
                    _ = transaction.BeginNested();
                    transaction.CreateTree("inside");
                },
                Cancellation).AsTask();
            good = _environment.WriteAsync(transaction => Filled(transaction, "good"), Cancellation).AsTask();
        }

        await FluentActions.Awaiting(() => left.WaitAsync(TestWait.Limit, Cancellation))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*nested transaction*");
        await good.WaitAsync(TestWait.Limit, Cancellation);
        using var reading = _environment.BeginRead();
        reading.GetTreeNames().Should().Equal("good");
    }

    [Fact]
    public async Task Handles_that_escape_a_group_commit_operation_do_nothing_in_a_later_one()
    {
        using (var writing = _environment.BeginWrite())
        {
            Filled(writing, "t");
            writing.Commit();
        }

        WriteTransaction escaped = default;
        WriteTree tree = default;
        Cursor cursor = default;
        Stream? stream = null;
        Savepoint savepoint = default;
        var batch = new LookupBatch();
        batch.Add([1]);
        Task[] tasks;
        using (_environment.BeginWrite())
        {
            tasks =
            [
                _environment.WriteAsync(
                    transaction =>
                    {
                        escaped = transaction;
                        tree = transaction.OpenTree("t");
                        tree.TryOpenStream([1], out stream).Should().BeTrue();
                        tree.GetMany(batch).Should().Be(1);
                        cursor = tree.OpenCursor();
                        cursor.SeekFirst().Should().BeTrue();
                        savepoint = transaction.CreateSavepoint();
                    },
                    Cancellation).AsTask(),
                _environment.WriteAsync(
                    transaction =>
                    {
                        var own = transaction.OpenTree("t");
                        own.Put([7], [70]);
                        Ended(
                            () => tree.Put([1], [100]),
                            () => tree.Insert([101], [100]),
                            () => tree.Reserve([1], 1),
                            () => tree.Delete([1]),
                            () => tree.TryGet([1], out _),
                            () => tree.OpenCursor(),
                            () => tree.PutAsync(new byte[] { 1 }, new MemoryStream()).AsTask().GetAwaiter().GetResult(),
                            () => cursor.MoveNext(),
                            () => cursor.Delete(),
                            () => _ = cursor.Key.Length,
                            () => stream!.ReadByte(),
                            () => batch.TryGetValue(0, out _));
                        Ended(escaped);
                        FluentActions.Invoking(() => savepoint.Rollback()).Should().Throw<InvalidOperationException>();
                        escaped.Dispose();
                        cursor.Dispose();
                        own.Put([8], [80]);
                        own.Count.Should().Be(9);
                    },
                    Cancellation).AsTask(),
            ];
        }

        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation);
        Value("t", 1).Should().Equal(1);
        Value("t", 7).Should().Equal(70);
        Value("t", 8).Should().Equal(80);
    }

    private static void Deleted(params Action[] calls)
    {
        foreach (var call in calls)
            call.Should().Throw<InvalidOperationException>().WithMessage("*'doomed'*deleted*");
    }

    private static void Ended(WriteTransaction escaped) => Ended(
        () => escaped.CreateTree("never"),
        () => escaped.OpenTree("t"),
        () => escaped.DeleteTree("t"),
        () => escaped.RenameTree("t", "u"),
        () => escaped.GetTreeNames(),
        () => escaped.BeginNested(),
        () => escaped.CreateSavepoint(),
        () => _ = escaped.TransactionId);

    private static void Ended(params Action[] calls)
    {
        foreach (var call in calls)
            call.Should().Throw<ObjectDisposedException>();
    }

    private static WriteTree Filled(WriteTransaction writing, string name)
    {
        var tree = writing.CreateTree(name);
        for (byte i = 1; i < 10; i++)
            tree.Put([i], [i]);
        return tree;
    }

    private byte[]? Value(string tree, byte key)
    {
        using var reading = _environment.BeginRead();
        return reading.OpenTree(tree).TryGet([key], out var value) ? value.ToArray() : null;
    }
}
