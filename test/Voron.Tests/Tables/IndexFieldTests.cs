using Voron.Tables;
using Voron.Tests.Faults;

namespace Voron.Tests.Tables;

/// <summary>Indexes are asked by values, whose types are those of their keys.</summary>
public sealed class IndexFieldTests : IDisposable
{
    private static readonly TableDefinition<string, Item> Towns = TableKit.Plain(1)
        .Index("section", 1, static item => item.Section)
        .Index("size", 1, static item => item.Size)
        .Index("both", 1, static item => (item.Section, item.Size))
        .IndexEach("tags", 1, static item => item.Tags)
        .UniqueIndex("source", 1, static item => item.Source.Length < 2 ? null : item.Source);

    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public IndexFieldTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());
        _environment.Insert(
            Towns, new Item("a", "Rome", 5, "a@x") { Tags = ["old", "river"] }, new Item("b", "Romeville", 7, "b@x") { Tags = ["new"] },
            new Item("c", "Rome", -3) { Tags = ["old"] }, new Item("d", "Ulm", 100, "d@x"), new Item("e", "", 7));
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void A_value_finds_the_rows_that_have_it_and_no_others()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(Towns);
        TableKit.Ids(table.From("section", "Rome")).Should().Equal("a", "c");
        TableKit.Ids(table.From("section", "Rom")).Should().BeEmpty();
        TableKit.Ids(table.From("section", IndexRange.Prefix("Rom"))).Should().Equal("a", "c", "b");
        TableKit.Ids(table.From("tags", "old")).Should().Equal("a", "c");
        table.TryGetBy("source", "a@x", out var found).Should().BeTrue();
        found!.Id.Should().Be("a");
        table.TryGetBy("source", "a", out _).Should().BeFalse();
        TableKit.Ids(table.Rows(IdQuery.And(table.Ids("section", "Rome"), table.Ids("tags", "river")))).Should().Equal("a");
        table.From("source").Count().Should().Be(3, "a row whose key is null is not in the index");
        _environment.MustBeSound(Towns, 5);
    }

    [Fact]
    public void Ranges_are_made_of_values()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(Towns);
        TableKit.Ids(table.From("size", IndexRange.From(5).Before(100))).Should().Equal("a", "b", "e");
        TableKit.Ids(table.From("size", IndexRange.After(5))).Should().Equal("b", "e", "d");
        TableKit.Ids(table.From("size", IndexRange.Through(5))).Should().Equal("c", "a");
        TableKit.Ids(table.From("size", IndexRange.Before(5))).Should().Equal("c");
        TableKit.Ids(table.From("size", IndexRange<int>.All).Backward()).Should().Equal("d", "e", "b", "a", "c");
        TableKit.Ids(table.From("both", "Rome")).Should().Equal("c", "a");
        TableKit.Ids(table.From("both", ("Rome", 5))).Should().Equal("a");
        TableKit.Ids(table.From("both", IndexRange.From(("Rome", 0)).Through(("Romeville", 7)))).Should().Equal("a", "b");
        TableKit.Ids(table.From("both", IndexRange.After("Rome"))).Should().Equal("b", "d");
        TableKit.Ids(table.From("both", IndexRange.From("Rome").Before("Romeville"))).Should().Equal("c", "a");
        TableKit.Ids(table.ByKey(IndexRange.From("b").Through("d"))).Should().Equal("b", "c", "d");
        TableKit.Ids(table.ByKey(IndexRange.After("b").Before("d"))).Should().Equal("c");
        TableKit.Ids(table.ByKey(IndexRange.Prefix("d"))).Should().Equal("d");
    }

    [Fact]
    public void A_value_of_another_type_is_refused()
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(Towns);
        table.Invoking(t => t.From("size", 5L)).Should().Throw<ArgumentException>().WithMessage("*'size'*(Int32)*(Int64)*");
        table.Invoking(t => t.From("both", 5)).Should().Throw<ArgumentException>().WithMessage("*(String, Int32)*");
        table.Invoking(t => t.From("section", ("Rome", 5))).Should().Throw<ArgumentException>();
        table.Invoking(t => t.Ids("both", "Rome")).Should().Throw<ArgumentException>("sets of ids are those of whole keys");
        table.Invoking(t => t.TryGetBy("source", 'a', out _)).Should().Throw<ArgumentException>();
        table.Invoking(t => t.From("section", (string)null!)).Should().Throw<ArgumentNullException>();
        table.Invoking(t => t.From("size", IndexRange.Prefix(5))).Should().Throw<ArgumentException>().WithMessage("*Int32 has no beginning*");
        var untyped = reading.OpenTable(TableKit.Plain(1).Index("size", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size)));
        TableKit.Ids(untyped.From("size", 7)).Should().Equal("b", "e");
        untyped.Invoking(t => t.From("size", DayOfWeek.Friday)).Should().Throw<ArgumentException>().WithMessage("*DayOfWeek*");
    }

    [Fact]
    public void A_key_that_is_too_long_has_an_exception_of_its_own()
    {
        var longest = _environment.MaxKeyLength;
        using (var reading = _environment.BeginRead())
        {
            var table = reading.OpenTable(Towns);
            table.Invoking(t => t.From("section", new string('x', 300)).Count()).Should().NotThrow();
            foreach (var call in (Action[])[
                () => table.From("section", new string('x', longest)), () => table.TryGetBy("source", new string('x', longest), out _),
                () => table.Ids("section", new string('x', longest)),
                () => table.From("section", IndexRange.From("a").Through(new string('x', longest)))])
                call.Should().Throw<KeyTooLongException>().Which.MaxKeyLength.Should().Be(longest);
            foreach (var call in (Action<string>[])[
                key => table.TryGet(key, out _), key => table.TryGet(key, out _, out _), key => table.Contains(key),
                key => table.TryGetVersion(key, out _), key => table.TryGetReader(key, out _), key => table.ByKey(IndexRange.From(key))])
                call.Invoking(c => c(new string('x', longest + 1))).Should().Throw<KeyTooLongException>().Which.IndexName.Should().BeEmpty();
        }

        _environment.Write(writing =>
        {
            var table = writing.OpenTable(Towns);
            var refused = table.Invoking(t => t.Insert(new Item("x", new string('x', longest)))).Should().Throw<KeyTooLongException>().Which;
            (refused.TableName, refused.IndexName, refused.RowId).Should().Be(("items", "section", null));
            table.Insert(new Item("x", new string('x', longest - 10)));
            table.DeleteWhere("section", IndexRange.Prefix("xxx")).Should().Be(1);
            table.DeleteWhere("section", "Rome", most: 1).Should().Be(1);
        });
        _environment.MustBeSound(Towns, 4);
    }

    [Fact]
    public void Values_of_all_types_have_the_bytes_that_a_writer_writes()
    {
        Same("text", new KeyWriter(new byte[20]).Add("text"));
        Same(new byte[] { 1, 2 }, new KeyWriter(new byte[20]).Add([1, 2]));
        Same(true, new KeyWriter(new byte[20]).Add(true));
        Same((sbyte)-1, new KeyWriter(new byte[20]).Add((sbyte)-1));
        Same((byte)1, new KeyWriter(new byte[20]).Add((byte)1));
        Same((short)-1, new KeyWriter(new byte[20]).Add((short)-1));
        Same((ushort)1, new KeyWriter(new byte[20]).Add((ushort)1));
        Same(-1, new KeyWriter(new byte[20]).Add(-1));
        Same(1u, new KeyWriter(new byte[20]).Add(1u));
        Same(-1L, new KeyWriter(new byte[20]).Add(-1L));
        Same(1uL, new KeyWriter(new byte[20]).Add(1uL));
        Same((Int128)(-1), new KeyWriter(new byte[20]).Add((Int128)(-1)));
        Same((UInt128)1, new KeyWriter(new byte[20]).Add((UInt128)1));
        Same((Half)1.5, new KeyWriter(new byte[20]).Add((Half)1.5));
        Same(1.5f, new KeyWriter(new byte[20]).Add(1.5f));
        Same(1.5, new KeyWriter(new byte[20]).Add(1.5));
        Same(1.5m, new KeyWriter(new byte[20]).Add(1.5m));
        Same(Guid.Empty, new KeyWriter(new byte[20]).Add(Guid.Empty));
        Same(DateTime.UnixEpoch, new KeyWriter(new byte[20]).Add(DateTime.UnixEpoch));
        Same(DateTimeOffset.UnixEpoch, new KeyWriter(new byte[20]).Add(DateTimeOffset.UnixEpoch));
        Same(DateOnly.MaxValue, new KeyWriter(new byte[20]).Add(DateOnly.MaxValue));
        Same(TimeOnly.MaxValue, new KeyWriter(new byte[20]).Add(TimeOnly.MaxValue));
        Same(TimeSpan.MaxValue, new KeyWriter(new byte[20]).Add(TimeSpan.MaxValue));
        Same((1, ("a", 2L), 3), new KeyWriter(new byte[20]).Add(1).Add("a").Add(2L).Add(3));

        static void Same<T>(T value, KeyWriter written) => IndexField.Encode(value, isPrefix: false).Should().Equal(written.Written.ToArray());
    }

    [Fact]
    public void A_refusal_shows_the_values_of_the_key()
    {
        var definition = TableDefinition.Create("mails", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
            .UniqueIndex("pair", 1, static item => (item.Section, item.Size));
        _environment.Insert(definition, new Item("a", "net", 7));
        _environment.Write(writing => writing.OpenTable(definition).Invoking(t => t.Insert(new Item("b", "net", 7)))
            .Should().Throw<DuplicateKeyException>().WithMessage("*already: 'net', 7.*"));
        _environment.Write(writing => writing.OpenTable(Towns).Invoking(t => t.Insert(new Item("z", Source: "a@x")))
            .Should().Throw<DuplicateKeyException>().WithMessage("*already: 'a@x'.*"));
    }
}
