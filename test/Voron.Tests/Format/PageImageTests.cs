using System.Runtime.InteropServices;
using System.Text;
using Voron.Feeds;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Tables;
using Voron.Tests.Feeds;
using Voron.Tests.Tables;

namespace Voron.Tests.Format;

/// <summary>The pages of trees of each kind, byte by byte as they are stored in the data file.</summary>
[Quick]
public sealed class PageImageTests
{
    private const int PageSize = 4096;
    private const int FirstPageOfTrees = 3;
    private const long FeedStamp = 0x1122_3344_5566_7789;
    private const string Meaning = "pages have changed. If older ones can still be read, accept the image; otherwise existing files cannot be read.";

    [Fact]
    public void Pages_of_a_tree_with_values_of_each_form() => Check("plain", static writing =>
    {
        var tree = writing.CreateTree("t");
        tree.Put("a"u8, "value"u8);
        tree.Put("b"u8, []);
        tree.Put("c"u8, Value(1, 3_000));
        tree.Put("d"u8, Value(2, 20_000));
        tree.Delete("b"u8);
    });

    [Fact]
    public void Pages_of_a_tree_with_compressed_values() => Check("compressed", static writing =>
    {
        var tree = writing.CreateTree("t");
        writing.CompressValues("t", ValueCompression.Fast);
        for (byte i = 0; i < 4; i++)
            tree.Put([i], Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("one and the same text, ", 6)) + i));
    });

    [Fact]
    public void Pages_of_fixed_size_trees() => Check("fixed", static writing =>
    {
        var rising = writing.CreateFixedTree("rising", 8);
        for (var i = 0; i < 300; i++)
            rising.Put(i, BitConverter.GetBytes((long)i));
        var mixed = writing.CreateFixedTree("mixed", 2);
        foreach (var key in new[] { 5, 3, 9, -1, 7 })
            mixed.Put(key, [(byte)key, 1]);
        mixed.Delete(3);
    });

    [Fact]
    public void Pages_of_id_sets() => Check("id-sets", static writing =>
    {
        var tree = writing.CreateIdTree("t");
        tree.Add("one"u8, 77, 5);
        foreach (var id in new[] { 9, 3, 1_000_000 })
            tree.Add("few"u8, id);
        for (var id = 0; id < 400; id++)
            tree.Add("many"u8, 3L * id, (byte)(id % 5));
    });

    [Fact]
    public void Pages_of_value_sets() => Check("value-sets", static writing =>
    {
        var tree = writing.CreateValueSetTree("t");
        foreach (var value in new[] { "pear", "apple", "plum" })
            tree.Add("fruit"u8, Encoding.ASCII.GetBytes(value));
        for (byte i = 0; i < 40; i++)
            tree.Add("large"u8, Value(i, 30 + i));
    });

    [Fact]
    public void Pages_of_a_table() => Check("table", static writing =>
    {
        var table = writing.CreateTable(TableKit.Items);
        table.Insert(new Item("a", "books", 120, "shop") { Tags = ["x", "y"] });
        table.Insert(new Item("b", "books", 3));
        table.Upsert(new Item("a", "maps", 121, "shop") { Tags = ["y"] });
    });

    [Fact]
    public void Pages_of_tables_that_share_an_index_and_whose_rows_expire() => Check("shared-index", static writing =>
    {
        writing.CreateTable(TableKit.Sharing).Insert(new Item("a", "books"));
        var other = TableDefinition.Create("other", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
            .Index(TableKit.Sections, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section))
            .Expire(static item => item.Size == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(item.Size));
        writing.CreateTable(other).Insert(new Item("b", "books"));
        writing.OpenTable(other).Insert(new Item("c", "maps", int.MaxValue));
        var left = TableDefinition.Create("left", 1, new ItemCodec(), KeyCodec.Utf8, static (Item item) => item.Id)
            .Index(TableKit.Sections, static (in Item item, ref IndexKeys keys) => keys.Add(item.Section));
        writing.CreateTable(left).Insert(new Item("d", "books"));
        writing.DeleteTable("left");
    });

    // A feed of a tree and of a table, with a change of each form, a consumer and a source that has ended.
    [Fact]
    public void Pages_of_a_change_feed() => Check("feed", static writing =>
    {
        writing.CreateFeed("feed", new FeedOptions { MaxValueBytes = 40 });
        FixStamp(writing, "feed");
        var tree = writing.CreateTree("t");
        writing.RecordTree("feed", "t");
        tree.Put("a"u8, "value"u8);
        tree.Put("b"u8, Value(1, 50));
        tree.Delete("a"u8);
        tree.DeleteRange(KeyRange.From("b"u8));
        var table = writing.CreateTable(TableKit.Plain(1));
        writing.RecordTable("feed", "items", RecordedContent.NewValues | RecordedContent.OldValues);
        table.Insert(new Item("a"));
        table.Upsert(new Item("a", Size: 7));
        table.Delete("a");
        writing.StopRecordingTree("t");
        var registry = new FeedRegistry(writing);
        writing.SetPosition("feed", "consumer", registry.OldestOf(registry.Get("feed")) with { Ordinal = 3 });
    });

    // A feed has a random number.
    private static void FixStamp(WriteTransaction writing, string name)
    {
        var feed = new FeedRegistry(writing).Get(name);
        feed.Stamp = FeedStamp;
        FeedEditor.OpenFeeds(writing).Put(FeedRegistry.FeedKey(name), feed.ToBytes());
    }

    // The checksum depends on the rest of the page alone, and is proven by reading.
    private static void Check(string name, Action<WriteTransaction> write)
    {
        var bytes = Write(write);
        var text = new StringBuilder();
        for (var page = FirstPageOfTrees; (page + 1) * PageSize <= bytes.Length; page++)
        {
            var image = bytes.AsSpan(page * PageSize, PageSize);
            var header = MemoryMarshal.Read<PageHeader>(image);
            if (header.PageNumber != page || header.Kind == PageKind.None)
                continue;
            image[..sizeof(ulong)].Clear();
            text.Append(System.Globalization.CultureInfo.InvariantCulture, $"page {page}, {header.Kind}\n").Append(HexImage.Of(image)).Append('\n');
        }

        AcceptedText.Check($"test/Voron.Tests/Format/Images/pages-{name}.txt", text.ToString(), Meaning);
    }

    private static byte[] Write(Action<WriteTransaction> write)
    {
        var disk = new MemoryDisk();
        var options = new StorageOptions { BackgroundFlush = false, PageSize = PageSize, CommitClock = new FeedClock() };
        using var environment = StorageEnvironment.Open(disk, options);
        using (var writing = environment.BeginWrite())
        {
            write(writing);
            writing.Commit();
        }

        environment.Flush();
        using var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        var bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes;
    }

    // The images hold these bytes.
    private static byte[] Value(int seed, int length)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}
