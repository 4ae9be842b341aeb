using System.Diagnostics;
using System.Text;

namespace Voron.Tool.Tests;

/// <summary>The tool as a process of its own, for tests of signals, pipes and terminals on Linux.</summary>
internal sealed class ToolProcess : IDisposable
{
    private const int IdleLooks = 50;

    private readonly Process _process;
    private readonly Task<string> _error;

    private ToolProcess(Process process)
    {
        _process = process;
        _error = process.StandardError.ReadToEndAsync();
    }

    public Stream Input => _process.StandardInput.BaseStream;

    public Stream Output => _process.StandardOutput.BaseStream;

    public bool HasExited => _process.HasExited;

    /// <summary>Returns whether the process has a file of this directory open.</summary>
    public bool HasOpen(string directory)
    {
        try
        {
            return Directory.EnumerateFiles($"/proc/{_process.Id}/fd")
                .Any(file => new FileInfo(file).LinkTarget?.StartsWith(directory + "/", StringComparison.Ordinal) == true);
        }
        catch (IOException)
        {
            // It has closed one of them, or has ended.
            return false;
        }
    }

    /// <summary>The path of the tool.</summary>
    public static string Path => typeof(ToolException).Assembly.Location;

    /// <summary>Starts the tool, which Ctrl-C reaches even if the tests run in the background of a shell, where it is ignored.</summary>
    public static ToolProcess Start(params string[] arguments) => StartProgram("env", ["--default-signal=INT", "dotnet", Path, .. arguments]);

    /// <summary>Starts a script of the shell, in which $VORON is the tool.</summary>
    public static ToolProcess StartScript(string script) => StartProgram("sh", ["-c", $"VORON='dotnet {Path}'; {script}"]);

    /// <summary>Starts a script of the shell on a terminal of its own, in which $VORON is the tool. Keys are written to its input.</summary>
    public static ToolProcess StartOnTerminal(string script, string terminal = "xterm-256color", bool hasColour = true)
    {
        // Ctrl-C reaches all processes of a terminal, and is not to end the script.
        var start = StartOf("env", ["--default-signal=INT", "script", "-qec", $"VORON='dotnet {Path}'; trap : INT; {script}", "/dev/null"]);
        start.Environment["TERM"] = terminal;
        start.Environment["SHELL"] = "/bin/sh";
        start.Environment.Remove("NO_COLOR");
        if (!hasColour)
            start.Environment["NO_COLOR"] = "1";
        return new ToolProcess(Process.Start(start)!);
    }

    /// <summary>Skips the test where the system has no such processes.</summary>
    public static void RequireLinux() => Assert.SkipUnless(OperatingSystem.IsLinux(), "The test uses programs of Linux.");

    /// <summary>Presses Ctrl-C.</summary>
    public void Interrupt()
    {
        using var kill = Process.Start("kill", ["-INT", $"{_process.Id}"]);
        kill.WaitForExit();
    }

    /// <summary>Waits for the end of the process, and returns what it says.</summary>
    public async Task<ToolRun> EndAsync(bool reads = true)
    {
        var stop = TestContext.Current.CancellationToken;
        using var output = new MemoryStream();
        var reading = reads ? Output.CopyToAsync(output, stop) : Task.CompletedTask;
        await _process.WaitForExitAsync(stop).WaitAsync(TestWait.Limit, stop);
        await reading;
        return new ToolRun((ExitCode)_process.ExitCode, Encoding.UTF8.GetString(output.ToArray()), await _error);
    }

    /// <summary>Waits until something is so, and fails if the process ends before.</summary>
    public async Task WaitUntilAsync(Func<bool> isSo, string what)
    {
        var (hasEnded, hasCome) = (false, false);
        await TestWait.UntilAsync(
            () =>
            {
                hasCome = isSo();
                if (hasCome || hasEnded)
                    return true;
                hasEnded = _process.HasExited;
                return false;
            },
            what);
        if (!hasCome)
            Assert.Fail($"It did not come to be that {what}: {await _error}");
    }

    /// <summary>Waits until the process waits for something outside of it, or has ended.</summary>
    public Task WaitUntilIdleAsync() => WaitUntilIdleAsync(_process);

    /// <inheritdoc cref="WaitUntilIdleAsync()"/>
    public static Task WaitUntilIdleAsync(Process process)
    {
        var looks = 0;
        return TestWait.UntilAsync(() =>
        {
            looks = AllThreadsSleep(process.Id) ? looks + 1 : 0;
            return looks >= IdleLooks || process.HasExited;
        });
    }

    // A thread that waits for a processor or the disk does not sleep, so a slow machine makes no process idle.
    private static bool AllThreadsSleep(int processId)
    {
        try
        {
            return Directory.GetDirectories($"/proc/{processId}/task")
                .Select(task => File.ReadAllText(System.IO.Path.Combine(task, "stat")))
                .All(stat => stat[stat.LastIndexOf(')') + 2] == 'S');
        }
        catch (IOException)
        {
            // A thread, or the process, has just ended.
            return false;
        }
    }

    public void Dispose()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        _process.Dispose();
    }

    private static ToolProcess StartProgram(string program, string[] arguments) => new(Process.Start(StartOf(program, arguments))!);

    private static ProcessStartInfo StartOf(string program, string[] arguments) => new(program, arguments)
    {
        RedirectStandardInput = true,
        RedirectStandardOutput = true,
        RedirectStandardError = true,
        StandardErrorEncoding = Encoding.UTF8,
    };
}
