using System.Text;

namespace Voron.Tool.Tests;

/// <summary>The commands of the tool, and their exit codes, on which scripts depend.</summary>
public sealed class ToolCommandTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task What_is_put_is_shown_and_deleted()
    {
        await ToolRun.Done("put", Store, "users", "ada", "1815\\x00", "--create", "--write");
        (await ToolRun.Done("get", Store, "users", "ada")).Output.Should().Be("1815\\x00\n");
        var json = (await ToolRun.Done("get", Store, "users", "hex:616461", "--output", "json")).Json;
        json.GetProperty("k").GetString().Should().Be("ada");
        json.GetProperty("v").GetString().Should().Be("1815\0");
        await ToolRun.Done("delete", Store, "users", "ada", "--write");
        var gone = await ToolRun.Of("get", Store, "users", "ada");
        gone.Code.Should().Be(ExitCode.NothingThere);
        gone.Error.Should().Contain("'users'").And.Contain("'ada'");
        (await ToolRun.Of("delete", Store, "users", "ada", "--write")).Code.Should().Be(ExitCode.NothingThere);
    }

    [Fact]
    public async Task A_scan_takes_ranges_prefixes_limits_and_both_directions()
    {
        Fill("numbers", 100);
        (await ToolRun.Done("scan", Store, "numbers", "--from", "00010", "--to", "00013")).Lines
            .Should().Equal("00010\tvalue 10", "00011\tvalue 11", "00012\tvalue 12");
        (await ToolRun.Done("scan", Store, "numbers", "--prefix", "0009", "--reverse", "--limit", "2")).Lines
            .Should().Equal("00099\tvalue 99", "00098\tvalue 98");
        (await ToolRun.Done("scan", Store, "numbers", "--limit", "0")).Lines.Should().HaveCount(100);
        (await ToolRun.Of("scan", Store, "numbers", "--limit", "-1")).Code.Should().Be(ExitCode.Usage);
        var lines = (await ToolRun.Done("scan", Store, "numbers", "--prefix", "00007", "-o", "json")).Lines;
        lines.Should().Equal("{\"k\":\"00007\",\"v\":\"value 7\"}");
    }

    [Fact]
    public async Task Info_stats_and_trees_agree_with_the_environment()
    {
        Fill("a", 1_000);
        Fill("b", 10);
        var info = (await ToolRun.Done("info", Store, "-o", "json")).Json;
        info.GetProperty("version").GetInt32().Should().Be(1);
        info.GetProperty("trees").GetInt32().Should().Be(2);
        info.GetProperty("formatVersion").GetInt32().Should().Be(2);
        var stats = (await ToolRun.Done("stats", Store, "-o", "json")).Json;
        stats.GetProperty("entries").GetInt64().Should().Be(1_010);
        stats.GetProperty("dataFileBytes").GetInt64().Should().Be(new FileInfo(Path.Combine(Store, "voron.data")).Length);
        var trees = (await ToolRun.Done("trees", Store, "-o", "json")).Json.GetProperty("trees");
        trees.EnumerateArray().Select(tree => (tree.GetProperty("name").GetString(), tree.GetProperty("entries").GetInt64()))
            .Should().Equal(("a", 1_000), ("b", 10));
        (await ToolRun.Done("trees", Store)).Output.Should().Contain("1,000");
    }

    [Fact]
    public async Task Compact_shortens_the_file_in_place_or_writes_a_copy()
    {
        Fill("a", 60_000);
        Fill("b", 100);
        using (var environment = StorageEnvironment.Open(Store))
            environment.Write(writing => writing.DeleteTree("a"));
        (await ToolRun.Of("compact", Store)).Code.Should().Be(ExitCode.Usage, "--write is missing");
        var copied = (await ToolRun.Done("compact", Store, "--to", Store + "-copy", "-o", "json")).Json;
        copied.GetProperty("bytesAfter").GetInt64().Should().BeLessThan(200_000);
        (await ToolRun.Of("compact", Store, "--to", Store + "-copy")).Code.Should().Be(ExitCode.InUse);
        (await ToolRun.Of("compact", Store, "--to", Path.Combine(Store, "inside"))).Code.Should().Be(ExitCode.Usage);
        var report = (await ToolRun.Done("compact", Store, "--write", "-o", "json")).Json;
        report.GetProperty("complete").GetBoolean().Should().BeTrue();
        report.GetProperty("bytesAfter").GetInt64().Should().BeLessThan(200_000).And.BeLessThan(report.GetProperty("bytesBefore").GetInt64());
        foreach (var store in new[] { Store, Store + "-copy" })
            (await ToolRun.Done("verify", store, "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(100);
    }

    [Fact]
    public async Task Verify_passes_and_reports_damage()
    {
        Fill("a", 20_000);
        (await ToolRun.Done("verify", Store, "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(20_000);
        var data = Path.Combine(Store, "voron.data");
        var bytes = File.ReadAllBytes(data);
        for (var at = 40 * 4096 + 1000; at < 60 * 4096; at += 4096)
            bytes[at] ^= 0x40;
        File.WriteAllBytes(data, bytes);
        var damaged = await ToolRun.Of("verify", Store);
        damaged.Code.Should().Be(ExitCode.Problems);
        damaged.Output.Should().Contain("checksum");
        (await ToolRun.Of("scan", Store, "a", "--limit", "0")).Code.Should().Be(ExitCode.Damaged);
    }

    [Fact]
    public async Task A_change_must_be_allowed()
    {
        Fill("a", 1);
        foreach (var arguments in (string[][])[["put", Store, "a", "k", "v"], ["delete", Store, "a", "00000"], ["load", Store, "none"]])
        {
            var run = await ToolRun.Of(arguments);
            run.Code.Should().Be(ExitCode.Usage);
            run.Error.Should().Contain("--write");
        }

        (await ToolRun.Done("scan", Store, "a")).Lines.Should().HaveCount(1);
    }

    [Fact]
    public async Task Each_kind_of_failure_has_its_exit_code()
    {
        (await ToolRun.Of("info", Store)).Code.Should().Be(ExitCode.NothingThere);
        Directory.Exists(Store).Should().BeFalse("a look creates nothing");
        (await ToolRun.Of("put", Store, "t", "k", "v", "--write")).Code.Should().Be(ExitCode.NothingThere);
        Fill("t", 10);
        (await ToolRun.Of("get", Store, "other", "k")).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("get", Store, "t", "\\q")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("get", Store, "t", "hex:abc")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("no-such-command")).Code.Should().Be(ExitCode.Usage);
        var (nothing, target) = (Path.Combine(_directory.Path, "nothing"), Path.Combine(_directory.Path, "target"));
        (await ToolRun.Of("backup", nothing, target)).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("restore", nothing, target)).Code.Should().Be(ExitCode.NothingThere);
        using (StorageEnvironment.Open(Store, new StorageOptions { StatusInterval = TimeSpan.Zero }))
        {
            var used = await ToolRun.Of("info", Store);
            used.Code.Should().Be(ExitCode.InUse);
            used.Error.Should().Contain(Store);
        }

        using (var cancelled = new CancellationTokenSource())
        {
            await cancelled.CancelAsync();
            var code = await Program.RunAsync(["scan", Store, "t"], TextWriter.Null, TextWriter.Null, cancelled.Token);
            code.Should().Be((int)ExitCode.Cancelled);
        }
    }

    [Fact]
    public void No_exception_of_the_engine_is_without_an_exit_code()
    {
        var kinds = typeof(VoronException).Assembly.GetExportedTypes().Where(type => type.IsSubclassOf(typeof(VoronException))).ToList();
        kinds.Should().NotBeEmpty();

        // The tool has no definitions, so it reads and writes no rows, and it is no consumer of a feed.
        kinds.RemoveAll(kind => kind.IsAssignableTo(typeof(Voron.Tables.TableException)) || kind == typeof(Voron.Feeds.ChangesLostException));
        foreach (var kind in kinds.Where(kind => kind != typeof(BackupException)))
        {
            var failure = (Exception)System.Runtime.CompilerServices.RuntimeHelpers.GetUninitializedObject(kind);
            Failures.CodeOf(failure).Should().NotBe(ExitCode.Problems, kind.Name);
        }
    }

    [Theory]
    [InlineData("plain")]
    [InlineData("back\\\\slash")]
    [InlineData("\\x00\\xFF")]
    [InlineData("\\x68ex:61")]
    public void Keys_are_shown_as_they_are_given(string text)
    {
        KeyText.Format(KeyText.Parse(text)).Should().Be(text);
    }

    [Fact]
    public void Any_bytes_can_be_shown_and_given_back()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var i = 0; i < 2_000; i++)
        {
            var bytes = new byte[random.Next(20)];
            random.NextBytes(bytes);
            if (random.Next(4) == 0)
                "hex:"u8[..Math.Min(4, bytes.Length)].CopyTo(bytes);
            KeyText.Parse(KeyText.Format(bytes)).Should().Equal(bytes, $"seed {seed}, case {i}");
        }
    }

    [Fact]
    public async Task A_shell_gets_a_script_that_asks_the_tool()
    {
        foreach (var shell in (string[])["bash", "zsh", "fish", "powershell"])
            (await ToolRun.Done("completion", shell)).Output.Should().Contain("[suggest:");
        (await ToolRun.Of("completion", "cmd")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Done("[suggest:9]", "voron res")).Lines.Should().Contain("restore");
    }

    private void Fill(string tree, int entries)
    {
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var target = writing.CreateTree(tree);
            for (var i = 0; i < entries; i++)
                target.Put(Encoding.UTF8.GetBytes($"{i:D5}"), Encoding.UTF8.GetBytes($"value {i}"));
        });
    }
}
