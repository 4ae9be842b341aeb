using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <summary>
/// Every public member of every handle, used before its beginning and after each kind of end: the exception is the same everywhere, and names
/// what has ended. A member without a row in <see cref="HandleTable"/> fails.
/// </summary>
public sealed partial class EndedHandleTests
{
    private static readonly Dictionary<Outcome, string> Messages = new()
    {
        [Outcome.TransactionEnded] = "The transaction has ended.",
        [Outcome.TreeClosed] = "The tree is closed.",
        [Outcome.CursorClosed] = "The cursor is closed.",
        [Outcome.QueryEnded] = "The query has ended.",
        [Outcome.StreamClosed] = "The stream is closed.",
        [Outcome.ValueWriterEnded] = "The value writer has ended.",
        [Outcome.LoadEnded] = "The bulk load has ended.",
        [Outcome.SavepointEnded] = "The savepoint has ended.",
        [Outcome.NestedEnded] = "The nested transaction has ended.",
        [Outcome.EnvironmentClosed] = "The environment in 'memory' is closed.",
    };

    [Fact]
    public void Every_public_member_of_a_handle_has_a_row()
    {
        Covers<ReadTransaction>(HandleTable.ReadTransaction);
        Covers<WriteTransaction>(HandleTable.WriteTransaction);
        Covers<Tree>(HandleTable.Tree);
        Covers<WriteTree>(HandleTable.WriteTree);
        Covers<Cursor>(HandleTable.Cursor);
        Covers<FixedTree>(HandleTable.FixedTree);
        Covers<FixedTree<long>>(HandleTable.TypedTree);
        Covers<WriteFixedTree>(HandleTable.WriteFixedTree);
        Covers<WriteFixedTree<long>>(HandleTable.TypedWriteTree);
        Covers<FixedCursor>(HandleTable.FixedCursor);
        Covers<IdTree>(HandleTable.IdTree);
        Covers<WriteIdTree>(HandleTable.WriteIdTree);
        Covers<IdCursor>(HandleTable.IdCursor);
        Covers<ValueSetTree>(HandleTable.ValueSetTree);
        Covers<WriteValueSetTree>(HandleTable.WriteValueSetTree);
        Covers<ValueCursor>(HandleTable.ValueCursor);
        Covers<ValueSetCursor>(HandleTable.ValueSetCursor);
        Covers<IdKeyCursor>(HandleTable.IdKeyCursor);
        Covers<IdQuery>(HandleTable.IdQuery);
        Covers<Table<string, Item>>(HandleTable.Table);
        Covers<WriteTable<string, Item>>(HandleTable.WriteTable);
        Covers<RowQuery<Item>>(HandleTable.RowQuery);
        Covers<SharedIndexQuery>(HandleTable.SharedIndexQuery);
        Covers<Savepoint>(HandleTable.Savepoint);
        Covers<NestedTransaction>(HandleTable.NestedTransaction);
        Covers<LookupBatch>(HandleTable.LookupBatch);
        Covers<StorageEnvironment>(HandleTable.StorageEnvironment);
        HandleMembers.Of(typeof(ValueStream)).Should().BeEquivalentTo(HandleTable.Stream.Select(row => row.Member));
        Covers<TreeRange>(HandleTable.TreeRange);
        Covers<TreeRange.Enumerator>(HandleTable.Enumerator);
        Covers<TreeEntry>(HandleTable.TreeEntry);
        Covers<ValueWriter>(HandleTable.ValueWriter);
        Covers<StagedValue>(HandleTable.StagedValue);
        Covers<BulkLoad>(HandleTable.BulkLoad);
        Covers<TableBulkLoad<Item>>(HandleTable.TableBulkLoad);
    }

    [Fact]
    public void A_default_handle_says_that_it_was_never_begun()
    {
        Check(HandleTable.ReadTransaction, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteTransaction, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.Tree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.Cursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.FixedTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.TypedTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteFixedTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.TypedWriteTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.FixedCursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.IdTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteIdTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.IdCursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.ValueSetTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteValueSetTree, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.ValueCursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.ValueSetCursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.IdKeyCursor, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.Table, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.WriteTable, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.Savepoint, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.NestedTransaction, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.TreeRange, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.Enumerator, default, HandleState.Default, Outcome.NeverBegun);
        Check(HandleTable.ValueWriter, default, HandleState.Default, Outcome.NeverBegun);
    }

