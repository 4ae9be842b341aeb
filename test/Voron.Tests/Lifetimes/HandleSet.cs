using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <summary>Handles of all kinds in one transaction.</summary>
internal sealed class HandleSet
{
    public const string TreeName = "items";

    public const string FixedName = "numbers";

    public const long FixedKey = 50;

    public const string IdsName = "sets";

    public const string ValueSetsName = "valuesets";

    public const string RowIdBytes = "row 50";

    public static readonly byte[] IdKey = [9];

    public static readonly byte[] Key = [5];

    public static readonly byte[] NewKey = [200];

    public static readonly CommitStateKey<string> StateKey = new("state");

    /// <summary>A value that was staged in an environment that no test uses.</summary>
    public static readonly StagedValue Foreign =
        StorageEnvironment.OpenInMemory().StageAsync(new MemoryStream([1])).AsTask().GetAwaiter().GetResult();

    public ReadTransaction Reading { get; private init; }

    public WriteTransaction Writing { get; private init; }

    public Tree Tree { get; private init; }

    public WriteTree WriteTree { get; private init; }

    public Cursor Cursor { get; private init; }

    public FixedTree FixedTree { get; private init; }

    public WriteFixedTree WriteFixedTree { get; private init; }

    public FixedTree<long> Typed { get; private init; }

    public WriteFixedTree<long> TypedWrite { get; private init; }

    public FixedCursor FixedCursor { get; private init; }

    public IdTree IdTree { get; private init; }

    public WriteIdTree WriteIdTree { get; private init; }

    public IdCursor IdCursor { get; private init; }

    public IdKeyCursor IdKeyCursor { get; private init; }

    public ValueSetTree ValueSetTree { get; private init; }

    public WriteValueSetTree WriteValueSetTree { get; private init; }

    public ValueCursor ValueCursor { get; private init; }

    public ValueSetCursor ValueSetCursor { get; private init; }

    public IdQuery IdQuery { get; private init; } = null!;

    public Table<string, Item> Table { get; private init; }

    public WriteTable<string, Item> WriteTable { get; private init; }

    public RowQuery<Item> RowQuery { get; private init; } = null!;

    public SharedIndexQuery SharedQuery { get; private init; } = null!;

    public Savepoint Savepoint { get; private init; }

    public NestedTransaction Nested { get; private init; }

    public Stream Stream { get; private init; } = Stream.Null;

    public LookupBatch Batch { get; private init; } = new();

    public static StorageEnvironment OpenEnvironment()
    {
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        using var writing = environment.BeginWrite();
        Fill(writing.CreateTree(TreeName));
        var numbers = writing.CreateFixedTree<long>(FixedName);
        for (var i = 1; i < 100; i++)
            numbers.Put(i, i);
        Fill(writing.CreateIdTree(IdsName));
        Fill(writing.CreateValueSetTree(ValueSetsName));
        writing.CreateTable(TableKit.Items).InsertMany([.. Enumerable.Range(1, 99).Select(i => new Item($"row {i:D2}"))]);
        writing.CreateTable(TableKit.Sharing).InsertMany([.. Enumerable.Range(1, 99).Select(i => new Item($"row {i:D2}"))]);
        writing.Commit();
        return environment;
    }

    public static void Fill(WriteTree tree)
    {
        for (byte i = 1; i < 100; i++)
            tree.Put([i], [i, i]);
    }

    public static void Fill(WriteIdTree tree)
    {
        for (var i = 1; i < 100; i++)
            tree.Add(IdKey, i, (byte)i);
    }

    public static void Fill(WriteValueSetTree tree)
    {
        for (byte i = 1; i < 200; i++)
            tree.Add(IdKey, [i, i, i]);
        tree.Add(IdKey, Key);
    }

