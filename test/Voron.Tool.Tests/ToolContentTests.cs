using System.Text.Json.Serialization;
using Voron.Tables;
using Voron.Tests.Faults;
using Voron.Tests.Tables;

namespace Voron.Tool.Tests;

/// <summary>Each kind of tree, and tables, shown, changed, dumped and loaded by their names.</summary>
public sealed class ToolContentTests : IDisposable
{
    private static readonly TableDefinition<string, Item> Documents = TableDefinition
        .Create("documents", 3, RowCodec.Json(ItemJson.Default.Item), KeyCodec.Utf8, static (Item item) => item.Id)
        .Index("section", 1, static (Item item) => item.Section);

    private static readonly TableDefinition<Guid, Item> ByGuid =
        TableDefinition.Create("guids", 1, new ItemCodec(), KeyCodec.Guid, static (Item item) => Guid.Parse(item.Id));

    private static readonly TableDefinition<long, Item> Numbers =
        TableDefinition.CreateWithRowIds("numbers", 2, new ItemCodec(), static (Item item) => long.Parse(item.Id, provider: null));

    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Rows_are_found_by_their_keys_and_shown_as_JSON_or_as_their_fields()
    {
        Fill();
        (await ToolRun.Done("get", Store, "documents", "b")).Output.Should().StartWith("{\"Id\":\"b\",\"Section\":\"net\",");
        var row = (await ToolRun.Done("get", Store, "documents", "b", "-o", "json")).Json;
        (row.GetProperty("id").GetInt64(), row.GetProperty("key").GetString(), row.GetProperty("definition").GetInt32()).Should().Be((1, "b", 3));
        row.GetProperty("row").GetProperty("Size").GetInt32().Should().Be(7);

        var id = "00112233-4455-6677-8899-aabbccddeeff";
        (await ToolRun.Done("get", Store, "guids", id.ToUpperInvariant())).Output.Should().Contain("\"fields\":[").And.Contain("\"web\"");
        (await ToolRun.Done("get", Store, "numbers", "5", "-o", "json")).Json.TryGetProperty("key", out _).Should().BeFalse();
        (await ToolRun.Of("get", Store, "numbers", "6")).Should().BeEquivalentTo(
            new { Code = ExitCode.NothingThere, Error = "'numbers' has no key '6'.\n" });
        (await ToolRun.Of("get", Store, "numbers", "six")).Error.Should().Be("'six' is no whole number, which the keys are here.\n");
        var noGuid = await ToolRun.Of("get", Store, "guids", "six");
        noGuid.Error.Should().Be("'six' is no key of this table, whose keys are of the kind guid.\n");
        var unknown = await ToolRun.Of("get", Store, "orders", "6");
        unknown.Error.Should().StartWith("There is no tree or table 'orders' in").And.Contain("'voron trees'");
    }

    [Fact]
    public async Task Rows_are_listed_in_the_order_of_their_keys()
    {
        Fill();
        (await KeysOf("documents")).Should().Equal("a", "b", "c\\x0A", "ä");
        (await KeysOf("documents", "--from", "b", "--to", "d")).Should().Equal("b", "c\\x0A");
        (await KeysOf("documents", "--prefix", "c", "--reverse")).Should().Equal("c\\x0A");
        (await KeysOf("documents", "--reverse", "--limit", "2")).Should().Equal("ä", "c\\x0A");
        (await KeysOf("numbers")).Should().Equal("5", "70", "281474976710655");
        (await KeysOf("numbers", "--from", "6", "--reverse")).Should().Equal("281474976710655", "70");
        (await KeysOf("numbers", "--from", "-9", "--to", "70")).Should().Equal("5");
        (await ToolRun.Of("scan", Store, "numbers", "--prefix", "7")).Error.Should().Contain("--from and --to");
        (await KeysOf("prices")).Should().Equal("-5", "9");
        (await KeysOf("prices", "--reverse", "--limit", "1")).Should().Equal("9");

        // Programs do not see expired rows.
        (await KeysOf("items")).Should().Equal("never");
        (await ToolRun.Of("get", Store, "items", "past")).Code.Should().Be(ExitCode.NothingThere);
    }

