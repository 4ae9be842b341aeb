using Voron.Feeds;
using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <content>The types of all handles, and the handles of tables.</content>
public sealed partial class EndedHandleTests
{
    [Fact]
    public void Every_handle_type_is_among_them()
    {
        var plain = new[]
        {
            "Report", "Statistics", "Options", "Exception", "Outcome", "Compression", "Protection", "Mode", "State",
            "Progress", "Fault", "Info", "Kind", nameof(Durability), nameof(BackupFile), nameof(BackupSet), nameof(BackupSetEntry),
            nameof(Salvage), "Grade", nameof(SalvageDamage), nameof(SalvagedTree), nameof(SalvagedTable), nameof(LostRange),
            nameof(LostValue), nameof(DuplicateKeys),
            nameof(KeyRange), nameof(KeyRangeExtensions), nameof(KeyReader), nameof(KeyWriter), "CommitStateKey`1",

            // Tables: what describes one, what functions receive for the length of a call, and the methods that extend other types.
            nameof(TableDefinition), "TableDefinition`2", "Codec", "Codec`1", "Function`1", "Function`2", nameof(PageToken), nameof(RowVersion),
            nameof(IndexKeys), nameof(RowReader), nameof(RowWriter), nameof(TableTransactions), nameof(TableEvolution), nameof(TableVerification),
            nameof(TableCheckProblem), nameof(IndexRange), "IndexRange`1",
            nameof(TableListing), nameof(TableExpiry), nameof(TableLoading), nameof(SharedIndex), nameof(SharedRow), nameof(SharedIndexQueries),

            // Feeds: batches outlive their transactions, and their changes end with them; the rest is data, or extends other types.
            nameof(Change), nameof(ChangeBatch), nameof(ChangeOperation), nameof(ChangePosition), nameof(ChangedRows), nameof(FeedConsumer),
            nameof(FeedReading), nameof(FeedSource), nameof(FeedTransactions), nameof(FeedVerification), nameof(RecordedContent),
        };
        typeof(StorageEnvironment).Assembly.GetExportedTypes()
            .Where(type => !plain.Any(end => (type.DeclaringType ?? type).Name.EndsWith(end, StringComparison.Ordinal)))
            .Should().BeEquivalentTo(
            [
                typeof(ReadTransaction), typeof(WriteTransaction), typeof(Tree), typeof(WriteTree), typeof(Cursor), typeof(Savepoint),
                typeof(NestedTransaction), typeof(LookupBatch), typeof(StorageEnvironment), typeof(TreeRange), typeof(TreeEntry),
                typeof(TreeRange.Enumerator), typeof(ValueWriter), typeof(StagedValue), typeof(BulkLoad), typeof(FixedTree), typeof(FixedTree<>),
                typeof(WriteFixedTree), typeof(WriteFixedTree<>), typeof(FixedCursor), typeof(FixedRange), typeof(FixedRange.Enumerator),
                typeof(FixedRange<>), typeof(FixedRange<>.Enumerator), typeof(IdTree), typeof(WriteIdTree), typeof(IdCursor),
                typeof(IdKeyCursor), typeof(IdQuery), typeof(ValueSetTree), typeof(WriteValueSetTree), typeof(ValueCursor), typeof(ValueSetCursor),
                typeof(Table<,>), typeof(WriteTable<,>), typeof(RowQuery<>), typeof(SharedIndexQuery),
                typeof(TableBulkLoad<>),
            ]);
    }

    [Fact]
    public async Task A_bulk_load_of_a_table_ends_with_its_environment_and_when_it_is_disposed()
    {
        TableBulkLoad<Item> load;
        using (var environment = StorageEnvironment.OpenInMemory())
        {
            load = await environment.BeginBulkLoadAsync(TableKit.Items, cancellationToken: TestContext.Current.CancellationToken);
            Check(HandleTable.TableBulkLoad.Where(row => !IsEnd(row)), load, HandleState.Open, Outcome.Works);
            load.Dispose();
            Check(HandleTable.TableBulkLoad, load, HandleState.Disposed, Outcome.LoadEnded);
            load = await environment.BeginBulkLoadAsync(TableKit.Items, cancellationToken: TestContext.Current.CancellationToken);
        }

        Check(HandleTable.TableBulkLoad, load, HandleState.EnvironmentClosed, Outcome.EnvironmentClosed);
    }

