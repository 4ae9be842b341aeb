using System.Security.Cryptography;
using System.Text;

namespace Voron.Tool.Tests;

/// <summary>Dumps that were cut or edited: the message names the file and the line, and nothing of them is loaded.</summary>
public sealed class ToolDumpFaultTests : IDisposable
{
    private const string Json = """
        {"dump":"voron","version":1}
        {"tree":"t"}
        {"k":"a","v":"1"}
        {"k64":"/w==","v64":"AP8="}
        {"k":"b","v":""}

        """;

    private const string Mdb = "VERSION=3\nformat=bytevalue\ndatabase=t\ntype=btree\nHEADER=END\n 61\n 31\n ff\n 00ff\nDATA=END\n";

    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_dump_that_is_cut_at_any_byte_is_refused_with_its_line()
    {
        foreach (var whole in (string[])[WithSum(Json), Mdb])
        {
            for (var length = 0; length < whole.Length - 1; length++)
                await ShouldRefuse(whole[..length], ExitCode.Damaged, "line ", whole[..length].TrimEnd('\n').Split('\n').Length);
        }

        // Only the end of the last line is missing.
        await File.WriteAllTextAsync(At("dump"), WithSum(Json)[..^1], TestContext.Current.CancellationToken);
        await ToolRun.Done("load", Store, At("dump"), "--write");
        (await ToolRun.Done("scan", Store, "t")).Lines.Should().Equal("a\t1", "b\t", "\\xFF\t\\x00\\xFF");
    }

    [Theory]
    [InlineData(3, "{\"k\":\"a\",\"v\":", "at byte 14")]
    [InlineData(3, "nonsense", "JSON")]
    [InlineData(3, "[]", "JSON")]
    [InlineData(3, "null", "JSON")]
    [InlineData(3, "", "JSON")]
    [InlineData(3, "{\"k\":1,\"v\":\"1\"}", "\"k\"")]
    [InlineData(3, "{\"key\":\"a\",\"v\":\"1\"}", "\"k64\"")]
    [InlineData(3, "{\"k\":\"a\"}", "\"v64\"")]
    [InlineData(3, "{\"k\":\"a\",\"k64\":\"YQ==\",\"v\":\"1\"}", "\"k64\"")]
    [InlineData(3, "{\"k64\":\"a\",\"v\":\"1\"}", "\"k64\"")]
    [InlineData(3, "{\"k\":\"a\",\"v64\":\"???\"}", "\"v64\"")]
    [InlineData(3, "{\"k\":\"\\ud800\",\"v\":\"1\"}", "\"k\"")]
    [InlineData(3, "{\"k\":\"a\",\"parts\":-1,\"length\":1}", "\"v64\"")]
    [InlineData(3, "{\"k\":\"a\",\"parts\":1,\"length\":9223372036854775807}", "parts")]
    [InlineData(4, "{\"k\":\"a\",\"v\":\"2\"}", "twice")]
    [InlineData(1, "{\"dump\":\"voron\",\"version\":3}", "version 1 or 2")]
    [InlineData(1, "{\"tree\":\"t\"}", "version 1")]
    public async Task A_line_that_was_edited_is_refused_even_if_the_sum_is_right(int line, string text, string named)
    {
        var lines = Json.Split('\n');
        lines[line - 1] = text;
        await ShouldRefuse(WithSum(string.Join('\n', lines)), ExitCode.Damaged, named, line);
    }

    [Theory]
    [InlineData(1, "VERSION=4", "version 4")]
    [InlineData(2, "format=other", "other")]
    [InlineData(6, "61", "space")]
    [InlineData(6, " 6", "pairs")]
    [InlineData(6, " xy", "pairs")]
    [InlineData(9, "DATA=END", "no value")]
    public async Task A_line_of_the_other_format_that_was_edited_is_refused(int line, string text, string named)
    {
        var lines = Mdb.Split('\n');
        lines[line - 1] = text;
        await ShouldRefuse(string.Join('\n', lines), ExitCode.Damaged, named, line);
        await ShouldRefuse(Mdb.Replace(" ff", " 61", StringComparison.Ordinal), ExitCode.Damaged, "twice", 9);
    }

    [Fact]
    public async Task What_the_environment_does_not_take_is_found_before_anything_is_loaded()
    {
        await ToolRun.Done("put", Store, "other", "k", "v", "--create", "--write");
        foreach (var name in (string[])["", new string('n', 5_000)])
        {
            var text = WithSum(Json + $"{{\"tree\":\"{name}\"}}\n{{\"k\":\"z\",\"v\":\"1\"}}\n");
            await File.WriteAllTextAsync(At("dump"), text, TestContext.Current.CancellationToken);
            var run = await ToolRun.Of("load", Store, At("dump"), "--write");
            run.Code.Should().Be(ExitCode.Problems);
            run.Error.Should().Contain($"'{name}'").And.Contain("Nothing was loaded");
            (await ToolRun.Done("trees", Store, "-o", "json")).Json.GetProperty("trees").GetArrayLength().Should().Be(1);
        }
    }