    [Fact]
    public async Task A_dump_of_everything_comes_back_and_the_program_builds_its_indexes()
    {
        Fill();
        await ToolRun.Done("dump", Store, "--file", At("dump"));
        var loaded = (await ToolRun.Done("load", At("back"), At("dump"), "--write", "-o", "json")).Json;
        (loaded.GetProperty("trees").GetInt32(), loaded.GetProperty("tables").GetInt32()).Should().Be((4, 4));
        await ToolRun.Done("dump", At("back"), "--file", At("again"));
        (await File.ReadAllBytesAsync(At("again"), Stop)).Should().Equal(await File.ReadAllBytesAsync(At("dump"), Stop));

        using (var environment = StorageEnvironment.Open(At("back"), FaultTestKit.Options()))
        {
            await environment.EvolveAsync(Documents, cancellationToken: Stop);
            environment.MustBeSound(Documents, 4);
            environment.MustBeSound(ByGuid, 1);
            environment.MustBeSound(Numbers, 3);
            using var reading = environment.BeginRead();
            TableKit.Ids(reading.OpenTable(Documents).From("section", "net")).Should().Equal("a", "b");
            reading.OpenTable(Documents).TryGetVersion("b", out var version).Should().BeTrue();
            using var original = StorageEnvironment.Open(Store, FaultTestKit.Options());
            using var before = original.BeginRead();
            before.OpenTable(Documents).TryGetVersion("b", out var wanted).Should().BeTrue();
            version.Should().Be(wanted);
        }

        // Its program alone keeps the indexes right from now on.
        (await ToolRun.Of("load", At("back"), At("dump"), "--write", "--resume")).Error.Should().Contain("'documents' has indexes");
        (await ToolRun.Of("load", At("other"), At("dump"), "--write")).Code.Should().Be(ExitCode.Done);
        (await ToolRun.Of("load", At("other"), At("dump"), "--write")).Code.Should().Be(ExitCode.InUse);
        var resumed = (await ToolRun.Done("load", At("other"), At("dump"), "--write", "--resume", "-o", "json")).Json;
        resumed.GetProperty("entries").GetInt64().Should().Be(0);
        (await ToolRun.Of("dump", Store, "--format", "mdb", "--file", At("mdb"))).Error.Should().Contain("jsonlines");
        File.Exists(At("mdb")).Should().BeFalse();
    }

