using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>Two tables that share an index, and short forms of what its tests do.</summary>
internal static class SharedIndexKit
{
    public static readonly SharedIndex Tags = new("tags", 1);

    public static TableDefinition<string, Item> Books { get; } = Define("books");

    public static TableDefinition<string, Item> Notes { get; } = Define("notes");

    public static TableDefinition<string, Item> Plain(string name, int version) =>
        TableDefinition.Create(name, version, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id);

    public static TableDefinition<string, Item> Define(string name) => Plain(name, 1)
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .Index(Tags, AddTags);

    public static void AddTags(in Item item, ref IndexKeys keys)
    {
        foreach (var tag in item.Tags)
            keys.Add(tag);
    }

    public static Item Tagged(string id, params string[] tags) => new(id) { Tags = tags };

    public static void Fill(StorageEnvironment environment)
    {
        environment.Insert(Books, Tagged("b1", "red", "blue"), Tagged("b2", "red"), Tagged("b3"));
        environment.Insert(Notes, Tagged("n1", "red"), Tagged("n2", "blue"));
    }

    public static List<string> Found(SharedIndexQuery query)
    {
        var found = new List<string>();
        foreach (var (table, _) in query)
            found.Add($"{System.Text.Encoding.UTF8.GetString(query.Key).TrimEnd('\0')} {table} {IdOf(query, table)}");
        return found;
    }

    // The ids say it: b1 and n1 have the row id 0.
    private static string IdOf(SharedIndexQuery query, string table) => $"{table[0]}{query.Current.RowId + 1}";

    public static long IdsInTree(ReadTransaction reading) =>
        reading.GetTables().Single(table => table.Name == "notes").Indexes.Single(index => index.Name == "tags").RowIds;
}
