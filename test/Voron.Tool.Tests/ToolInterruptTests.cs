namespace Voron.Tool.Tests;

/// <summary>
/// Ctrl-C in the middle of long commands: the first one cleans up, the second one ends the process, and neither hurts an environment.
/// </summary>
public sealed class ToolInterruptTests : IClassFixture<ToolInterruptTests.Filled>, IDisposable
{
    // More than the tool loads in one transaction.
    private const int Entries = 22_000;

    private readonly TestDirectory _directory = new();
    private readonly string _store;

    public ToolInterruptTests(Filled filled)
    {
        ToolProcess.RequireLinux();
        _store = At("store");
        Directory.CreateDirectory(_store);
        foreach (var file in Directory.GetFiles(filled.Store))
            File.Copy(file, Path.Combine(_store, Path.GetFileName(file)));
    }

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Backups_are_cancelled()
    {
        using (var process = ToolProcess.Start("backup", _store, At("file"), "--rate", "1"))
            await InterruptAsync(process, () => Directory.GetFiles(_directory.Path, "file.*").Length > 0);
        using (var process = ToolProcess.Start("backup", _store, At("set/"), "--rate", "1"))
            await InterruptAsync(process, () => Directory.Exists(At("set")) && Directory.GetFiles(At("set")).Length > 0);
        Directory.GetFileSystemEntries(At("set")).Should().BeEmpty();
        Directory.Delete(At("set"));
        using (var process = ToolProcess.Start("backup", _store, "-", "--rate", "1"))
        {
            process.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
            await InterruptAsync(process, () => true);
        }

        await ShouldBeUnhurtAsync();
    }