    [Fact]
    public void While_they_are_open_all_members_work()
    {
        using var environment = HandleSet.OpenEnvironment();
        using (var reading = environment.BeginRead())
            CheckReading(HandleSet.Of(reading), HandleState.Open, Outcome.Works, Outcome.Works);
        using (var writing = environment.BeginWrite())
        {
            var handles = HandleSet.Of(writing);
            CheckTrees(handles, HandleState.Open, Outcome.Works, Outcome.Works);
            Check(HandleTable.NestedTransaction, handles.Nested, HandleState.Open, Outcome.Works, repeats: false);
            Check(HandleTable.Savepoint, handles.Savepoint, HandleState.Open, Outcome.Works, repeats: false);
            Check(HandleTable.WriteTransaction.Where(row => !IsEnd(row)), writing, HandleState.Open, Outcome.Works);
        }

        Check(HandleTable.StorageEnvironment.Where(row => !IsEnd(row)), environment, HandleState.Open, Outcome.Works);
    }

    [Fact]
    public void After_its_own_disposal_each_names_itself()
    {
        using var environment = HandleSet.OpenEnvironment();
        var reading = environment.BeginRead();
        var read = HandleSet.Of(reading);
        DisposeOwn(read);
        var enumerator = reading.OpenTree(HandleSet.TreeName).GetEntries().GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        var copy = enumerator;
        enumerator.Dispose();
        Check(HandleTable.Enumerator, enumerator, HandleState.Disposed, Outcome.CursorClosed);

        // Another enumerator uses the same cursor.
        using (var other = reading.OpenTree(HandleSet.TreeName).GetEntries().GetEnumerator())
        {
            other.MoveNext().Should().BeTrue();
            Check(HandleTable.Enumerator, enumerator, HandleState.Disposed, Outcome.CursorClosed);
            Check(HandleTable.Enumerator, copy, HandleState.Disposed, Outcome.CursorClosed);
        }

        reading.Dispose();
        Check(HandleTable.ReadTransaction, reading, HandleState.Disposed, Outcome.TransactionEnded);

        using (var writing = environment.BeginWrite())
        {
            var written = HandleSet.Of(writing);
            DisposeOwn(written);
            written.Nested.Dispose();
            Check(HandleTable.NestedTransaction, written.Nested, HandleState.Disposed, Outcome.NestedEnded);
            written.Savepoint.Dispose();
            Check(HandleTable.Savepoint, written.Savepoint, HandleState.Disposed, Outcome.SavepointEnded);
            writing.Dispose();
            Check(HandleTable.WriteTransaction, writing, HandleState.Disposed, Outcome.TransactionEnded);
        }

        static void DisposeOwn(HandleSet handles)
        {
            handles.Cursor.Dispose();
            Check(HandleTable.Cursor, handles.Cursor, HandleState.Disposed, Outcome.CursorClosed);
            using (var other = handles.Tree.OpenCursor())
                Check(HandleTable.Cursor, handles.Cursor, HandleState.Disposed, Outcome.CursorClosed);
            handles.FixedCursor.Dispose();
            Check(HandleTable.FixedCursor, handles.FixedCursor, HandleState.Disposed, Outcome.CursorClosed);
            handles.IdCursor.Dispose();
            Check(HandleTable.IdCursor, handles.IdCursor, HandleState.Disposed, Outcome.CursorClosed);
            handles.IdKeyCursor.Dispose();
            Check(HandleTable.IdKeyCursor, handles.IdKeyCursor, HandleState.Disposed, Outcome.CursorClosed);
            DisposeValueSets(handles);
            handles.IdQuery.Dispose();
            Check(HandleTable.IdQuery, handles.IdQuery, HandleState.Disposed, Outcome.QueryEnded);
            handles.RowQuery.Dispose();
            Check(HandleTable.RowQuery, handles.RowQuery, HandleState.Disposed, Outcome.QueryEnded);
            handles.SharedQuery.Dispose();
            Check(HandleTable.SharedIndexQuery, handles.SharedQuery, HandleState.Disposed, Outcome.QueryEnded);
            handles.Stream.Dispose();
            Check(HandleTable.Stream, handles.Stream, HandleState.Disposed, Outcome.StreamClosed);
            handles.Stream.CanRead.Should().BeFalse();
        }
    }

