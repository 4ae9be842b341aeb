using System.Globalization;
using Voron.Tables;
using Voron.Tests.Staging;
using Voron.Tests.Tables;

namespace Voron.Tests.Loading;

/// <summary>Definitions with all kinds of indexes, and short forms of what the tests of table loads do.</summary>
internal static class TableLoadKit
{
    public static readonly SharedIndex Shared = new("shared", 1);

    public static TableDefinition<string, Item> Texts { get; } = Define("texts", 1);

    public static TableDefinition<long, Item> Numbers { get; } = With(TableDefinition.CreateWithRowIds(
        "numbers", 1, new ItemCodec(), static (Item item) => long.Parse(item.Id, CultureInfo.InvariantCulture)));

    public static TableDefinition<string, Item> Define(string name, int version) =>
        With(TableDefinition.Create(name, version, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id));

    /// <summary>Opens an environment whose clock is past the times of some items.</summary>
    public static StorageEnvironment Open(TestDirectory directory, string name = "store") =>
        StorageEnvironment.Open(Path.Combine(directory, name), Options());

    public static StorageOptions Options()
    {
        var options = StagingTestKit.Options();
        options.TimeProvider = new SetClock { Now = ExpiryKit.Start.AddMinutes(50) };
        options.TrackChanges = true;
        return options;
    }

    /// <summary>Makes an item whose unique keys follow from its id, so that only items of the same id share them.</summary>
    public static Item Draw(Random random, long id, int longest = 200) => new(
        id.ToString(CultureInfo.InvariantCulture),
        Section: $"section {random.Next(8)}",
        Size: random.Next(3) == 0 ? 0 : random.Next(1, 200),
        Source: random.Next(3) == 0 ? "s" : $"source {id}")
    {
        Tags = [.. Enumerable.Range(0, random.Next(4)).Select(_ => $"tag {random.Next(20)}")],
        Text = new string((char)random.Next('a', 'z'), random.Next(40) == 0 ? random.Next(longest * 100) : random.Next(longest)),
    };

    /// <summary>Stores an item as an ordinary transaction does.</summary>
    public static void Store<TKey>(WriteTable<TKey, Item> table, Item item, DuplicateKeys duplicates)
    {
        if (duplicates == DuplicateKeys.LastWins)
            table.Upsert(item);
        else if (duplicates == DuplicateKeys.Refuse || !table.Contains(KeyOf<TKey>(item)))
            table.Insert(item);
    }

    public static TKey KeyOf<TKey>(Item item) => typeof(TKey) == typeof(string)
        ? (TKey)(object)item.Id
        : (TKey)(object)long.Parse(item.Id, CultureInfo.InvariantCulture);

    /// <summary>What all queries of a table return, one row a line, in their order.</summary>
    public static List<string> Dump<TKey>(StorageEnvironment environment, TableDefinition<TKey, Item> definition, bool withIds = false)
    {
        using var reading = environment.BeginRead();
        var table = reading.OpenTable(definition);
        var lines = Lines("scan", table.Scan());
        if (typeof(TKey) == typeof(string))
            lines.AddRange(Lines("key", table.ByKey()));
        foreach (var index in definition.IndexNames)
            lines.AddRange(Lines(index, table.From(index)));
        return lines;

        List<string> Lines(string name, RowQuery<Item> query)
        {
            var found = new List<string>();
            foreach (var item in query)
            {
                // Row ids are no keys of the rows, unless the caller compares them.
                var key = name == "scan" ? "" : Convert.ToHexString(query.Key);
                var id = withIds ? $" #{query.RowId}" : "";
                found.Add($"{name} {key} {item.Id} {item.Section} {item.Text.Length}{item.Text.FirstOrDefault()}{id}");
            }

            return found;
        }
    }

    private static TableDefinition<TKey, Item> With<TKey>(TableDefinition<TKey, Item> plain) => plain
        .Index("section", 1, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
        .Index("tags", 1, static (in Item item, ref IndexKeys keys) =>
        {
            foreach (var tag in item.Tags)
                keys.Add(tag);
        })
        .UniqueIndex("source", 1, static (in Item item, ref IndexKeys keys) =>
        {
            // A key with a null constrains no row.
            if (item.Source == "s")
                keys.Begin().AddNull();
            else
                keys.Begin().Add(item.Source);
        })
        .UniqueIndex("code", 1, static (Item item) => item.Source == "s" ? null : item.Source + "!")
        .Index(Shared, static (in Item item, ref IndexKeys keys) => keys.Add(item.Size % 7))
        .Expire(static item => ExpiryKit.TimeOf(item));
}
