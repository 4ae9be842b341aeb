using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <content>Tables.</content>
public sealed partial class ArgumentTests
{
    private const string DeleteWhere = "WriteTable`2.DeleteWhereRaw(String, KeyRange, Int64)";

    private const string Change = "WriteTable`2.TryUpdate<TState>(String, TState, Func<Item, TState, Item>, RowVersion)";

    private static readonly Type[] TableHandles =
        [typeof(Table<string, Item>), typeof(WriteTable<string, Item>), typeof(RowQuery<Item>), typeof(SharedIndexQuery)];

    /// <summary>A row that the codec refuses is a <see cref="RowFormatException"/>, whatever is wrong with it.</summary>
    private static IEnumerable<string> AnyRowFits =>
    [
        "Table`2.TryGetByRowId(Int64, Item)", "WriteTable`2.TryGetByRowId(Int64, Item)", "Table`2.ByKeyRaw(KeyRange)",
        "WriteTable`2.ByKeyRaw(KeyRange)",
        "Table`2.ByKey(IndexRange<String>)", "WriteTable`2.ByKey(IndexRange<String>)",
        "Table`2.Scan(Int64, Int64)", "WriteTable`2.Scan(Int64, Int64)", "WriteTable`2.Insert(Item)",
        "WriteTable`2.InsertMany(ReadOnlySpan<Item>)", "WriteTable`2.Upsert(Item)",
        "WriteTable`2.Upsert(Item, RowVersion)", "WriteTable`2.TryUpdate(Item, RowVersion)", "RowQuery`1.After(PageToken)", "SharedIndexQuery.After(PageToken)",
    ];