    [Theory]
    [InlineData(nameof(HandleState.TransactionDisposed))]
    [InlineData(nameof(HandleState.TransactionCommitted))]
    [InlineData(nameof(HandleState.AllClosed))]
    public void After_its_transaction_each_names_the_transaction(string state)
    {
        var how = Enum.Parse<HandleState>(state);
        using var environment = HandleSet.OpenEnvironment();
        if (how != HandleState.TransactionCommitted)
        {
            var reading = environment.BeginRead();
            var read = HandleSet.Of(reading);
            if (how == HandleState.AllClosed)
                environment.Dispose();
            reading.Dispose();
            CheckReading(read, how, Outcome.TransactionEnded, Outcome.TransactionEnded);
        }

        if (how == HandleState.AllClosed)
            return;
        var writing = environment.BeginWrite();
        var written = HandleSet.Of(writing);
        written.Nested.Commit();
        if (how == HandleState.TransactionCommitted)
            writing.Commit();
        else
            writing.Dispose();
        CheckWriting(written, how, Outcome.TransactionEnded);

        // The next transaction uses the same objects.
        using var next = environment.BeginWrite();
        next.OpenTree(HandleSet.TreeName).OpenCursor();
        CheckWriting(written, how, Outcome.TransactionEnded);
    }

    [Fact]
    public void After_the_operation_of_a_group_commit_each_names_the_transaction()
    {
        using var environment = HandleSet.OpenEnvironment();
        HandleSet? handles = null;
        environment.Write(writing =>
        {
            handles = HandleSet.Of(writing);
            handles.Nested.Commit();
        });
        CheckWriting(handles!, HandleState.OperationReturned, Outcome.TransactionEnded);
        environment.Write(writing =>
        {
            HandleSet.Of(writing).Nested.Commit();
            CheckWriting(handles!, HandleState.OperationReturned, Outcome.TransactionEnded);
        });
        using (environment.BeginWrite())
            CheckWriting(handles!, HandleState.OperationReturned, Outcome.TransactionEnded);
    }

    [Fact]
    public void After_a_rollback_to_an_older_savepoint_each_names_itself()
    {
        using var environment = HandleSet.OpenEnvironment();
        using var writing = environment.BeginWrite();
        var savepoint = writing.CreateSavepoint();
        var handles = HandleSet.Of(writing);
        savepoint.Rollback();
        CheckEnded(handles);

        // Another tree uses the same object.
        var other = writing.OpenTree(HandleSet.TreeName);
        using var cursor = other.OpenCursor();
        CheckEnded(handles);
        savepoint.Rollback();
        CheckEnded(handles);

        static void CheckEnded(HandleSet handles)
        {
            CheckTrees(handles, HandleState.RolledBack, Outcome.TreeClosed, Outcome.CursorClosed);
            Check(HandleTable.Savepoint, handles.Savepoint, HandleState.RolledBack, Outcome.SavepointEnded);
            Check(HandleTable.NestedTransaction, handles.Nested, HandleState.RolledBack, Outcome.NestedEnded);
        }
    }

    [Fact]
    public void In_a_closed_environment_an_open_reader_works_and_a_writer_cannot_commit()
    {
        var environment = HandleSet.OpenEnvironment();
        var reading = environment.BeginRead();
        var writing = environment.BeginWrite();
        var (read, written) = (HandleSet.Of(reading), HandleSet.Of(writing));
        environment.Dispose();
        CheckReading(read, HandleState.EnvironmentClosed, Outcome.Works, Outcome.Works);
        CheckTrees(written, HandleState.EnvironmentClosed, Outcome.Works, Outcome.Works);
        written.Nested.Dispose();
        written.WriteTree.Put("never"u8, "committed"u8);
        var asyncCommit = HandleTable.WriteTransaction.Where(row => row.Member == "CommitAsync(CancellationToken)");
        Check(asyncCommit, writing, HandleState.EnvironmentClosed, Outcome.Works);
        Check(HandleTable.WriteTransaction, writing, HandleState.TransactionDisposed, Outcome.TransactionEnded);
        reading.Dispose();
        Check(HandleTable.StorageEnvironment, environment, HandleState.Disposed, Outcome.EnvironmentClosed);
    }

