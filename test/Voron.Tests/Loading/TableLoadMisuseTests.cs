using Voron.Tables;
using Voron.Tests.Staging;
using Voron.Tests.Tables;

namespace Voron.Tests.Loading;

/// <summary>Rows that a table cannot have, wrong calls of a load, and changes of its table meanwhile, are refused, and nothing is loaded.</summary>
[Quick]
public sealed class TableLoadMisuseTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        StagingTestKit.CheckUnreserved(_environment);
        _environment.Dispose();
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task A_repeated_primary_key_is_named(bool isSorted, bool hasRows)
    {
        await CheckAsync(TableKit.Items, "*'2'*'items'*Duplicates*");
        await CheckAsync(TableLoadKit.Numbers, "*0x000000000002*'numbers'*Duplicates*");

        async Task CheckAsync<TKey>(TableDefinition<TKey, Item> definition, string message)
        {
            if (hasRows)
                _environment.Write(writing => writing.CreateTable(definition).Insert(new Item("0")));
            var options = new BulkLoadOptions { Duplicates = DuplicateKeys.Refuse, Sorted = isSorted };
            await _environment.Awaiting(at => at.BulkLoadAsync(definition, [new("1"), new("2"), new("2", Size: 1)], options, Token))
                .Should().ThrowAsync<InvalidOperationException>().WithMessage(message);
            MustHave(definition, hasRows ? ["0"] : []);
        }
    }

    [Theory]
    [InlineData(DuplicateKeys.LastWins, "new")]
    [InlineData(DuplicateKeys.FirstWins, "old")]
    [InlineData(DuplicateKeys.Refuse, null)]
    public async Task Rows_of_the_table_come_first(DuplicateKeys duplicates, string? expected)
    {
        _environment.Insert(TableKit.Items, new Item("b", "old"));
        var load = async () => await _environment.BulkLoadAsync(
            TableKit.Items, [new("c", "new"), new("b", "new"), new("a", "new")], new BulkLoadOptions { Duplicates = duplicates }, Token);
        if (expected == null)
            await load.Should().ThrowAsync<InvalidOperationException>().WithMessage("*'b'*");
        else
            (await load()).EntriesStored.Should().Be(expected == "new" ? 3 : 2);
        using var reading = _environment.BeginRead();
        reading.OpenTable(TableKit.Items).TryGet("b", out var row).Should().BeTrue();
        row!.Section.Should().Be(expected ?? "old");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Two_rows_with_one_key_in_a_unique_index_end_the_load(bool hasRows)
    {
        if (hasRows)
            _environment.Insert(TableKit.Items, new Item("0"));
        Item[] items = [new("1", Source: "one"), new("2", Source: "two"), new("3", Source: "one")];
        var failure = await _environment.Awaiting(at => at.BulkLoadAsync(TableKit.Items, items, null, Token))
            .Should().ThrowAsync<DuplicateKeyException>();
        (failure.Which.IndexName, failure.Which.TableName).Should().Be(("source", "items"));
        failure.Which.Key.ToArray().Should().Equal(TableKit.Key("one", 0));
        MustHave(TableKit.Items, hasRows ? ["0"] : []);

        // A row that has lost its primary key constrains no other.
        items[0] = items[0] with { Id = "3" };
        await _environment.BulkLoadAsync(TableKit.Items, items, null, Token);
        MustHave(TableKit.Items, hasRows ? ["0", "2", "3"] : ["2", "3"]);
    }

    [Fact]
    public async Task Rows_out_of_order_are_refused()
    {
        var options = new BulkLoadOptions { Sorted = true };
        await _environment.Awaiting(at => at.BulkLoadAsync(TableKit.Items, [new("b"), new("a")], options, Token))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*table 'items'*'a'*'b'*Sorted*");
        await _environment.Awaiting(at => at.BulkLoadAsync(TableLoadKit.Numbers, [new("10"), new("9")], options, Token))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*table 'numbers'*");
        MustHave(TableKit.Items);
        MustHave(TableLoadKit.Numbers);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_function_that_throws_ends_the_load(bool hasRows)
    {
        var definition = TableKit.Plain(1)
            .Index("throwing", 1, static item => item.Section == "bad" ? throw new TimeZoneNotFoundException() : item.Section);
        if (hasRows)
            _environment.Insert(definition, new Item("0"));
        using (var load = await _environment.BeginBulkLoadAsync(definition, null, Token))
        {
            load.Put(new("a"));
            load.Invoking(at => at.Put(new("b", "bad"))).Should().Throw<IndexKeyException>().WithInnerException<TimeZoneNotFoundException>();
            load.Invoking(at => at.Put(new("c"))).Should().Throw<InvalidOperationException>().WithMessage("*table 'items'*had ended*");
        }

        using (var load = await _environment.BeginBulkLoadAsync(definition, null, Token))
        {
            load.Put(new("a"));
            load.Invoking(at => at.Put(new(""))).Should().Throw<IndexKeyException>();
        }

        using (var load = await _environment.BeginBulkLoadAsync(definition, null, Token))
        {
            load.Put(new("a"));
            load.Invoking(at => at.Put(new("b", new string('x', 5_000)))).Should().Throw<KeyTooLongException>();
            await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*had ended*");
        }

        MustHave(definition, hasRows ? ["0"] : []);
    }

    [Theory]
    [InlineData("put")]
    [InlineData("complete")]
    [InlineData("dispose")]
    public async Task A_codec_that_calls_the_load_is_refused(string call)
    {
        TableBulkLoad<Item>? load = null;
        var definition = TableDefinition.Create(
            "calling", 1, new CallingCodec(() => Call(load!)), KeyCodec.Utf8, static (Item item) => item.Id);
        using (load = await _environment.BeginBulkLoadAsync(definition, null, Token))
        {
            var putting = load.Invoking(at => at.Put(new("a")));
            if (call == "dispose")
                putting.Should().NotThrow();
            else
                putting.Should().Throw<RowFormatException>().WithInnerException<InvalidOperationException>().WithMessage("*during another call*");
            await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>();
        }

        MustHave(definition);

        void Call(TableBulkLoad<Item> entered)
        {
            if (call == "put")
                entered.Put(new("b"));
            else if (call == "complete")
                StagingTestKit.Wait(entered.CompleteAsync(Token));
            else
                entered.Dispose();
        }
    }

    [Theory]
    [InlineData("fill")]
    [InlineData("use an id")]
    [InlineData("drop")]
    [InlineData("replace")]
    [InlineData("evolve")]
    [InlineData("drop an index")]
    [InlineData("fill a shared index")]
    [InlineData("compress")]
    public async Task A_table_that_changes_meanwhile_is_left_alone(string change)
    {
        using var load = await _environment.BeginBulkLoadAsync(TableLoadKit.Texts, null, Token);
        load.Put(new("a"));
        if (change is "drop" or "replace")
            await _environment.DropTableAsync("texts", Token);
        if (change == "replace")
            _environment.Write(writing => writing.CreateTable(TableLoadKit.Texts));
        if (change is "fill" or "use an id")
            _environment.Insert(TableLoadKit.Texts, new Item("b"));
        if (change == "use an id")
            _environment.Write(writing => writing.OpenTable(TableLoadKit.Texts).Delete("b"));
        if (change == "evolve")
            await _environment.EvolveAsync(TableLoadKit.Define("texts", 2), null, null, Token);
        if (change == "drop an index")
            await _environment.DropIndexAsync("texts", "tags", Token);
        if (change == "fill a shared index")
            _environment.Write(writing => writing.CreateTable(TableLoadKit.Numbers).Insert(new Item("1")));
        if (change == "compress")
            await _environment.EvolveAsync(TableLoadKit.Texts.CompressRows(ValueCompression.Fast), null, null, Token);
        await load.Awaiting(at => at.CompleteAsync(Token))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*table 'texts'*changed*nothing*");
        using var reading = _environment.BeginRead();
        reading.GetTableNames().Contains("texts").Should().Be(change != "drop");
        if (change != "drop")
            reading.OpenTable(TableLoadKit.Texts).Count.Should().Be(change == "fill" ? 1 : 0);
    }

    [Fact]
    public async Task Definitions_and_options_that_do_not_fit_are_refused()
    {
        _environment.Insert(TableKit.Plain(2), new Item("0"));
        await _environment.Awaiting(at => at.BeginBulkLoadAsync(TableKit.Items, null, Token))
            .Should().ThrowAsync<SchemaMismatchException>().WithMessage("*version*");
        _environment.Insert(TableLoadKit.Define("numbers", 1), new Item("0"));
        await _environment.Awaiting(at => at.BulkLoadAsync(TableLoadKit.Numbers, [new Item("1")], null, Token))
            .Should().ThrowAsync<SchemaMismatchException>().WithMessage("*row ids*");
        await _environment.Awaiting(at => at.BeginBulkLoadAsync(TableKit.Plain(2), new BulkLoadOptions { SpillDirectory = "/no/such/place" }, Token))
            .Should().ThrowAsync<StorageAccessException>().WithMessage("*/no/such/place*");
        await _environment.WriteAsync(
            _ => _environment.Awaiting(at => at.BeginBulkLoadAsync(TableKit.Plain(2), null, Token))
                .Should().ThrowAsync<InvalidOperationException>().WithMessage("*group-commit*").GetAwaiter().GetResult(),
            Token);
        MustHave(TableKit.Plain(2), "0");
    }

    [Fact]
    public async Task A_source_that_throws_or_uses_the_table_itself()
    {
        await _environment.Awaiting(at => at.BulkLoadAsync(TableKit.Items, Throwing(), null, Token)).Should().ThrowAsync<TimeZoneNotFoundException>();
        MustHave(TableKit.Items);
        (await _environment.BulkLoadAsync(TableKit.Items, Reading(), null, Token)).EntriesStored.Should().Be(100);
        _environment.MustBeSound(TableKit.Items, 100);

        static IEnumerable<Item> Throwing()
        {
            yield return new("a");
            throw new TimeZoneNotFoundException();
        }

        async IAsyncEnumerable<Item> Reading()
        {
            for (var i = 0; i < 100; i++)
            {
                _environment.Write(writing => writing.OpenTable(TableKit.Items).Count.Should().Be(0));
                await Task.Yield();
                yield return new($"{i:D3}");
            }
        }
    }

    private void MustHave<TKey>(TableDefinition<TKey, Item> definition, params string[] ids)
    {
        _environment.MustBeSound(definition, ids.Length);
        using var reading = _environment.BeginRead();
        TableKit.Ids(reading.OpenTable(definition).Scan()).Order().Should().Equal(ids);
    }

    /// <summary>Calls a delegate before it writes a row.</summary>
    private sealed class CallingCodec(Action call) : IRowCodec<Item>
    {
        private readonly ItemCodec _codec = new();

        public void Write(in Item row, ref RowWriter writer)
        {
            call();
            _codec.Write(row, ref writer);
        }

        public Item Read(ref RowReader reader) => _codec.Read(ref reader);
    }
}