    private static IEnumerable<ArgumentRow> Tables =>
    [
        .. RowKeys("Table`2.TryGet(String, Item)", (place, key) => Read(place).TryGet(key, out _)),
        .. RowKeys("Table`2.TryGet(String, Item, RowVersion)", (place, key) => Read(place).TryGet(key, out _, out _)),
        .. RowKeys("Table`2.Contains(String)", (place, key) => Read(place).Contains(key)),
        .. RowKeys("Table`2.TryGetVersion(String, RowVersion)", (place, key) => Read(place).TryGetVersion(key, out _)),
        .. RowKeys("Table`2.TryGetReader(String, RowReader)", (place, key) => Read(place).TryGetReader(key, out _)),
        .. Indexes("Table`2.TryGetByRaw(String, ReadOnlySpan<Byte>, Item)", "section", (place, index) => Read(place).TryGetByRaw(index, [1], out _)),
        .. Indexes("Table`2.TryGetBy<TIndexKey>(String, TIndexKey, Item)", "section", (place, index) => Read(place).TryGetBy(index, "net", out _)),
        .. Indexes("Table`2.From(String)", "none", (place, index) => Read(place).From(index)),
        .. Indexes("Table`2.From<TIndexKey>(String, TIndexKey)", "none", (place, index) => Read(place).From(index, 1)),
        .. Indexes("Table`2.From<TIndexKey>(String, IndexRange<TIndexKey>)", "none", (place, index) => Read(place).From(index, IndexRange.From(1))),
        .. Indexes("Table`2.FromRaw(String, KeyRange)", "none", (place, index) => Read(place).FromRaw(index, KeyRange.All)),
        .. Indexes("Table`2.Ids<TIndexKey>(String, TIndexKey)", "source", (place, index) => Read(place).Ids(index, 1)),
        .. Indexes("Table`2.IdsRaw(String, ReadOnlySpan<Byte>)", "source", (place, index) => Read(place).IdsRaw(index, [1])),
        .. Indexes("Table`2.GetIndexState(String)", "none", (place, index) => Read(place).GetIndexState(index)),
        new("Table`2.Rows(IdQuery)", "ids", typeof(ArgumentNullException), place => Read(place).Rows(null!)),
        .. RowKeys("WriteTable`2.TryGet(String, Item)", (place, key) => Written(place).TryGet(key, out _)),
        .. RowKeys("WriteTable`2.TryGet(String, Item, RowVersion)", (place, key) => Written(place).TryGet(key, out _, out _)),
        .. RowKeys("WriteTable`2.Contains(String)", (place, key) => Written(place).Contains(key)),
        .. RowKeys("WriteTable`2.TryGetVersion(String, RowVersion)", (place, key) => Written(place).TryGetVersion(key, out _)),
        .. RowKeys("WriteTable`2.TryGetReader(String, RowReader)", (place, key) => Written(place).TryGetReader(key, out _)),
        .. Indexes(
            "WriteTable`2.TryGetByRaw(String, ReadOnlySpan<Byte>, Item)", "tags",
            (place, index) => Written(place).TryGetByRaw(index, [1], out _)),
        .. Indexes(
            "WriteTable`2.TryGetBy<TIndexKey>(String, TIndexKey, Item)", "section",
            (place, index) => Written(place).TryGetBy(index, "net", out _)),
        .. Indexes("WriteTable`2.From(String)", "none", (place, index) => Written(place).From(index)),
        .. Indexes("WriteTable`2.From<TIndexKey>(String, TIndexKey)", "none", (place, index) => Written(place).From(index, 1)),
        .. Indexes(
            "WriteTable`2.From<TIndexKey>(String, IndexRange<TIndexKey>)", "none",
            (place, index) => Written(place).From(index, IndexRange.From(1))),
        .. Indexes("WriteTable`2.FromRaw(String, KeyRange)", "none", (place, index) => Written(place).FromRaw(index, KeyRange.All)),
        .. Indexes("WriteTable`2.Ids<TIndexKey>(String, TIndexKey)", "source", (place, index) => Written(place).Ids(index, 1)),
        .. Indexes("WriteTable`2.IdsRaw(String, ReadOnlySpan<Byte>)", "source", (place, index) => Written(place).IdsRaw(index, [1])),
        .. Indexes("WriteTable`2.GetIndexState(String)", "none", (place, index) => Written(place).GetIndexState(index)),
        new("WriteTable`2.Rows(IdQuery)", "ids", typeof(ArgumentNullException), place => Written(place).Rows(null!)),
        .. RowKeys("WriteTable`2.Delete(String)", (place, key) => Written(place).Delete(key)),
        .. RowKeys("WriteTable`2.Delete(String, RowVersion)", (place, key) => Written(place).Delete(key, RowVersion.None)),
        .. RowKeys(Change, (place, key) => Written(place).TryUpdate(key, 0, static (row, _) => row, out _)),
        new(Change, "change", typeof(ArgumentNullException), place => Written(place).TryUpdate(HandleSet.RowIdBytes, 0, null!, out _)),
        new(
            Change, "change", typeof(ArgumentException),
            place => Written(place).TryUpdate(HandleSet.RowIdBytes, 0, static (row, _) => row with { Id = "other" }, out _)),
        .. Indexes(
            "WriteTable`2.UpdateWhere<TIndexKey, TState>(String, TIndexKey, TState, Func<Item, TState, Item>)", "none",
            (place, index) => Written(place).UpdateWhere(index, 1, 0, static (row, _) => row)),
        .. Indexes(
            "WriteTable`2.UpdateWhere<TIndexKey, TState>(String, IndexRange<TIndexKey>, TState, Func<Item, TState, Item>)", "none",
            (place, index) => Written(place).UpdateWhere(index, IndexRange.From(1), 0, static (row, _) => row)),
        .. Indexes(
            "WriteTable`2.UpdateWhereRaw<TState>(String, KeyRange, TState, Func<Item, TState, Item>)", "none",
            (place, index) => Written(place).UpdateWhereRaw(index, KeyRange.All, 0, static (row, _) => row)),
        .. Indexes(
            "WriteTable`2.DeleteWhere<TIndexKey>(String, TIndexKey, Int64)", "none", (place, index) => Written(place).DeleteWhere(index, 1)),
        .. Indexes(
            "WriteTable`2.DeleteWhere<TIndexKey>(String, IndexRange<TIndexKey>, Int64)", "none",
            (place, index) => Written(place).DeleteWhere(index, IndexRange.From(1))),
        .. Indexes(DeleteWhere, "none", (place, index) => Written(place).DeleteWhereRaw(index, KeyRange.All)),
        new(DeleteWhere, "most", typeof(ArgumentOutOfRangeException), place => Written(place).DeleteWhereRaw("section", KeyRange.All, -1)),
        new(
            "SharedIndexQuery.TryGetRow<TKey, TRow>(Table<TKey, TRow>, TRow)", "table", typeof(ArgumentException),
            place => Shared(place).TryGetRow(Written(place).AsReadOnly(), out _)),
        new("SharedIndexQuery.Take(Int64)", "count", typeof(ArgumentOutOfRangeException), place => place.Reading.QuerySharedIndex(TableKit.Sections).Take(-1)),
        new("RowQuery`1.Take(Int64)", "count", typeof(ArgumentOutOfRangeException), place => Read(place).Scan().Take(-1)),
    ];

