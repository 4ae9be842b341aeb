using System.Diagnostics;
using System.Text;

namespace Voron.Tool.Tests;

/// <summary>The tool as a process: what goes through pipes, and what a signal leaves behind.</summary>
public sealed class ToolProcessTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Values_backups_and_dumps_go_through_pipes()
    {
        var value = new byte[300_000];
        new Random(1).NextBytes(value);
        (await RunAsync(value, "put", Store, "t", "photo", "-", "--create", "--write")).Code.Should().Be(ExitCode.Done);
        (await RunAsync([], "get", Store, "t", "photo", "--raw")).Output.Should().Equal(value);

        var backup = await RunAsync([], "backup", Store, "-");
        backup.Code.Should().Be(ExitCode.Done, backup.Error);
        (await RunAsync(backup.Output, "restore", "-", At("restored"))).Code.Should().Be(ExitCode.Done);
        (await RunAsync([], "get", At("restored"), "t", "photo", "--raw")).Output.Should().Equal(value);

        var dump = await RunAsync([], "dump", Store);
        (await RunAsync(dump.Output, "load", At("loaded"), "-", "--write")).Code.Should().Be(ExitCode.Done);
        (await RunAsync([], "get", At("loaded"), "t", "photo", "--raw")).Output.Should().Equal(value);

        var cut = await RunAsync(backup.Output[..(backup.Output.Length / 2)], "restore", "-", At("cut"));
        cut.Code.Should().Be(ExitCode.Damaged);
        cut.Error.Should().NotBeEmpty();
    }

    [Fact]
    public async Task A_closed_pipe_is_not_taken_for_success()
    {
        if (OperatingSystem.IsWindows())
            Assert.Skip("The standard streams of Windows do not report it.");
        (await RunAsync(new byte[3_000_000], "put", Store, "t", "large", "-", "--create", "--write")).Code.Should().Be(ExitCode.Done);
        foreach (var arguments in (string[][])
        [
            ["backup", Store, "-", "--no-compression"], ["dump", Store], ["get", Store, "t", "large", "--raw"], ["get", Store, "t", "large"],
            ["page", Store, "0"], ["journal", Store],
        ])
        {
            using var process = Start(arguments);
            process.StandardOutput.Close();
            var error = await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
            await EndAsync(process);
            process.ExitCode.Should().Be((int)ExitCode.NoAccess, $"{arguments[0]}: {error}");
            error.Should().NotBeEmpty();
        }
    }

    [Fact]
    public async Task A_signal_ends_a_wait_for_input()
    {
        ToolProcess.RequireLinux();
        var used = At("used");
        await ToolRun.Done("put", used, "t", "k", "v", "--create", "--write");
        string[][] waiting =
        [
            ["load", Store, "-", "--write"], ["restore", "-", At("restored")], ["put", Store, "t", "k", "-", "--create", "--write"],
            ["shell", used, "--write"],
        ];
        foreach (var arguments in waiting)
        {
            using var process = Start(arguments);
            await ToolProcess.WaitUntilIdleAsync(process);
            process.HasExited.Should().BeFalse("it waits for its input");
            await TerminateAsync(process);
            process.ExitCode.Should().Be((int)ExitCode.Cancelled, arguments[0]);
            StorageEnvironment.Exists(Store).Should().BeFalse();
            StorageEnvironment.Exists(At("restored")).Should().BeFalse();
        }
    }

    [Fact]
    public async Task A_signal_cancels_a_backup_which_cleans_up()
    {
        if (OperatingSystem.IsWindows())
            Assert.Skip("Windows has no such signal.");
        using (var environment = StorageEnvironment.Open(Store))
        {
            var (value, random) = (new byte[8_000], new Random(1));
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 3_000; i++)
                {
                    random.NextBytes(value);
                    tree.Put(BitConverter.GetBytes(i), value);
                }
            });
        }

        using var process = Start("backup", Store, At("file"), "--rate", "1");
        await TestWait.UntilAsync(IsUnderWay, "24 MB at 1 MB a second take a while");
        await TerminateAsync(process);
        process.ExitCode.Should().Be((int)ExitCode.Cancelled);
        (await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken)).Should().Be("Cancelled.\n");
        Directory.GetFileSystemEntries(_directory.Path).Should().Equal(Store);
        (await ToolRun.Done("verify", Store)).Output.Should().Contain("3,000");
    }

    [Fact]
    public async Task The_shell_takes_its_lines_from_a_pipe()
    {
        await ToolRun.Done("put", Store, "t", "k", "v", "--create", "--write");
        var lines = "get t k\nput t k w\nget t none\nget t k\n"u8.ToArray();
        var read = await RunAsync(lines, "shell", Store);
        read.Code.Should().Be(ExitCode.Usage, "it reads only, so the put fails first");
        Encoding.UTF8.GetString(read.Output).ReplaceLineEndings("\n").Should().Be("v\nv\n");
        var written = await RunAsync(lines, "shell", Store, "--write", "-o", "json");
        written.Code.Should().Be(ExitCode.NothingThere);
        Encoding.UTF8.GetString(written.Output).ReplaceLineEndings("\n").Should().Be("{\"k\":\"k\",\"v\":\"v\"}\n{\"k\":\"k\",\"v\":\"w\"}\n");
        (await ToolRun.Done("get", Store, "t", "k")).Output.Should().Be("w\n", "the environment was closed");
        (await RunAsync([], "shell", Store)).Code.Should().Be(ExitCode.Done);
        (await RunAsync([], "shell", At("none"), "--write")).Code.Should().Be(ExitCode.NothingThere);
        using (StorageEnvironment.Open(Store))
            (await RunAsync(lines, "shell", Store)).Code.Should().Be(ExitCode.InUse);
    }

    [Fact]
    public async Task Two_commands_may_write_to_one_file()
    {
        if (OperatingSystem.IsWindows())
            Assert.Skip("Windows has no such shell.");
        await ToolRun.Done("put", Store, "t", "k", "value", "--create", "--write");
        var script = $"{{ dotnet '{typeof(ToolException).Assembly.Location}' get '{Store}' t k --raw; printf ' and more'; }} > '{At("file")}'";
        using var process = Process.Start(new ProcessStartInfo("sh", ["-c", script]))!;
        await EndAsync(process);
        (await File.ReadAllTextAsync(At("file"), TestContext.Current.CancellationToken)).Should().Be("value and more");
    }

    private bool IsUnderWay() => Directory.GetFiles(_directory.Path, "file.*.partial").Length == 1;

    private static Process Start(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", [typeof(ToolException).Assembly.Location, .. arguments])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            StandardErrorEncoding = Encoding.UTF8,
        };
        return Process.Start(start)!;
    }

    private static Task EndAsync(Process process) =>
        process.WaitForExitAsync(TestContext.Current.CancellationToken).WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);

    private static async Task TerminateAsync(Process process)
    {
        Process.Start("kill", ["-TERM", $"{process.Id}"]).Dispose();
        await EndAsync(process);
    }

    private static async Task<(ExitCode Code, byte[] Output, string Error)> RunAsync(byte[] input, params string[] arguments)
    {
        var stop = TestContext.Current.CancellationToken;
        using var process = Start(arguments);
        using var output = new MemoryStream();
        var reading = process.StandardOutput.BaseStream.CopyToAsync(output, stop);
        var errors = process.StandardError.ReadToEndAsync(stop);
        try
        {
            await process.StandardInput.BaseStream.WriteAsync(input, stop);
            process.StandardInput.Close();
        }
        catch (IOException)
        {
            // The tool ended before it had read all of it.
        }

        await EndAsync(process);
        await reading;
        return ((ExitCode)process.ExitCode, output.ToArray(), await errors);
    }

    private string At(string name) => Path.Combine(_directory.Path, name);
}