    [Fact]
    public void A_range_ends_with_its_transaction()
    {
        using var environment = HandleSet.OpenEnvironment();
        var reading = environment.BeginRead();
        CheckRange(reading.OpenTree(HandleSet.TreeName).Range(KeyRange.From([1])), reading.Dispose, HandleState.TransactionDisposed);
        var writing = environment.BeginWrite();
        CheckRange(writing.OpenTree(HandleSet.TreeName).Prefix([5]), writing.Commit, HandleState.TransactionCommitted);
    }

    /// <summary>A transaction with an open writer can have no savepoint, so this handle is not among the others.</summary>
    [Fact]
    public void A_writer_of_a_value_ends_when_it_is_completed_disposed_or_its_transaction_ends()
    {
        using var environment = HandleSet.OpenEnvironment();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(HandleSet.TreeName);
            var completed = tree.OpenWriter(HandleSet.NewKey);
            Check(HandleTable.ValueWriter.Where(row => !IsEnd(row)), completed, HandleState.Open, Outcome.Works);
            Check(HandleTable.ValueWriter, completed, HandleState.Disposed, Outcome.ValueWriterEnded);
            var disposed = tree.OpenWriter(HandleSet.NewKey);
            disposed.Dispose();
            Check(HandleTable.ValueWriter, disposed, HandleState.Disposed, Outcome.ValueWriterEnded);

            // Another writer uses the same object.
            using (tree.OpenWriter(HandleSet.NewKey))
                Check(HandleTable.ValueWriter, disposed, HandleState.Disposed, Outcome.ValueWriterEnded);
            writing.Commit();
        }