    [Fact]
    public async Task The_static_methods_of_tables_name_their_parameters()
    {
        using var environment = HandleSet.OpenEnvironment();
        using var reading = environment.BeginRead();
        using var writing = environment.BeginWrite();
        TableDefinition<string, Item> none = null!;
        StorageEnvironment nowhere = null!;
        Names<ArgumentNullException>("definition", () => reading.OpenTable(none));
        Names<ArgumentNullException>("definition", () => reading.TryOpenTable(none, out _));
        Names<ArgumentNullException>("definition", () => reading.VerifyTable(none));
        Names<ArgumentNullException>("index", () => reading.QuerySharedIndex(null!));
        Names<ArgumentNullException>("index", () => writing.QuerySharedIndexRaw(null!, KeyRange.All));
        Names<ArgumentNullException>("definition", () => environment.VerifyTable(none));
        Names<ArgumentNullException>("environment", () => nowhere.VerifyTable(TableKit.Items));
        Names<ArgumentNullException>("environment", () => nowhere.GetTables());
        Names<ArgumentNullException>("definition", () => writing.CreateTable(none));
        Names<ArgumentNullException>("definition", () => writing.OpenTable(none));
        Names<ArgumentNullException>("definition", () => writing.TryOpenTable(none, out _));
        foreach (var name in (string[])["", new string('n', 201), "\ud800"])
        {
            Names<ArgumentException>("name", () => writing.DeleteTable(name));
            Names<ArgumentException>("name", () => TableDefinition.Create(name, 1, new ItemCodec(), KeyCodec.Utf8, static item => item.Id));
            Names<ArgumentException>("name", () => _ = new SharedIndex(name, 1));
            Names<ArgumentException>("name", () => TableKit.Plain(1).Index(name, 1, static (in Item _, ref IndexKeys _) => { }));
        }

        writing.Dispose();
        await NamesLater<ArgumentNullException>("environment", () => nowhere.EvolveAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("definition", () => environment.EvolveAsync(none).AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.BeginBulkLoadAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("definition", () => environment.BeginBulkLoadAsync(none).AsTask());
        await NamesLater<ArgumentException>(
            "options", () => environment.BeginBulkLoadAsync(TableKit.Items, new BulkLoadOptions { MemoryBytes = 1 }).AsTask());
        await NamesLater<ArgumentNullException>("rows", () => environment.BulkLoadAsync(TableKit.Items, (IEnumerable<Item>)null!).AsTask());
        await NamesLater<ArgumentNullException>("rows", () => environment.BulkLoadAsync(TableKit.Items, (IAsyncEnumerable<Item>)null!).AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.CheckAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("definition", () => environment.CheckAsync(none).AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.RebuildKeysAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("definition", () => environment.RebuildKeysAsync(none).AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.DropIndexAsync("items", "section").AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.DeleteExpiredAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("definition", () => environment.DeleteExpiredAsync(none).AsTask());
        await NamesLater<ArgumentException>("definition", () => environment.DeleteExpiredAsync(TableKit.Items).AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.DropTableAsync("items").AsTask());
        await NamesLater<ArgumentException>("name", () => environment.DropTableAsync("").AsTask());
        await NamesLater<ArgumentNullException>("environment", () => nowhere.RecompressTableAsync("items").AsTask());
        await NamesLater<ArgumentException>("name", () => environment.RecompressTableAsync("").AsTask());
        Names<ArgumentOutOfRangeException>("compression", () => TableKit.Items.CompressRows((ValueCompression)3));
        environment.MustBeSound(TableKit.Items, 99);
    }

    [Fact]
    public void Definitions_codecs_and_tokens_name_their_parameters()
    {
        IRowCodec<Item> rows = new ItemCodec();
        Func<Item, string> key = static item => item.Id;
        IndexFunction<Item> keys = static (in Item _, ref IndexKeys _) => { };
        foreach (var version in (int[])[0, -1, 65_536])
        {
            Names<ArgumentOutOfRangeException>("version", () => TableDefinition.Create("items", version, rows, KeyCodec.Utf8, key));
            Names<ArgumentOutOfRangeException>("version", () => TableDefinition.CreateWithRowIds("items", version, rows, static item => item.Size));
        }

        Names<ArgumentNullException>("time", () => TableKit.Items.Expire(null!));
        Names<ArgumentOutOfRangeException>("version", () => TableKit.Items.Expire(static _ => null, -1));
        Names<ArgumentException>("time", () => TableKit.Items.Expire(static _ => null).Expire(static _ => null));
        Names<ArgumentException>("name", () => TableKit.Items.Index("(expiry)", 1, keys));
        Names<ArgumentException>("name", () => _ = new SharedIndex("(expiry)", 1));
        Names<ArgumentOutOfRangeException>("version", () => _ = new SharedIndex("name", -1));
        Names<ArgumentNullException>("index", () => TableKit.Items.Index(null!, keys));
        Names<ArgumentNullException>("keys", () => TableKit.Items.Index(TableKit.Sections, null!));
        Names<ArgumentException>("index", () => TableKit.Sharing.Index(TableKit.Sections, keys));
        Names<ArgumentNullException>("name", () => TableDefinition.Create(null!, 1, rows, KeyCodec.Utf8, key));
        Names<ArgumentNullException>("rows", () => TableDefinition.Create(null!, 1, (IRowCodec<Item>)null!, KeyCodec.Utf8, key));
        Names<ArgumentNullException>("keys", () => TableDefinition.Create("items", 1, rows, null!, key));
        Names<ArgumentNullException>("key", () => TableDefinition.Create("items", 1, rows, KeyCodec.Utf8, null!));
        Names<ArgumentNullException>("key", () => TableDefinition.CreateWithRowIds("items", 1, rows, null!));
        Names<ArgumentNullException>("keys", () => TableKit.Plain(1).Index("section", 1, null!));
        Names<ArgumentException>("name", () => TableKit.Items.UniqueIndex("section", 1, keys));
        Names<ArgumentNullException>("name", () => KeyCodec.Create<int>(null!, static (key, ref writer) => writer.Add(key)));
        Names<ArgumentException>("name", () => KeyCodec.Create<int>("utf8", static (key, ref writer) => writer.Add(key)));
        Names<ArgumentNullException>("write", () => KeyCodec.Create<int>("own", null!));
        Names<ArgumentNullException>("type", () => RowCodec.Json<Item>(null!));
        Names<ArgumentNullException>("text", () => PageToken.Parse(null!));
        Names<ArgumentOutOfRangeException>("value", () => _ = new EvolveOptions { MaxHold = TimeSpan.Zero });
        Names<ArgumentOutOfRangeException>("value", () => _ = new EvolveOptions { MaxBytes = 0 });
    }

    private static void Names<T>(string parameter, Action call)
        where T : ArgumentException
    {
        var thrown = FluentActions.Invoking(call).Should().Throw<T>().Which;
        (thrown.GetType(), thrown.ParamName).Should().Be((typeof(T), parameter));
    }

    private static async Task NamesLater<T>(string parameter, Func<Task> call)
        where T : ArgumentException =>
        (await FluentActions.Awaiting(call).Should().ThrowAsync<T>()).Which.ParamName.Should().Be(parameter);

    private static IEnumerable<ArgumentRow> RowKeys(string member, Action<ArgumentPlace, string> call) =>
    [
        new(member, "key", typeof(ArgumentNullException), place => call(place, null!)),
    ];

    /// <param name="member">The member.</param>
    /// <param name="unfit">An index of which the member makes no use.</param>
    /// <param name="call">The call.</param>
    private static IEnumerable<ArgumentRow> Indexes(string member, string unfit, Action<ArgumentPlace, string> call) =>
    [
        new(member, "index", typeof(ArgumentNullException), place => call(place, null!)),
        .. new[] { "", "none", unfit }.Select(index => new ArgumentRow(member, "index", typeof(ArgumentException), place => call(place, index))),
    ];

    private static Table<string, Item> Read(ArgumentPlace place) => place.Reading.OpenTable(TableKit.Items);

    private static SharedIndexQuery Shared(ArgumentPlace place)
    {
        var query = place.Reading.QuerySharedIndex(TableKit.Sections);
        query.MoveNext();
        return query;
    }

    private static WriteTable<string, Item> Written(ArgumentPlace place) => place.Writing.OpenTable(TableKit.Items);
}