    [Theory]
    [InlineData("{\"tree\":\"prices\",", "\"fixed-size\"", "\"round\"", "trees of the kind 'round' are not known")]
    [InlineData("{\"n\":-5,", "\"n\":-5", "\"m\":-5", "must have \"n\"")]
    [InlineData("{\"n\":-5,", "AQIDBAUGBwg=", "AQID", "3 bytes*8")]
    [InlineData("{\"k\":\"car\",\"id\"", "\"id\":17", "\"id\":-17", "not negative")]
    [InlineData("{\"table\":\"documents\",", "\"version\":3", "\"version\":0", "version above 0")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"key\":\"b\",", "", "a \"key\" if")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"row\":", "\"raw\":", "\"row\" or \"fields\"")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"id\":1,", "\"id\":-1,", "id from 0")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"definition\":3", "\"definition\":70000", "definition from 1")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"rowVersion\":", "\"rowVersion\":-", "version is -")]
    [InlineData("{\"id\":1,\"key\":\"b\"", "\"key\":\"b\"", "\"key\":\"a\"", "one of which another row has already*0 entries were loaded")]
    [InlineData("{\"id\":0,\"key\":\"00112233", "\"key\":\"00112233", "\"key\":\"x0112233", "no key of this table")]
    [InlineData("{\"id\":281474976710655,", "\"id\":281474976710655", "\"id\":5", "the id 5 and the key '5', one of which")]
    public async Task A_line_that_was_edited_is_refused(string begin, string part, string edited, string named)
    {
        Fill();
        await ToolRun.Done("dump", Store, "--file", At("dump"));
        var lines = (await File.ReadAllLinesAsync(At("dump"), Stop))[..^1];
        var at = Array.FindIndex(lines, line => line.StartsWith(begin, StringComparison.Ordinal) && line.Contains(part, StringComparison.Ordinal));
        lines[at] = lines[at].Replace(part, edited, StringComparison.Ordinal);
        var content = string.Join('\n', lines) + "\n";
        var sum = Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(System.Text.Encoding.UTF8.GetBytes(content)));
        var entries = lines.Count(line => !line.StartsWith("{\"t", StringComparison.Ordinal)) - 1;
        await File.WriteAllTextAsync(At("dump"), $"{content}{{\"end\":true,\"trees\":8,\"entries\":{entries},\"sha256\":\"{sum}\"}}\n", Stop);
        var run = await ToolRun.Of("load", At("back"), At("dump"), "--write");
        run.Code.Should().Be(ExitCode.Damaged);
        run.Error.Should().Contain($"Line {at + 1} of").And.Match($"*{named}*");
    }

    [Fact]
    public async Task Entries_are_put_and_deleted_by_the_kind_of_their_tree()
    {
        Fill();
        await ToolRun.Done("put", Store, "prices", "10", "hex:0102030405060708", "--write");
        await ToolRun.Done("put", Store, "words", "bus", "44", "--write");
        await ToolRun.Done("put", Store, "tags", "bus", "green", "--write");
        (await ToolRun.Done("get", Store, "prices", "10", "-o", "json")).Json.GetProperty("v64").GetString().Should().Be("AQIDBAUGBwg=");
        (await ToolRun.Done("get", Store, "words", "bus")).Output.Should().Be("44\t0\n");
        (await ToolRun.Done("get", Store, "tags", "bus")).Output.Should().Be("green\n");
        await ToolRun.Done("delete", Store, "prices", "10", "--write");
        await ToolRun.Done("delete", Store, "words", "bus", "--write");
        await ToolRun.Done("delete", Store, "tags", "bus", "--write");
        foreach (var (tree, key) in new[] { ("prices", "10"), ("words", "bus"), ("tags", "bus") })
        {
            (await ToolRun.Of("get", Store, tree, key)).Code.Should().Be(ExitCode.NothingThere);
            (await ToolRun.Of("delete", Store, tree, key, "--write")).Code.Should().Be(ExitCode.NothingThere);
        }

        await ToolRun.Done("put", Store, "words", "car", "17", "--write");
        (await ToolRun.Done("get", Store, "words", "car")).Output.Should().Be("17\t2\n18\t0\n", "an existing id keeps its payload");
        var longest = new string('n', 255);
        await ToolRun.Done("put", Store, longest, "k", "v", "--write");
        (await ToolRun.Done("get", Store, longest, "k")).Output.Should().Be("v\n");
        (await ToolRun.Of("put", Store, "prices", "10", "short", "--write")).Should().Match<ToolRun>(
            run => run.Code == ExitCode.Usage && run.Error.Contains("8 bytes"));
        (await ToolRun.Of("put", Store, "documents", "b", "{}", "--write")).Should().Match<ToolRun>(
            run => run.Code == ExitCode.Usage && run.Error.Contains("Only its program"));
        (await ToolRun.Of("delete", Store, "documents", "b", "--write")).Error.Should().Contain("Only its program");
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private string At(string name) => Path.Combine(_directory.Path, name);

    private async Task<List<string>> KeysOf(string tree, params string[] options) =>
        [.. (await ToolRun.Done(["scan", Store, tree, .. options])).Lines.Select(line => line[..line.IndexOf('\t', StringComparison.Ordinal)])];

    private void Fill()
    {
        using var environment = StorageEnvironment.Open(Store, FaultTestKit.Options());
        environment.Write(writing =>
        {
            writing.CreateTree("plain").Put("a"u8, "b"u8);
            var prices = writing.CreateFixedTree("prices", 8);
            prices.Put(-5, [1, 2, 3, 4, 5, 6, 7, 8]);
            prices.Put(9, new byte[8]);
            var words = writing.CreateIdTree("words");
            words.Add("car"u8, 17, 2);
            words.Add("car"u8, 18);
            var tags = writing.CreateValueSetTree("tags");
            tags.Add("car"u8, "blue"u8);
            tags.Add("car"u8, "red"u8);
            var documents = writing.CreateTable(Documents);
            documents.InsertMany([new Item("a", "net"), new Item("b", "net", 7), new Item("ä"), new Item("c\n", "web") { Text = "a\nb" }]);
            documents.Upsert(new Item("b", "net", 7, "again"));
            writing.CreateTable(ByGuid).Insert(new Item("00112233-4455-6677-8899-aabbccddeeff", "web"));
            writing.CreateTable(Numbers).InsertMany([new Item("5"), new Item("281474976710655"), new Item("70")]);
            writing.CreateTable(TableKit.Plain(1).Expire(static item => item.Size == 0 ? null : DateTimeOffset.UnixEpoch)).InsertMany(
                [new Item("past", Size: 1), new Item("never")]);
        });
    }
}

[JsonSerializable(typeof(Item))]
internal sealed partial class ItemJson : JsonSerializerContext;