    /// <summary>These take no time that a test could rely on. One that was done before Ctrl-C has its whole result.</summary>
    [Theory]
    [InlineData("copy", "")]
    [InlineData("compact", "--to")]
    [InlineData("salvage", "")]
    [InlineData("restore", "")]
    [InlineData("load", "")]
    public async Task What_makes_a_new_environment_leaves_none_or_a_whole_one(string command, string option)
    {
        var source = command switch { "restore" => At("backup"), "load" => At("dump"), _ => _store };
        if (command == "restore")
            await ToolRun.Done("backup", _store, source);
        if (command == "load")
            await ToolRun.Done("dump", _store, "--file", source);
        var target = At("target");
        string[] options = option.Length > 0 ? [option] : [];
        string[] line = command == "load" ? ["load", target, source, "--write"] : [command, source, .. options, target];
        var isCancelled = false;
        for (var tries = 0; tries < 10 && !isCancelled; tries++)
        {
            using var process = ToolProcess.Start(line);
            await process.WaitUntilAsync(() => Directory.Exists(target) || process.HasExited, "it is under way");
            process.Interrupt();
            var run = await process.EndAsync();
            isCancelled = run.Code == ExitCode.Cancelled;
            if (!isCancelled)
                run.Code.Should().Be(ExitCode.Done, run.Error);
            else
                run.Error.Should().StartWith("Cancelled.");
            if (StorageEnvironment.Exists(target))
            {
                var entries = (await ToolRun.Done("verify", target, "-o", "json")).Json.GetProperty("entries").GetInt64();
                entries.Should().BeOneOf(isCancelled && command == "load" ? [0, Entries] : [Entries]);
                Directory.Delete(target, recursive: true);
            }
            else if (Directory.Exists(target))
            {
                isCancelled.Should().BeTrue();
                Directory.GetFileSystemEntries(target).Should().BeEmpty();
                Directory.Delete(target);
            }

            Directory.GetFileSystemEntries(_directory.Path).Should().BeEquivalentTo(new[] { _store, source }.Distinct());
        }

        isCancelled.Should().BeTrue("Ctrl-C comes in the middle at least once in ten");
        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task Inputs_that_wait_for_more_are_cancelled()
    {
        await ToolRun.Done("backup", _store, At("backup"));
        var half = File.ReadAllBytes(At("backup"))[..1_000_000];
        using (var process = ToolProcess.Start("restore", "-", At("target")))
        {
            await process.Input.WriteAsync(half, TestContext.Current.CancellationToken);
            await process.Input.FlushAsync(TestContext.Current.CancellationToken);
            await InterruptAsync(process, () => Directory.Exists(At("target")));
        }

        using (var fifo = ToolProcess.StartScript($"mkfifo '{At("fifo")}'"))
            await fifo.EndAsync();
        using (var process = ToolProcess.Start("load", At("target"), At("fifo"), "--write"))
        {
            await process.WaitUntilIdleAsync();
            await InterruptAsync(process, () => true);
        }

        File.Delete(At("fifo"));
        File.Delete(At("backup"));
        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task Scans_verifications_and_compactions_are_cancelled()
    {
        foreach (var line in (string[][])[["compact", _store, "--write"], ["verify", _store]])
        {
            var isCancelled = false;
            for (var tries = 0; tries < 10 && !isCancelled; tries++)
            {
                using var process = ToolProcess.Start(line);
                await process.WaitUntilAsync(() => process.HasExited || process.HasOpen(_store), "it has the environment open");
                process.Interrupt();
                isCancelled = (await process.EndAsync()).Code == ExitCode.Cancelled;
            }

            isCancelled.Should().BeTrue("Ctrl-C comes in the middle at least once in ten");
        }

        using (var process = ToolProcess.Start("scan", _store, "t", "--limit", "0"))
        {
            process.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
            await InterruptAsync(process, () => true);
        }

        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task The_shell_and_top_are_cancelled()
    {
        using (var shell = ToolProcess.Start("shell", _store, "--write"))
        {
            await shell.Input.WriteAsync("put t x y\nscan t --limit 0\nput t x z\n"u8.ToArray(), TestContext.Current.CancellationToken);
            await shell.Input.FlushAsync(TestContext.Current.CancellationToken);
            shell.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
            using (var top = ToolProcess.Start("top", _store, "--interval", "0.1"))
            {
                top.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
                top.Interrupt();
                var ended = await top.EndAsync();
                (ended.Code, ended.Error).Should().Be((ExitCode.Cancelled, ""));
            }

            await InterruptAsync(shell, () => true);
        }

        (await ToolRun.Done("get", _store, "t", "x")).Output.Should().Be("y\n", "the lines behind the cancelled one do not run");
        await ToolRun.Done("delete", _store, "t", "x", "--write");
        await ShouldBeUnhurtAsync();
    }

    /// <summary>No process reads the pipe, so that a write to it waits, and the command does not notice the first Ctrl-C.</summary>
    [Fact]
    public async Task The_second_one_ends_a_command_that_hangs()
    {
        await ToolRun.Done("put", _store, "t", "large", new string('v', 100_000), "--write");
        string[][] lines =
        [
            ["backup", _store, "-", "--no-compression"], ["dump", _store], ["scan", _store, "t", "--limit", "0"],
            ["get", _store, "t", "large", "--raw"], ["shell", _store, "--write"],
        ];
        foreach (var line in lines)
        {
            using var process = ToolProcess.Start(line);
            if (line[0] == "shell")
                await process.Input.WriteAsync("put t x y\nscan t --limit 0\n"u8.ToArray(), TestContext.Current.CancellationToken);
            await process.Input.FlushAsync(TestContext.Current.CancellationToken);
            process.Output.ReadByte().Should().BeGreaterThanOrEqualTo(0);
            await process.WaitUntilIdleAsync();
            process.Interrupt();
            await process.WaitUntilIdleAsync();
            process.HasExited.Should().BeFalse($"{line[0]} waits for a reader of the pipe");
            process.Interrupt();
            (await process.EndAsync(reads: false)).Code.Should().Be(ExitCode.Cancelled, line[0]);
        }

        (await ToolRun.Done("get", _store, "t", "x")).Output.Should().Be("y\n");
        await ToolRun.Done("delete", _store, "t", "x", "--write");
        await ToolRun.Done("delete", _store, "t", "large", "--write");
        await ShouldBeUnhurtAsync();
    }

    [Fact]
    public async Task The_second_one_ends_a_command_that_waits_for_a_named_pipe()
    {
        using (var fifo = ToolProcess.StartScript($"mkfifo '{At("fifo")}'"))
            await fifo.EndAsync();
        using var process = ToolProcess.Start("restore", At("fifo"), At("target"));
        await process.WaitUntilAsync(() => Directory.Exists(At("target")), "it is under way");
        process.Interrupt();
        await process.WaitUntilIdleAsync();
        if (!process.HasExited)
            process.Interrupt();
        (await process.EndAsync()).Code.Should().Be(ExitCode.Cancelled);
        StorageEnvironment.Exists(At("target")).Should().BeFalse();
    }

    private static async Task InterruptAsync(ToolProcess process, Func<bool> isUnderWay)
    {
        await process.WaitUntilAsync(isUnderWay, "it is under way");
        process.Interrupt();
        var run = await process.EndAsync();
        run.Code.Should().Be(ExitCode.Cancelled, run.Error);
        run.Error.Should().Be("Cancelled.\n");
    }

    private async Task ShouldBeUnhurtAsync()
    {
        Directory.GetFileSystemEntries(_directory.Path).Should().OnlyContain(path =>
            path == _store || File.Exists(path) || !Directory.EnumerateFileSystemEntries(path).Any());
        (await ToolRun.Done("verify", _store, "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(Entries);
    }

    private string At(string name) => Path.Combine(_directory.Path, name);

    /// <summary>An environment that all tests copy.</summary>
    public sealed class Filled : IDisposable
    {
        private readonly TestDirectory _directory = new();

        public Filled()
        {
            Store = Path.Combine(_directory.Path, "store");
            var (value, random) = (new byte[800], new Random(1));
            using var environment = StorageEnvironment.Open(Store);
            environment.Write(writing =>
            {
                var (dropped, kept) = (writing.CreateTree("dropped"), writing.CreateTree("t"));
                for (var i = 0; i < Entries; i++)
                {
                    random.NextBytes(value);
                    dropped.Put(BitConverter.GetBytes(i), value);
                    kept.Put(BitConverter.GetBytes(i), value);
                }
            });
            environment.Write(writing => writing.DeleteTree("dropped"));
        }

        public string Store { get; }

        public void Dispose() => _directory.Dispose();
    }
}
