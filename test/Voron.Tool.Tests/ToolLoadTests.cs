using System.Text;
using Voron.Tool.Dumps;
using Voron.Tool.Loading;

namespace Voron.Tool.Tests;

/// <summary>Large plain trees of a dump are loaded in bulk: in any order, and all or nothing where the tree was new or empty.</summary>
public sealed class ToolLoadTests : IDisposable
{
    private const int ValueBytes = 1_000;

    // More than a transaction of a load has, and less.
    private const int Large = 20_000;
    private const int Small = 10_000;

    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_large_tree_is_loaded_in_any_order(bool isSorted)
    {
        var keys = Keys(Large).ToList();
        if (!isSorted)
            new Random(TestSeed.Choose()).Shuffle(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(keys));

        // The last value of a key counts.
        var repeated = isSorted ? [] : keys.Take(5).ToArray();
        WriteDump(("t", keys.Concat(repeated).Select((key, i) => (key, Value(key, isLast: i >= Large)))));
        using (var dump = await DumpFile.OpenAsync(At("dump"), TestContext.Current.CancellationToken))
            dump.Check(TestContext.Current.CancellationToken).Sections.Values.Should().ContainSingle().Which.IsSorted.Should().Be(isSorted);
        Directory.CreateDirectory(At("temporary"));
        var run = await ToolRun.Done("load", Store, At("dump"), "--write", "--memory", "1", "--spill", At("temporary"), "-o", "json");
        run.Json.GetProperty("entries").GetInt64().Should().Be(Large);
        Content("t").Should().Equal(Keys(Large).Select(key => (key, Value(key, isLast: repeated.Contains(key)))));
        Directory.GetFileSystemEntries(At("temporary")).Should().BeEmpty();
        (await ToolRun.Done("verify", Store)).Output.Should().NotBeEmpty();
    }