        var writer = default(ValueWriter);
        using (var writing = environment.BeginWrite())
            writer = writing.OpenTree(HandleSet.TreeName).OpenWriter(HandleSet.NewKey);
        Check(HandleTable.ValueWriter, writer, HandleState.TransactionDisposed, Outcome.TransactionEnded);
    }

    [Fact]
    public async Task A_staged_value_can_be_asked_and_disposed_at_any_time()
    {
        StagedValue staged;
        using (var environment = HandleSet.OpenEnvironment())
        {
            staged = await environment.StageAsync(new MemoryStream(new byte[100_000]), TestContext.Current.CancellationToken);
            Check(HandleTable.StagedValue.Where(row => !IsEnd(row)), staged, HandleState.Open, Outcome.Works);
        }

        Check(HandleTable.StagedValue, staged, HandleState.EnvironmentClosed, Outcome.Works);
        Check(HandleTable.StagedValue, staged, HandleState.Disposed, Outcome.Works);
    }

    [Fact]
    public async Task A_bulk_load_ends_with_its_environment_and_when_it_is_disposed()
    {
        BulkLoad load;
        using (var environment = HandleSet.OpenEnvironment())
        {
            load = await environment.BeginBulkLoadAsync("loaded", cancellationToken: TestContext.Current.CancellationToken);
            Check(HandleTable.BulkLoad.Where(row => !IsEnd(row)), load, HandleState.Open, Outcome.Works);
            load.Dispose();
            Check(HandleTable.BulkLoad, load, HandleState.Disposed, Outcome.LoadEnded);
            load = await environment.BeginBulkLoadAsync("others", cancellationToken: TestContext.Current.CancellationToken);
        }

        Check(HandleTable.BulkLoad, load, HandleState.EnvironmentClosed, Outcome.EnvironmentClosed);
    }

    private static void Covers<T>(IEnumerable<HandleRow<T>> rows)
        where T : allows ref struct =>
        HandleMembers.Of(typeof(T)).Should().BeEquivalentTo(rows.Select(row => row.Member), "{0} has these members", typeof(T).Name);

    private static bool IsEnd<T>(HandleRow<T> row)
        where T : allows ref struct =>
        row.Member is "Dispose()" or "DisposeAsync()" or "Commit()" or "CommitAsync(CancellationToken)";

    private static void CheckReading(HandleSet handles, HandleState state, Outcome outcome, Outcome ofCursor)
    {
        CheckTrees(handles, state, outcome, ofCursor);
        var rows = outcome == Outcome.Works ? HandleTable.ReadTransaction.Where(row => !IsEnd(row)) : HandleTable.ReadTransaction;
        Check(rows, handles.Reading, state, outcome);
    }

    private static void CheckWriting(HandleSet handles, HandleState state, Outcome outcome)
    {
        CheckTrees(handles, state, outcome, outcome);
        Check(HandleTable.WriteTransaction, handles.Writing, state, outcome);
        Check(HandleTable.Savepoint, handles.Savepoint, state, outcome);
        Check(HandleTable.NestedTransaction, handles.Nested, state, outcome);
    }

    private static void CheckTrees(HandleSet handles, HandleState state, Outcome outcome, Outcome ofCursor)
    {
        // First, because a change of the tree ends the stream of a small value, and a change of the batch its values.
        var works = outcome == Outcome.Works;
        Check(works ? HandleTable.Stream.Where(row => !IsEnd(row)) : HandleTable.Stream, handles.Stream, state, outcome);
        Check(HandleTable.LookupBatch.Where(row => row.Member is not ("Clear()" or "Add(ReadOnlySpan<Byte>)")), handles.Batch, state, outcome);
        Check(HandleTable.Tree, handles.Tree, state, outcome);
        if (state != HandleState.Default && handles.Writing.IsDefault is false)
            Check(HandleTable.WriteTree, handles.WriteTree, state, outcome);
        Check(works ? HandleTable.Cursor.Where(row => !IsEnd(row)) : HandleTable.Cursor, handles.Cursor, state, ofCursor);
        CheckFixedTrees(handles, state, outcome, ofCursor);
        CheckIdTrees(handles, state, outcome, ofCursor);
        CheckValueSetTrees(handles, state, outcome, ofCursor);
        CheckTables(handles, state, outcome);
    }

    private static void CheckIdTrees(HandleSet handles, HandleState state, Outcome outcome, Outcome ofCursor)
    {
        var works = outcome == Outcome.Works;
        Check(HandleTable.IdTree, handles.IdTree, state, outcome);
        if (handles.Writing.IsDefault is false)
            Check(HandleTable.WriteIdTree, handles.WriteIdTree, state, outcome);
        Check(works ? HandleTable.IdCursor.Where(row => !IsEnd(row)) : HandleTable.IdCursor, handles.IdCursor, state, ofCursor);
        Check(works ? HandleTable.IdKeyCursor.Where(row => !IsEnd(row)) : HandleTable.IdKeyCursor, handles.IdKeyCursor, state, ofCursor);
        Check(HandleTable.IdQuery.Where(row => !IsEnd(row)), handles.IdQuery, state, ofCursor);
    }

    private static void CheckRange(scoped TreeRange range, Action end, HandleState state)
    {
        var enumerator = range.GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        var entry = enumerator.Current;
        CheckAll(HandleState.Open, range, enumerator, entry, Outcome.Works);
        end();
        CheckAll(state, range, enumerator, entry, Outcome.TransactionEnded);

        static void CheckAll(HandleState state, TreeRange range, TreeRange.Enumerator enumerator, TreeEntry entry, Outcome outcome)
        {
            Check(HandleTable.TreeRange, range, state, outcome);
            Check(HandleTable.TreeEntry, entry, state, outcome);
            Check(outcome == Outcome.Works ? [] : HandleTable.Enumerator, enumerator, state, outcome);
        }
    }

    private static void Check<T>(IEnumerable<HandleRow<T>> rows, T handle, HandleState state, Outcome usual, bool repeats = true)
        where T : allows ref struct
    {
        foreach (var row in rows)
        {
            if (!repeats && row.Member is "Dispose()")
                continue;
            Exception? thrown = null;
            try
            {
                row.Call(handle);
            }
            catch (Exception e)
            {
                thrown = e;
            }

            Compare($"{typeof(T).Name}.{row.Member} in state {state}", thrown, row.In(state, usual));
        }
    }

    private static void Compare(string what, Exception? thrown, Outcome outcome)
    {
        switch (outcome)
        {
            case Outcome.Works:
                thrown.Should().BeNull(what);
                break;
            case Outcome.NotSupported:
                thrown.Should().BeOfType<NotSupportedException>(what);
                break;
            case Outcome.NoEntry:
                thrown.Should().BeOfType<InvalidOperationException>(what).Which.Message.Should().StartWith("There is no entry here", what);
                break;
            case Outcome.NeverBegun:
                thrown.Should().BeOfType<InvalidOperationException>(what).Which.Message.Should().Contain("default value", what);
                break;
            default:
                thrown.Should().BeOfType<ObjectDisposedException>(what).Which.Message.Should().StartWith(Messages[outcome], what);
                break;
        }
    }
}
