using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Tests;

/// <summary>Dumps come back as they were, and those that were cut or changed are refused before anything is loaded.</summary>
public sealed class ToolDumpTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_value_that_no_line_can_hold_is_refused_before_it_is_written()
    {
        using var written = new MemoryStream();
        using var writer = new MdbWriter(written);
        writer.Begin(new DumpSection("t", TreeKind.Plain));
        var first = (byte)0;
        var refused = () => writer.Write("k"u8, MemoryMarshal.CreateReadOnlySpan(ref first, MdbWriter.LongestValueBytes + 1));
        refused.Should().Throw<ToolException>().WithMessage("*key k has*jsonlines*");
        writer.Finish();
        written.Length.Should().BeLessThan(200);
    }

    [Theory]
    [InlineData("jsonlines")]
    [InlineData("mdb")]
    public async Task A_dump_comes_back(string format)
    {
        Fill();
        await ToolRun.Done("dump", Store, "--file", At("dump"), "--format", format);
        await ToolRun.Done("load", At("back"), At("dump"), "--write");
        Content(At("back")).Should().Equal(Content(Store));
        (await ToolRun.Of("dump", Store, "--file", At("dump"))).Code.Should().Be(ExitCode.InUse);
        File.Exists(At("dump")).Should().BeTrue("a file of the user is left alone");

        var again = await ToolRun.Of("load", At("back"), At("dump"), "--write");
        again.Code.Should().Be(ExitCode.InUse);
        again.Error.Should().Contain("--resume");
        using (var environment = StorageEnvironment.Open(At("back")))
            environment.Write(writing => writing.OpenTree("empty").Put("x"u8, "y"u8));
        var resumed = await ToolRun.Done("load", At("back"), At("dump"), "--write", "--resume", "-o", "json");
        resumed.Json.GetProperty("entries").GetInt64().Should().Be(0);
    }

    [Fact]
    public async Task The_other_format_refuses_a_fixed_size_tree_by_its_name()
    {
        Fill();
        using (var environment = StorageEnvironment.Open(Store))
            environment.Write(writing => writing.CreateFixedTree("lengths", 8).Put(1, new byte[8]));
        var refused = await ToolRun.Of("dump", Store, "--file", At("dump"), "--format", "mdb");
        refused.Code.Should().Be(ExitCode.Usage);
        refused.Error.Should().Contain("'lengths'").And.Contain("a fixed-size tree").And.Contain("jsonlines");
        File.Exists(At("dump")).Should().BeFalse();
        await ToolRun.Done("dump", Store, "random", "--file", At("dump"), "--format", "mdb");
        (await ToolRun.Done("trees", Store)).Lines.Should().Contain(line => line.Contains("lengths", StringComparison.Ordinal));
        await ToolRun.Done("stats", Store);
    }

    [Fact]
    public async Task A_range_of_keys_fills_a_gap()
    {
        Fill();
        await ToolRun.Done("dump", Store, "random", "--file", At("low"), "--to", "hex:80");
        await ToolRun.Done("dump", Store, "random", "--file", At("high"), "--from", "hex:80");
        await ToolRun.Done("load", At("back"), At("low"), "--write");
        var some = await ToolRun.Done("scan", At("back"), "random", "--limit", "0");
        some.Lines.Should().NotBeEmpty().And.Equal((await ToolRun.Done("scan", Store, "random", "--limit", "0", "--to", "hex:80")).Lines);
        await ToolRun.Done("load", At("back"), At("high"), "--write", "--resume");
        var all = await ToolRun.Done("scan", At("back"), "random", "--limit", "0", "-o", "json");
        all.Output.Should().Be((await ToolRun.Done("scan", Store, "random", "--limit", "0", "-o", "json")).Output);
        var without = await ToolRun.Of("dump", Store, "--file", At("x"), "--prefix", "a");
        without.Code.Should().Be(ExitCode.Usage, "it is not a range of all trees");
        File.Exists(At("x")).Should().BeFalse();
    }

    [Fact]
    public async Task A_tree_is_loaded_under_another_name()
    {
        Fill();
        await ToolRun.Done("dump", Store, "random", "--file", At("one"));
        await ToolRun.Done("load", At("back"), At("one"), "--write", "--tree", "renamed");
        (await ToolRun.Done("trees", At("back"), "-o", "json")).Json.GetProperty("trees").EnumerateArray()
            .Select(tree => tree.GetProperty("name").GetString()).Should().Equal("renamed");
        var renamed = await ToolRun.Done("scan", At("back"), "renamed", "--limit", "0", "-o", "json");
        renamed.Output.Should().Be((await ToolRun.Done("scan", Store, "random", "--limit", "0", "-o", "json")).Output);
        await ToolRun.Done("dump", Store, "--file", At("all"));
        (await ToolRun.Of("load", At("none"), At("all"), "--write", "--tree", "x")).Code.Should().Be(ExitCode.Usage, "its trees would become one");
        Directory.Exists(At("none")).Should().BeFalse();
    }

    [Fact]
    public async Task A_load_that_was_interrupted_continues()
    {
        Fill();
        await ToolRun.Done("dump", Store, "--file", At("dump"));
        await ToolRun.Done("load", At("back"), At("dump"), "--write");
        using (var environment = StorageEnvironment.Open(At("back")))
        {
            environment.Write(writing =>
            {
                var tree = writing.OpenTree("random");
                var keys = new List<byte[]>();
                foreach (var entry in tree.GetEntries())
                    keys.Add(entry.Key.ToArray());
                foreach (var key in keys.Where((_, i) => i % 3 == 0))
                    tree.Delete(key);
            });
        }

        await ToolRun.Done("load", At("back"), At("dump"), "--write", "--resume");
        Content(At("back")).Should().Equal(Content(Store));
    }

    [Fact]
    public async Task A_dump_that_was_cut_or_changed_anywhere_is_refused()
    {
        Fill();
        await ToolRun.Done("dump", Store, "random", "--file", At("dump"));
        var whole = File.ReadAllBytes(At("dump"));
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var i = 0; i < 200; i++)
        {
            var bytes = whole.ToArray();
            var at = random.Next(whole.Length - 1);
            var cut = i % 2 == 0;
            if (cut)
                bytes = bytes[..at];
            else
                bytes[at] ^= (byte)(1 << random.Next(7));
            File.WriteAllBytes(At("bad"), bytes);
            var run = await ToolRun.Of("load", At("never"), At("bad"), "--write");
            run.Code.Should().Be(ExitCode.Damaged, $"seed {seed}, case {i}, {(cut ? "cut" : "changed")} at {at}");
            run.Error.Should().Contain("Nothing was loaded");
        }

        Directory.Exists(At("never")).Should().BeFalse();
    }

    [Fact]
    public async Task Dumps_of_other_programs_are_loaded()
    {
        // As mdb_dump writes them: one database without a name, in either form.
        const string Header = "VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=1048576\nmaxreaders=126\ndb_pagesize=4096\nHEADER=END\n";
        File.WriteAllText(At("bytes"), Header + " 6b31\n 7631\n 6b32\n \nDATA=END\n");
        File.WriteAllText(At("print"), "VERSION=3\nformat=print\ndatabase=named\ntype=btree\nHEADER=END\n k\\\\1\n v\\0a1\nDATA=END\n");
        (await ToolRun.Of("load", Store, At("bytes"), "--write")).Code.Should().Be(ExitCode.Usage, "it names no tree");
        Directory.Exists(Store).Should().BeFalse();
        await ToolRun.Done("load", Store, At("bytes"), "--write", "--tree", "lmdb");
        await ToolRun.Done("load", Store, At("print"), "--write");
        Content(Store).Should().Equal("lmdb 6B31 7631", "lmdb 6B32 ", "named 6B5C31 760A31");
        string[] damaged =
        [
            "VERSION=2\nHEADER=END\nDATA=END\n", "VERSION=3\ntype=hash\nHEADER=END\nDATA=END\n", "VERSION=3\ndupsort=1\nHEADER=END\nDATA=END\n", "VERSION=3\nHEADER=END\n 6b\n", "VERSION=3\nHEADER=END\n 6b\nDATA=END\n",
            "VERSION=3\nHEADER=END\n 6\n 6b\nDATA=END\n", "VERSION=3\n", "nothing", "",
        ];
        // Bytes of any encoding stand for themselves.
        File.WriteAllBytes(At("latin"), [.. "VERSION=3\nformat=print\ndatabase=latin\nHEADER=END\n k\n caf"u8, 0xE9, .. "\nDATA=END\n"u8]);
        await ToolRun.Done("load", Store, At("latin"), "--write");
        Content(Store).Should().Contain("latin 6B 636166E9");
        foreach (var bad in damaged)
        {
            File.WriteAllText(At("bad"), bad);
            (await ToolRun.Of("load", Store, At("bad"), "--write", "--tree", "x")).Code.Should().Be(ExitCode.Damaged, bad);
        }
    }

    [Fact]
    public async Task Values_of_any_size_come_back_from_either_format()
    {
        var value = new byte[40_000_000];
        new Random(1).NextBytes(value);
        using (var environment = StorageEnvironment.Open(Store))
            environment.Write(writing => writing.CreateTree("t").Put("k"u8, value));
        foreach (var format in (string[])["jsonlines", "mdb"])
        {
            await ToolRun.Done("dump", Store, "--file", At(format), "--format", format);
            await ToolRun.Done("load", At(format + "-store"), At(format), "--write");
            using var environment = StorageEnvironment.Open(At(format + "-store"));
            using var reading = environment.BeginRead();
            reading.OpenTree("t").Get("k"u8).AsSpan().SequenceEqual(value).Should().BeTrue();
        }
    }

    [Fact]
    public async Task A_key_that_the_environment_does_not_take_is_found_before_anything_is_loaded()
    {
        foreach (var key in (string[])["", new string('k', 2_000)])
        {
            var hex = Convert.ToHexString(Encoding.UTF8.GetBytes(key));
            File.WriteAllText(At("dump"), $"VERSION=3\nHEADER=END\n 61\n 61\n {hex}\n 62\nDATA=END\n");
            var run = await ToolRun.Of("load", Store, At("dump"), "--write", "--tree", "t");
            run.Code.Should().Be(ExitCode.Problems);
            run.Error.Should().Contain($"a key of {key.Length} bytes").And.Contain("Nothing was loaded");
            Content(Store).Should().BeEmpty();
        }
    }

    private void Fill()
    {
        var random = new Random(TestSeed.Choose());
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var text = writing.CreateTree("text, \"quoted\" \\ and with a é");
            for (var i = 0; i < 300; i++)
                text.Put(Encoding.UTF8.GetBytes($"key {i} \u00e4 \ud83d\ude00 \u2028 \\"), Encoding.UTF8.GetBytes($"\"{i}\"\t\n\u0001"));
            var bytes = writing.CreateTree("random");
            for (var i = 0; i < 300; i++)
            {
                var key = new byte[random.Next(1, 200)];
                var value = new byte[random.Next(i == 7 ? 20_000 : 300)];
                random.NextBytes(key);
                random.NextBytes(value);
                bytes.Put(key, value);
            }

            var large = new byte[2_500_000];
            random.NextBytes(large);
            writing.CreateTree("large").Put("photo"u8, large);
            writing.CreateTree("large").Put("exact"u8, large.AsSpan(0, 1 << 20));
            writing.CreateTree("empty");
        });
    }

    private static List<string> Content(string store)
    {
        using var environment = StorageEnvironment.Open(store, new StorageOptions { ReadOnly = true });
        using var reading = environment.BeginRead();
        var content = new List<string>();
        foreach (var name in reading.GetTreeNames())
        {
            if (reading.OpenTree(name).Count == 0)
                content.Add(name);
            foreach (var entry in reading.OpenTree(name).GetEntries())
                content.Add($"{name} {Convert.ToHexString(entry.Key)} {Convert.ToHexString(entry.Value)}");
        }

        return content;
    }

    private string At(string name) => Path.Combine(_directory.Path, name);
}