    [Fact]
    public async Task Methods_that_extend_a_transaction_or_an_environment_name_what_has_ended()
    {
        var environment = HandleSet.OpenEnvironment();
        var (reading, writing) = (environment.BeginRead(), environment.BeginWrite());
        RefuseAll(default, default, thrown => thrown.Should().BeOfType<InvalidOperationException>().Which.Message.Should().Contain("default value"));
        reading.Dispose();
        writing.Dispose();
        RefuseAll(reading, writing, thrown => IsEnded(thrown, Messages[Outcome.TransactionEnded]));
        environment.Dispose();
        IsEnded(await Thrown(() => environment.CheckAsync(TableKit.Items).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.RebuildKeysAsync(TableKit.Items).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.DropIndexAsync("items", "section").AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.EvolveAsync(TableKit.Items).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.DeleteExpiredAsync(ExpiryKit.Items).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.BeginBulkLoadAsync(TableKit.Items).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.BulkLoadAsync(TableKit.Items, []).AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.DropTableAsync("items").AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => environment.TrimFeedsAsync().AsTask()), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => Task.FromResult(environment.VerifyTable(TableKit.Items))), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => Task.FromResult(environment.GetTables())), Messages[Outcome.EnvironmentClosed]);
        IsEnded(await Thrown(() => Task.FromResult(environment.VerifyFeed("feed"))), Messages[Outcome.EnvironmentClosed]);

        static void RefuseAll(ReadTransaction reading, WriteTransaction writing, Action<Exception> check)
        {
            foreach (var call in (Action[])
            [
                () => reading.OpenTable(TableKit.Items), () => reading.TryOpenTable(TableKit.Items, out _), () => reading.GetTableNames(),
                () => reading.QuerySharedIndex(TableKit.Sections), () => writing.QuerySharedIndex(TableKit.Sections),
                () => reading.GetTables(), () => reading.VerifyTable(TableKit.Items), () => writing.CreateTable(TableKit.Items),
                () => writing.OpenTable(TableKit.Items), () => writing.TryOpenTable(TableKit.Items, out _), () => writing.GetTableNames(),
                () => writing.DeleteTable("items"), () => reading.GetFeeds(), () => reading.GetNewestPosition("feed"),
                () => reading.TryGetPosition("feed", "consumer", out _), () => reading.ReadChanges("feed", default, new ChangeBatch()),
                () => writing.CreateFeed("feed"), () => writing.DeleteFeed("feed"), () => writing.RecordTree("feed", "tree"),
                () => writing.RecordTable("feed", "items"), () => writing.StopRecordingTree("tree"), () => writing.StopRecordingTable("items"),
                () => writing.SetPosition("feed", "consumer", default), () => writing.RemoveConsumer("feed", "consumer"),
                () => writing.TryGetPosition("feed", "consumer", out _), () => writing.GetNewestPosition("feed"),
            ])
                check(FluentActions.Invoking(call).Should().Throw<InvalidOperationException>().Which);
        }

        static async Task<Exception> Thrown<T>(Func<Task<T>> call) => (await call.Should().ThrowAsync<Exception>()).Which;
    }

    private static void IsEnded(Exception thrown, string message) =>
        thrown.Should().BeOfType<ObjectDisposedException>().Which.Message.Should().StartWith(message);

    private static void CheckTables(HandleSet handles, HandleState state, Outcome outcome)
    {
        Check(HandleTable.Table, handles.Table, state, outcome);
        if (handles.Writing.IsDefault is false)
            Check(HandleTable.WriteTable, handles.WriteTable, state, outcome);
        Check(HandleTable.RowQuery.Where(row => !IsEnd(row)), handles.RowQuery, state, outcome);
        Check(HandleTable.SharedIndexQuery.Where(row => !IsEnd(row)), handles.SharedQuery, state, outcome);
    }
}
