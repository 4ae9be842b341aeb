using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <content>The handles of tables.</content>
internal static partial class HandleTable
{
    private static readonly Item NewRow = new("new", "new");

    public static IReadOnlyList<HandleRow<Table<string, Item>>> Table { get; } =
    [
        new("Name", handle => _ = handle.Name) { Unusual = WorksOnceOpened },
        new("Count", handle => _ = handle.Count),
        new("TryGet(String, Item)", handle => handle.TryGet(HandleSet.RowIdBytes, out _)),
        new("TryGet(String, Item, RowVersion)", handle => handle.TryGet(HandleSet.RowIdBytes, out _, out _)),
        new("Contains(String)", handle => handle.Contains(HandleSet.RowIdBytes)),
        new("TryGetVersion(String, RowVersion)", handle => handle.TryGetVersion(HandleSet.RowIdBytes, out _)),
        new("TryGetReader(String, RowReader)", handle => handle.TryGetReader(HandleSet.RowIdBytes, out _)),
        new("TryGetByRowId(Int64, Item)", handle => handle.TryGetByRowId(0, out _)),
        new("TryGetBy<TIndexKey>(String, TIndexKey, Item)", handle => handle.TryGetBy("source", ("one", 1), out _)),
        new("TryGetByRaw(String, ReadOnlySpan<Byte>, Item)", handle => handle.TryGetByRaw("source", Key, out _)),
        new("Scan()", handle => handle.Scan().Dispose()),
        new("Scan(Int64, Int64)", handle => handle.Scan(1, 2).Dispose()),
        new("ByKey()", handle => handle.ByKey().Dispose()),
        new("ByKey(IndexRange<String>)", handle => handle.ByKey(IndexRange.Prefix("a")).Dispose()),
        new("ByKeyRaw(KeyRange)", handle => handle.ByKeyRaw(KeyRange.All).Dispose()),
        new("From(String)", handle => handle.From("section").Dispose()),
        new("From<TIndexKey>(String, TIndexKey)", handle => handle.From("section", "net").Dispose()),
        new("From<TIndexKey>(String, IndexRange<TIndexKey>)", handle => handle.From("section", IndexRange.Prefix("n")).Dispose()),
        new("FromRaw(String, KeyRange)", handle => handle.FromRaw("section", KeyRange.All).Dispose()),
        new("Ids<TIndexKey>(String, TIndexKey)", handle => handle.Ids("section", "net").Dispose()),
        new("IdsRaw(String, ReadOnlySpan<Byte>)", handle => handle.IdsRaw("section", Key).Dispose()),
        new("Rows(IdQuery)", handle => handle.Rows(handle.IdsRaw("section", Key)).Dispose()),
        new("GetIndexState(String)", handle => handle.GetIndexState("section")),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteTable<string, Item>>> WriteTable { get; } =
    [
        new("Name", handle => _ = handle.Name) { Unusual = WorksOnceOpened },
        new("Count", handle => _ = handle.Count),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToTable()", handle => handle.ToTable()) { WorksAlways = true },
        new("TryGet(String, Item)", handle => handle.TryGet(HandleSet.RowIdBytes, out _)),
        new("TryGet(String, Item, RowVersion)", handle => handle.TryGet(HandleSet.RowIdBytes, out _, out _)),
        new("Contains(String)", handle => handle.Contains(HandleSet.RowIdBytes)),
        new("TryGetVersion(String, RowVersion)", handle => handle.TryGetVersion(HandleSet.RowIdBytes, out _)),
        new("TryGetReader(String, RowReader)", handle => handle.TryGetReader(HandleSet.RowIdBytes, out _)),
        new("TryGetByRowId(Int64, Item)", handle => handle.TryGetByRowId(0, out _)),
        new("TryGetBy<TIndexKey>(String, TIndexKey, Item)", handle => handle.TryGetBy("source", ("one", 1), out _)),
        new("TryGetByRaw(String, ReadOnlySpan<Byte>, Item)", handle => handle.TryGetByRaw("source", Key, out _)),
        new("Scan()", handle => handle.Scan().Dispose()),
        new("Scan(Int64, Int64)", handle => handle.Scan(1, 2).Dispose()),
        new("ByKey()", handle => handle.ByKey().Dispose()),
        new("ByKey(IndexRange<String>)", handle => handle.ByKey(IndexRange.Prefix("a")).Dispose()),
        new("ByKeyRaw(KeyRange)", handle => handle.ByKeyRaw(KeyRange.All).Dispose()),
        new("From(String)", handle => handle.From("section").Dispose()),
        new("From<TIndexKey>(String, TIndexKey)", handle => handle.From("section", "net").Dispose()),
        new("From<TIndexKey>(String, IndexRange<TIndexKey>)", handle => handle.From("section", IndexRange.Prefix("n")).Dispose()),
        new("FromRaw(String, KeyRange)", handle => handle.FromRaw("section", KeyRange.All).Dispose()),
        new("Ids<TIndexKey>(String, TIndexKey)", handle => handle.Ids("section", "net").Dispose()),
        new("IdsRaw(String, ReadOnlySpan<Byte>)", handle => handle.IdsRaw("section", Key).Dispose()),
        new("Rows(IdQuery)", handle => handle.Rows(handle.IdsRaw("section", Key)).Dispose()),
        new("GetIndexState(String)", handle => handle.GetIndexState("section")),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
        new("Insert(Item)", handle => handle.Insert(NewRow)),
        new("InsertMany(ReadOnlySpan<Item>)", handle => handle.InsertMany([NewRow with { Id = "second" }, NewRow with { Id = "third" }])),
        new("Upsert(Item)", handle => handle.Upsert(NewRow with { Size = 2 })),
        new("Upsert(Item, RowVersion)", handle => handle.Upsert(NewRow with { Size = 3 }, VersionOf(handle, "new"))),
        new("TryUpdate(Item, RowVersion)", handle => handle.TryUpdate(NewRow, out _)),
        new(
            "TryUpdate<TState>(String, TState, Func<Item, TState, Item>, RowVersion)",
            handle => handle.TryUpdate("new", 7, static (row, size) => row with { Size = size }, out _).Should().BeTrue()),
        new("Delete(String)", handle => handle.Delete("new").Should().BeTrue()),
        new("Delete(String, RowVersion)", handle => handle.Delete("second", VersionOf(handle, "second")).Should().BeTrue()),
        new(
            "UpdateWhere<TIndexKey, TState>(String, TIndexKey, TState, Func<Item, TState, Item>)",
            handle => handle.UpdateWhere("section", "never", 0, static (row, _) => row).Should().Be(0)),
        new(
            "UpdateWhere<TIndexKey, TState>(String, IndexRange<TIndexKey>, TState, Func<Item, TState, Item>)",
            handle => handle.UpdateWhere("section", IndexRange.Prefix("never"), 0, static (row, _) => row).Should().Be(0)),
        new(
            "UpdateWhereRaw<TState>(String, KeyRange, TState, Func<Item, TState, Item>)",
            handle => handle.UpdateWhereRaw("section", KeyRange.Prefix("never"u8), 0, static (row, _) => row).Should().Be(0)),
        new("DeleteWhere<TIndexKey>(String, TIndexKey, Int64)", handle => handle.DeleteWhere("section", "never").Should().Be(0)),
        new(
            "DeleteWhere<TIndexKey>(String, IndexRange<TIndexKey>, Int64)",
            handle => handle.DeleteWhere("section", IndexRange.Prefix("never")).Should().Be(0)),
        new(
            "DeleteWhereRaw(String, KeyRange, Int64)",
            handle => handle.DeleteWhereRaw("section", KeyRange.Prefix(TableKit.Key("new"))).Should().Be(1)),
    ];

    public static IReadOnlyList<HandleRow<TableBulkLoad<Item>>> TableBulkLoad { get; } =
    [
        new("Put(Item)", handle => handle.Put(NewRow)),
        new("CompleteAsync(CancellationToken)", handle => handle.CompleteAsync().AsTask().GetAwaiter().GetResult()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<RowQuery<Item>>> RowQuery { get; } =
    [
        new("Current", handle => _ = handle.Current),
        new("Reader", handle => _ = handle.Reader),
        new("RowId", handle => _ = handle.RowId),
        new("Key", handle => _ = handle.Key.Length),
        new("Version", handle => _ = handle.Version),
        new("Token", handle => handle.Token.IsStart.Should().BeFalse()) { WorksAlways = true },
        new("Backward()", handle => Begun(() => handle.Backward())),
        new("After(PageToken)", handle => Begun(() => handle.After(default))),
        new("Take(Int64)", handle => Begun(() => handle.Take(1))),
        new("Count()", handle => handle.Count()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("GetEnumerator()", handle => handle.GetEnumerator()) { WorksAlways = true },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<SharedIndexQuery>> SharedIndexQuery { get; } =
    [
        new("Current", handle => _ = handle.Current),
        new("Key", handle => _ = handle.Key.Length),
        new("Token", handle => handle.Token.IsStart.Should().BeFalse()) { WorksAlways = true },
        new("Backward()", handle => Begun(() => handle.Backward())),
        new("After(PageToken)", handle => Begun(() => handle.After(default))),
        new("Take(Int64)", handle => Begun(() => handle.Take(1))),
        new("Count()", handle => handle.Count()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("TryGetRow<TKey, TRow>(Table<TKey, TRow>, TRow)", handle => TryGetRow(handle)),
        new("GetEnumerator()", handle => handle.GetEnumerator()) { WorksAlways = true },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    // The query is looked at before the table, which is none.
    private static void TryGetRow(SharedIndexQuery query)
    {
        try
        {
            query.TryGetRow<string, Item>(default, out _);
        }
        catch (InvalidOperationException e) when (e.Message.Contains("default value", StringComparison.Ordinal))
        {
        }
    }

    // The name is that of the definition, which a default value does not have.
    private static Dictionary<HandleState, Outcome> WorksOnceOpened =>
        Enum.GetValues<HandleState>().Where(state => state != HandleState.Default).ToDictionary(state => state, _ => Outcome.Works);

    private static RowVersion VersionOf(WriteTable<string, Item> table, string key) =>
        table.TryGetVersion(key, out var version) ? version : RowVersion.None;

    // The query is on a row, so the call is refused for that reason, but only while the query can be used.
    private static void Begun(Action call)
    {
        try
        {
            call();
        }
        catch (InvalidOperationException e) when (e.Message.Contains("has begun already", StringComparison.Ordinal))
        {
            e.Should().NotBeOfType<ObjectDisposedException>();
        }
    }
}