    /// <summary>Other programs have other orders, and a tree has its own.</summary>
    [Fact]
    public async Task Entries_in_another_order_are_loaded()
    {
        var text = WithSum(Json + "{\"k\":\"0\",\"v\":\"9\"}\n{\"tree\":\"u\"}\n{\"k\":\"0\",\"v\":\"8\"}\n");
        await File.WriteAllTextAsync(At("dump"), text, TestContext.Current.CancellationToken);
        await ToolRun.Done("load", Store, At("dump"), "--write");
        (await ToolRun.Done("scan", Store, "t")).Lines.Should().Equal("0\t9", "a\t1", "b\t", "\\xFF\t\\x00\\xFF");
        (await ToolRun.Done("scan", Store, "u")).Lines.Should().Equal("0\t8");
    }

    [Theory]
    [InlineData("hex:00FF0A", "\\x00\\xFF\\x0A")]
    [InlineData("base64:AP8K", "\\x00\\xFF\\x0A")]
    [InlineData("\\xC3\\x28", "\\xC3(")]
    [InlineData("\\xEF\\xBF\\xBD", "\\xEF\\xBF\\xBD")]
    [InlineData("hex:efbfbd", "\\xEF\\xBF\\xBD")]
    public async Task Keys_that_are_no_text_are_put_found_and_deleted(string given, string shown)
    {
        await ToolRun.Done("put", Store, "t", given, given, "--create", "--write");
        (await ToolRun.Done("get", Store, "t", shown)).Output.Should().Be(shown + "\n");
        (await ToolRun.Done("scan", Store, "t", "--prefix", given)).Lines.Should().Equal($"{shown}\t{shown}");
        (await ToolRun.Done("scan", Store, "t", "--from", given)).Lines.Should().HaveCount(1);
        (await ToolRun.Done("scan", Store, "t", "--to", shown)).Lines.Should().BeEmpty();
        await ToolRun.Done("dump", Store, "--file", At("dump"));
        await ToolRun.Done("load", At("back"), At("dump"), "--write");
        await ToolRun.Done("delete", At("back"), "t", given, "--write");
        (await ToolRun.Of("get", At("back"), "t", shown)).Code.Should().Be(ExitCode.NothingThere);
    }

    [Theory]
    [InlineData("hex:0")]
    [InlineData("hex:xy")]
    [InlineData("base64:AP8")]
    [InlineData("base64:?")]
    [InlineData("\\x0")]
    [InlineData("\\")]
    [InlineData("\uFFFD")]
    public async Task A_key_that_is_spelled_wrong_is_refused_by_each_command(string key)
    {
        await ToolRun.Done("put", Store, "t", "k", "v", "--create", "--write");
        string[][] lines =
        [
            ["get", Store, "t", key], ["put", Store, "t", key, "v", "--write"], ["delete", Store, "t", key, "--write"],
            ["put", Store, "t", "k", key, "--write"], ["scan", Store, "t", "--from", key], ["scan", Store, "t", "--to", key],
            ["scan", Store, "t", "--prefix", key], ["dump", Store, "t", "--file", At("dump"), "--from", key],
        ];

        foreach (var line in lines)
        {
            var run = await ToolRun.Of(line);
            run.Code.Should().Be(ExitCode.Usage, string.Join(' ', line));
            run.Error.Should().NotBeEmpty();
            run.Output.Should().BeEmpty();
        }

        File.Exists(At("dump")).Should().BeFalse();
        (await ToolRun.Done("scan", Store, "t")).Lines.Should().Equal("k\tv");
    }

    /// <summary>The runtime replaces such bytes of a command line, and another key would be deleted.</summary>
    [Fact]
    public async Task Bytes_of_a_command_line_that_are_no_text_are_refused()
    {
        ToolProcess.RequireLinux();
        await ToolRun.Done("put", Store, "t", "\\xEF\\xBF\\xBD", "v", "--create", "--write");
        using var process = ToolProcess.StartScript($"$VORON delete '{Store}' t \"$(printf '\\377')\" --write");
        var run = await process.EndAsync();
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain("UTF-8");
        (await ToolRun.Done("scan", Store, "t")).Lines.Should().HaveCount(1);
    }

    private async Task ShouldRefuse(string dump, ExitCode code, string named, int line)
    {
        await File.WriteAllTextAsync(At("dump"), dump, TestContext.Current.CancellationToken);
        var run = await ToolRun.Of("load", Store, At("dump"), "--write");
        run.Code.Should().Be(code, dump);
        run.Error.Should().Contain(At("dump"), dump).And.ContainEquivalentOf(named, dump).And.Contain("Nothing was loaded", dump);
        run.Error.Should().NotContain("System.", dump).And.NotContain("LineNumber", dump);
        if (dump.Length > 0)
            run.Error.Should().StartWith($"Line {line} of the dump '", dump);
        Directory.Exists(Store).Should().BeFalse(dump);
    }

    private static string WithSum(string lines)
    {
        var entries = lines.Split('\n').Count(line => line.StartsWith("{\"k", StringComparison.Ordinal));
        var trees = lines.Split('\n').Count(line => line.StartsWith("{\"tree", StringComparison.Ordinal));
        var sum = Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(lines)));
        return $"{lines}{{\"end\":true,\"trees\":{trees},\"entries\":{entries},\"sha256\":\"{sum}\"}}\n";
    }

    private string At(string name) => Path.Combine(_directory.Path, name);
}
