using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>A definition, and short forms of what the tests of tables do.</summary>
internal static class TableKit
{
    public static readonly TableDefinition<string, Item> Items = Plain(1)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .Index("tags", 1, static (in Item item, ref IndexKeys keys) =>
        {
            foreach (var tag in item.Tags)
                keys.Add(tag);
        })
        .Index("large", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Size > 99)
                keys.Add(item.Size);
        })
        .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) =>
        {
            if (item.Source.Length > 1)
                keys.Begin().Add(item.Source).Add(item.Size);
        });

    /// <summary>An index that tables share.</summary>
    public static readonly SharedIndex Sections = new("sections", 1);

    /// <summary>A table that has only the shared index.</summary>
    public static readonly TableDefinition<string, Item> Sharing = TableDefinition
        .Create("sharing", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
        .Index(Sections, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));

    /// <summary>The table without indexes but the primary key.</summary>
    public static TableDefinition<string, Item> Plain(int version) =>
        TableDefinition.Create("items", version, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id);

    public static byte[] Key(string text) => new KeyWriter(new byte[200]).Add(text).Written.ToArray();

    public static byte[] Key(string text, int number) => new KeyWriter(new byte[200]).Add(text).Add(number).Written.ToArray();

    public static byte[] Key(int number) => new KeyWriter(new byte[200]).Add(number).Written.ToArray();

    public static List<string> Ids(RowQuery<Item> query)
    {
        var ids = new List<string>();
        foreach (var item in query)
            ids.Add(item.Id);
        return ids;
    }

    /// <summary>Inserts items in one transaction into a table that is created if there is none.</summary>
    public static void Insert(this StorageEnvironment environment, TableDefinition<string, Item> definition, params Item[] items) =>
        environment.Write(writing => writing.CreateTable(definition).InsertMany(items));

    public static void MustBeSound<TKey, TRow>(this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, long rows)
    {
        var report = environment.VerifyTable(definition);
        report.Problems.Should().BeEmpty();
        report.Rows.Should().Be(rows);
        environment.Verify().Problems.Should().BeEmpty();
    }
}