    public static HandleSet Of(ReadTransaction reading)
    {
        var tree = reading.OpenTree(TreeName);
        var numbers = reading.OpenFixedTree(FixedName);
        var sets = reading.OpenIdTree(IdsName);
        var valueSets = reading.OpenValueSetTree(ValueSetsName);
        var table = reading.OpenTable(TableKit.Items);
        return new HandleSet
        {
            Reading = reading,
            Tree = tree,
            FixedTree = numbers,
            IdTree = sets,
            ValueSetTree = valueSets,
            Table = table,
            Typed = new FixedTree<long>(numbers),
            Cursor = CursorOf(tree),
            FixedCursor = CursorOf(numbers),
            IdCursor = CursorOf(sets),
            IdKeyCursor = KeyCursorOf(sets),
            ValueCursor = ValuesOf(valueSets),
            ValueSetCursor = CursorOf(valueSets),
            IdQuery = sets.Query(IdKey),
            RowQuery = QueryOf(table),
            SharedQuery = Begun(reading.QuerySharedIndex(TableKit.Sections)),
            Stream = StreamOf(tree),
            Batch = BatchOf(tree),
        };
    }

    /// <summary>Opens a tree, all of whose handles end with a rollback to the savepoint that is created first.</summary>
    public static HandleSet Of(WriteTransaction writing)
    {
        var tree = writing.OpenTree(TreeName);
        var numbers = writing.OpenFixedTree(FixedName);
        var sets = writing.OpenIdTree(IdsName);
        var valueSets = writing.OpenValueSetTree(ValueSetsName);
        var table = writing.OpenTable(TableKit.Items);
        return new HandleSet
        {
            Writing = writing,
            Tree = tree,
            WriteTree = tree,
            FixedTree = numbers,
            IdTree = sets,
            ValueSetTree = valueSets,
            WriteFixedTree = numbers,
            WriteIdTree = sets,
            WriteValueSetTree = valueSets,
            Table = table,
            WriteTable = table,
            Typed = new FixedTree<long>(numbers),
            TypedWrite = new WriteFixedTree<long>(numbers),
            Savepoint = writing.CreateSavepoint(),
            Nested = writing.BeginNested(),
            Cursor = CursorOf(tree),
            FixedCursor = CursorOf(numbers),
            IdCursor = CursorOf(sets),
            IdKeyCursor = KeyCursorOf(sets),
            ValueCursor = ValuesOf(valueSets),
            ValueSetCursor = CursorOf(valueSets),
            IdQuery = sets.Query(IdKey),
            RowQuery = QueryOf(table),
            SharedQuery = Begun(writing.QuerySharedIndex(TableKit.Sections)),
            Stream = StreamOf(tree),
            Batch = BatchOf(tree),
        };
    }

    private static FixedCursor CursorOf(FixedTree tree)
    {
        var cursor = tree.OpenCursor();
        cursor.SeekExact(FixedKey).Should().BeTrue();
        return cursor;
    }

    private static IdCursor CursorOf(IdTree tree)
    {
        var cursor = tree.OpenIds(IdKey);
        cursor.Seek(FixedKey).Should().BeTrue();
        return cursor;
    }

    private static ValueCursor ValuesOf(ValueSetTree tree)
    {
        var cursor = tree.OpenValues(IdKey);
        cursor.SeekExact(Key).Should().BeTrue();
        return cursor;
    }

    private static ValueSetCursor CursorOf(ValueSetTree tree)
    {
        var cursor = tree.OpenCursor();
        cursor.SeekExact(IdKey, Key).Should().BeTrue();
        return cursor;
    }

    private static IdKeyCursor KeyCursorOf(IdTree tree)
    {
        var cursor = tree.OpenCursor();
        cursor.SeekExact(IdKey).Should().BeTrue();
        return cursor;
    }

    private static RowQuery<Item> QueryOf(Table<string, Item> table)
    {
        var query = table.From("section");
        query.MoveNext().Should().BeTrue();
        return query;
    }

    private static SharedIndexQuery Begun(SharedIndexQuery query)
    {
        query.MoveNext().Should().BeTrue();
        return query;
    }

    private static Cursor CursorOf(Tree tree)
    {
        var cursor = tree.OpenCursor();
        cursor.SeekExact(Key).Should().BeTrue();
        return cursor;
    }

    private static Stream StreamOf(Tree tree) => tree.TryOpenStream(Key, out var stream) ? stream : Stream.Null;

    private static LookupBatch BatchOf(Tree tree)
    {
        var batch = new LookupBatch();
        batch.Add(Key);
        tree.GetMany(batch).Should().Be(1);
        return batch;
    }
}
