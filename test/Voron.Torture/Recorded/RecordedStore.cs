using System.Buffers.Binary;
using Voron.Feeds;
using Voron.Tables;

namespace Voron.Torture.Recorded;

/// <summary>
/// Two tables with indexes of each kind, one of which they share, and a tree with compressed values; one feed records the changes of all of them.
/// </summary>
/// <remarks>
/// Rows with even keys are in the table whose keys have an index, those with odd keys in the one whose keys are row ids. The rows of the latter are
/// compressed, and many of them have a time at which they expire, which is far away.
/// </remarks>
internal static class RecordedStore
{
    public const string TreeName = "recorded";
    public const string Feed = "feed";
    public const string Consumer = "consumer";

    private const int Groups = 7;

    private static readonly DateTimeOffset FarAway = new(2100, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The index that both tables share.</summary>
    public static SharedIndex Grouping { get; } = new("group", 1);

    public static TableDefinition<int, RecordedRow> Rows { get; } =
        TableDefinition.Create("rows", 1, new RecordedRowCodec(), KeyCodec.Int32, static row => row.Key)
            .Index(Grouping, AddGroup)
            .Index("digits", 1, AddDigits)
            .UniqueIndex("pair", 1, AddPair);

    public static TableDefinition<long, RecordedRow> Numbered { get; } =
        TableDefinition.CreateWithRowIds("numbered", 1, new RecordedRowCodec(), static row => row.Key)
            .Index(Grouping, AddGroup)
            .UniqueIndex("pair", 1, AddPair)
            .CompressRows(ValueCompression.Fast)
            .Expire(TimeOf);

    /// <summary>Creates everything that is not there yet.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="maxBytes">The size above which a trim cuts the feed.</param>
    public static WriteTree Create(WriteTransaction writing, long maxBytes)
    {
        var tree = writing.CreateTree(TreeName);
        if (writing.GetValueCompression(TreeName) == ValueCompression.None)
            writing.CompressValues(TreeName, ValueCompression.Thorough);
        writing.CreateTable(Rows);
        writing.CreateTable(Numbered);
        writing.CreateFeed(Feed, new FeedOptions { MaxAge = Timeout.InfiniteTimeSpan, MaxBytes = maxBytes });
        writing.RecordTree(Feed, TreeName);
        writing.RecordTable(Feed, Rows.Name, RecordedContent.NewValues | RecordedContent.OldValues);
        writing.RecordTable(Feed, Numbered.Name);
        return tree;
    }

    /// <summary>Returns the key of an entry of the tree.</summary>
    public static byte[] KeyOf(int key)
    {
        var bytes = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(bytes, key);
        return bytes;
    }

    /// <summary>Puts a row where there is none with its key, or in the place of that one.</summary>
    public static void Upsert(WriteTransaction writing, RecordedRow row)
    {
        if (row.Key % 2 == 0)
            writing.OpenTable(Rows).Upsert(row);
        else
            writing.OpenTable(Numbered).Upsert(row);
    }

    /// <summary>Deletes a row; false when there is none.</summary>
    public static bool Delete(WriteTransaction writing, int key) =>
        key % 2 == 0 ? writing.OpenTable(Rows).Delete(key) : writing.OpenTable(Numbered).Delete(key);

    /// <summary>Reads all rows of both tables, in the order of their keys.</summary>
    public static SortedDictionary<int, int> ReadRows(ReadTransaction reading)
    {
        var rows = new SortedDictionary<int, int>();
        foreach (var row in reading.OpenTable(Rows).Scan())
            rows.Add(row.Key, row.Number);
        foreach (var row in reading.OpenTable(Numbered).Scan())
            rows.Add(row.Key, row.Number);
        return rows;
    }

    private static DateTimeOffset? TimeOf(RecordedRow row) => row.Number % 3 == 0 ? null : FarAway.AddSeconds(row.Number % 50);

    private static void AddGroup(in RecordedRow row, ref IndexKeys keys) => keys.Add(row.Number % Groups);

    private static void AddPair(in RecordedRow row, ref IndexKeys keys) => keys.Begin().Add(row.Number % 4).Add(row.Key);

    private static void AddDigits(in RecordedRow row, ref IndexKeys keys)
    {
        for (var rest = row.Number & 0xFFF; rest > 0; rest >>= 4)
            keys.Add((byte)(rest & 15));
    }
}
