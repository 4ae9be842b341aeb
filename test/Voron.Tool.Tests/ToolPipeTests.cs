using System.Text;

namespace Voron.Tool.Tests;

/// <summary>Pipes that the other program closes: the exit code says so, there is no stack trace, and nothing is hurt.</summary>
public sealed class ToolPipeTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public ToolPipeTests()
    {
        ToolProcess.RequireLinux();
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var (tree, value, random) = (writing.CreateTree("t"), new byte[2_000], new Random(1));
            for (var i = 0; i < 1_000; i++)
            {
                random.NextBytes(value);
                tree.Put(Encoding.ASCII.GetBytes($"k{i:D4}"), value);
            }
        });
    }

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_reader_that_closes_before_the_answer_is_a_failure_of_each_command()
    {
        await ToolRun.Done("backup", Store, At("set/"));
        string[][] lines =
        [
            ["info", Store], ["stats", Store], ["stats", Store, "-o", "json"], ["trees", Store], ["trees", Store, "-o", "json"], ["verify", Store],
            ["changes", Store], ["scan", Store, "t"], ["salvage", Store, At("salvaged")], ["salvage", Store, At("again"), "-o", "json"],
            ["backup", "list", At("set")], ["backup", "verify", At("set")], ["completion", "bash"], ["--help"], ["scan", "--help"],
        ];
        await Parallel.ForEachAsync(lines, new ParallelOptions { MaxDegreeOfParallelism = 2 }, async (line, _) =>
        {
            using var process = ToolProcess.Start(line);
            process.Output.Close();
            ShouldHaveFailed(await process.EndAsync(reads: false), line);
        });
        (await ToolRun.Done("verify", At("salvaged"), "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(1_000);
        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task A_reader_that_closes_in_the_middle_is_a_failure()
    {
        string[][] lines =
        [
            ["scan", Store, "t", "--limit", "0", "-o", "json"], ["dump", Store], ["dump", Store, "--format", "mdb"],
            ["backup", Store, "-", "--no-compression"],
            ["shell", Store, "--write", "-o", "json"],
        ];
        foreach (var line in lines)
        {
            using var process = ToolProcess.Start(line);
            if (line[0] == "shell")
            {
                await process.Input.WriteAsync("scan t --limit 0\nput t k0000 changed\n"u8.ToArray(), TestContext.Current.CancellationToken);
                process.Input.Close();
            }

            process.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
            process.Output.Close();
            ShouldHaveFailed(await process.EndAsync(reads: false), line);
        }

        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task A_writer_that_dies_in_the_middle_leaves_nothing()
    {
        await ToolRun.Done("backup", Store, At("backup"));
        await ToolRun.Done("dump", Store, "--file", At("dump"));
        foreach (var source in (string[])["backup", "dump"])
        {
            var line = source == "backup" ? $"restore - '{At("target")}'" : $"load '{At("target")}' - --write";
            using var process = ToolProcess.StartScript($"head -c 500000 '{At(source)}' | $VORON {line}");
            var run = await process.EndAsync();
            run.Code.Should().Be(ExitCode.Damaged, source);
            run.Error.Should().NotBeEmpty().And.NotContain("   at ");
            StorageEnvironment.Exists(At("target")).Should().BeFalse();
        }

        using (var process = ToolProcess.StartScript($"printf 'put t a b\\nput t c' | $VORON shell '{Store}' --write"))
            (await process.EndAsync()).Code.Should().Be(ExitCode.Usage, "a line was cut");
        (await ToolRun.Done("get", Store, "t", "a")).Output.Should().Be("b\n");
        await ToolRun.Done("delete", Store, "t", "a", "--write");
        await ShouldBeUnhurtAsync();
    }

    private static void ShouldHaveFailed(ToolRun run, string[] line)
    {
        run.Code.Should().Be(ExitCode.NoAccess, $"{string.Join(' ', line)}: {run.Error}");
        run.Error.Should().NotBeEmpty().And.NotContain("   at ");
    }

    private async Task ShouldBeUnhurtAsync() =>
        (await ToolRun.Done("verify", Store, "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(1_000);

    private string At(string name) => Path.Combine(_directory.Path, name);
}