    [Fact]
    public async Task Existing_keys_of_a_large_tree_are_left_as_they_are()
    {
        WriteDump(("t", Keys(Large).Select(key => (key, Value(key)))));
        using (var environment = StorageEnvironment.Open(Store))
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                foreach (var key in Keys(Large).Where((_, i) => i % 4 == 0))
                    tree.Put(Encoding.ASCII.GetBytes(key), "mine"u8);
            });
        }

        (await ToolRun.Of("load", Store, At("dump"), "--write")).Code.Should().Be(ExitCode.InUse);
        var run = await ToolRun.Done("load", Store, At("dump"), "--write", "--resume", "-o", "json");
        run.Json.GetProperty("entries").GetInt64().Should().Be(Large * 3 / 4);
        run.Json.GetProperty("existingEntries").GetInt64().Should().Be(Large / 4);
        Content("t").Should().Equal(Keys(Large).Select((key, i) => (key, i % 4 == 0 ? "mine" : Value(key))));
    }

    /// <summary>A load that is repeated after it was cancelled has the result of one that was not.</summary>
    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public async Task The_last_value_of_a_repeated_key_counts_in_an_empty_tree(int count)
    {
        WriteDump(("t", Keys(count).Concat(Keys(5)).Select((key, i) => (key, Value(key, isLast: i >= count)))));
        await ToolRun.Done("load", Store, At("dump"), "--write", "--resume");
        Content("t").Should().Equal(Keys(count).Select((key, i) => (key, Value(key, isLast: i < 5))));
    }

    /// <summary>The second of two trees breaks off, in the same transaction as the first, in one of its own, or in a bulk load.</summary>
    [Theory]
    [InlineData(500, 500)]
    [InlineData(Small, Small)]
    [InlineData(Small, Large)]
    [InlineData(Large, Large)]
    public async Task A_load_that_breaks_off_leaves_nothing_of_a_new_tree(int first, int second)
    {
        ToolProcess.RequireLinux();
        WriteDump(("a", Keys(first).Select(key => (key, Value(key)))), ("t", Keys(second).Select(key => (key, Value(key)))));
        var whole = first == second && first < Small ? 0 : first;
        (await BreakOffAsync(resumes: false)).Should().EndWith($" {whole} entries were loaded.");
        Content("a").Count.Should().Be(whole);
        Content("t").Should().BeEmpty();
        await ShouldBeResumedAsync(first, second);
    }

    [Fact]
    public async Task A_load_that_breaks_off_leaves_the_beginning_in_a_tree_with_entries()
    {
        ToolProcess.RequireLinux();
        WriteDump(("a", Keys(Small).Select(key => (key, Value(key)))), ("t", Keys(Large).Select(key => (key, Value(key)))));
        await ToolRun.Done("put", Store, "t", Keys(Large).Last(), Value(Keys(Large).Last()), "--create", "--write");
        var message = await BreakOffAsync(resumes: true);
        var left = Content("t").Count - 1;
        left.Should().BeInRange(1, Large - 2);
        Content("t").Take(left).Should().Equal(Keys(left).Select(key => (key, Value(key))));
        message.Should().EndWith($" {Small + left} entries were loaded.");
        await ShouldBeResumedAsync(Small, Large);
    }

    [Fact]
    public async Task Options_that_are_wrong_are_refused_before_the_dump_is_read()
    {
        foreach (var memory in (string[])["-1", "x", $"{long.MaxValue}"])
            (await ToolRun.Of("load", Store, At("none"), "--write", "--memory", memory)).Code.Should().Be(ExitCode.Usage, memory);
        var run = await ToolRun.Of("load", Store, At("none"), "--write", "--spill", At("missing"));
        run.Code.Should().Be(ExitCode.NothingThere);
        run.Error.Should().Contain(At("missing"));
        Directory.Exists(Store).Should().BeFalse();
    }

    // Damages the dump near its end after it has been checked.
    private async Task<string> BreakOffAsync(bool resumes)
    {
        var stop = TestContext.Current.CancellationToken;
        using var dump = await DumpFile.OpenAsync(At("dump"), stop);
        var content = dump.Check(stop);
        var length = new FileInfo(At("dump")).Length;
        using (var file = File.OpenHandle(At("dump"), FileMode.Open, FileAccess.Write, FileShare.ReadWrite))
            RandomAccess.Write(file, "\\#"u8, length - (5 * ValueBytes));
        using var environment = StorageEnvironment.Open(Store);
        var load = new LoadRun(environment, dump, content, static name => name!, resumes, new BulkLoadOptions());
        var broken = () => ToolProgress.ShowAsync("load", progress => load.RunAsync(progress, stop));
        return (await broken.Should().ThrowAsync<ToolException>()).Which.Message;
    }

    private async Task ShouldBeResumedAsync(int first, int second)
    {
        WriteDump(("a", Keys(first).Select(key => (key, Value(key)))), ("t", Keys(second).Select(key => (key, Value(key)))));
        await ToolRun.Done("load", Store, At("dump"), "--write", "--resume");
        Content("a").Should().Equal(Keys(first).Select(key => (key, Value(key))));
        Content("t").Should().Equal(Keys(second).Select(key => (key, Value(key))));
    }

    private static IEnumerable<string> Keys(int count) => Enumerable.Range(0, count).Select(i => $"k{i:D6}");

    private static string Value(string key, bool isLast = false) => (isLast ? "last " : "") + key + new string('v', ValueBytes);

    private void WriteDump(params (string Tree, IEnumerable<(string Key, string Value)> Entries)[] trees)
    {
        using var file = File.CreateText(At("dump"));
        file.NewLine = "\n";
        foreach (var (tree, entries) in trees)
        {
            file.WriteLine($"VERSION=3\nformat=print\ndatabase={tree}\nHEADER=END");
            foreach (var (key, value) in entries)
                file.WriteLine($" {key}\n {value}");
            file.WriteLine("DATA=END");
        }
    }

    private List<(string Key, string Value)> Content(string name)
    {
        using var environment = StorageEnvironment.Open(Store);
        using var reading = environment.BeginRead();
        var content = new List<(string, string)>();
        if (!reading.TryOpenTree(name, out var tree))
            return content;
        foreach (var entry in tree.GetEntries())
            content.Add((Encoding.ASCII.GetString(entry.Key), Encoding.ASCII.GetString(entry.Value)));
        return content;
    }

    private string At(string name) => Path.Combine(_directory.Path, name);
}
