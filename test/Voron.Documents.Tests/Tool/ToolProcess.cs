using System.Diagnostics;
using System.Text;

namespace Voron.Documents.Tests.Tool;

/// <summary>Runs the tool as a process of its own, in a directory that is deleted behind the test.</summary>
internal sealed class ToolProcess : IDisposable
{
    public string Directory { get; } = System.IO.Directory.CreateTempSubdirectory("voron-documents-").FullName;

    public string PathOf(string file) => Path.Combine(Directory, file);

    /// <summary>Writes a file, each character of the text as one byte.</summary>
    public string WriteBytes(string file, string bytes)
    {
        File.WriteAllBytes(PathOf(file), Encoding.Latin1.GetBytes(bytes));
        return file;
    }

    /// <summary>Starts the tool. The caller ends its input and waits for it.</summary>
    public Process Start(params string[] arguments)
    {
        // The tool beside the tests has the files that the tests have.
        var tests = Path.Combine(AppContext.BaseDirectory, "Voron.Documents.Tests");
        string[] host = ["exec", "--runtimeconfig", $"{tests}.runtimeconfig.json", "--depsfile", $"{tests}.deps.json"];
        var start = new ProcessStartInfo("dotnet", [.. host, Path.Combine(AppContext.BaseDirectory, "documents.dll"), .. arguments])
        {
            WorkingDirectory = Directory,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        return Process.Start(start)!;
    }

    /// <summary>Runs the tool to its end.</summary>
    public Task<ToolResult> RunAsync(params string[] arguments) => RunWithInputAsync("", arguments);

    /// <summary>Runs the tool to its end, with a standard input.</summary>
    public async Task<ToolResult> RunWithInputAsync(string input, params string[] arguments)
    {
        using var process = Start(arguments);
        try
        {
            await process.StandardInput.WriteAsync(input);
            process.StandardInput.Close();
        }
        catch (IOException)
        {
            // The tool has ended without its input.
        }

        return await EndAsync(process);
    }

    /// <summary>Waits for the end of the tool.</summary>
    public static async Task<ToolResult> EndAsync(Process process)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(TestWait.Limit);
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(patience.Token);
            var error = process.StandardError.ReadToEndAsync(patience.Token);
            await process.WaitForExitAsync(patience.Token);
            return new ToolResult(process.ExitCode, await output, await error);
        }
        finally
        {
            if (!process.HasExited)
                process.Kill();
        }
    }

    public void Dispose() => System.IO.Directory.Delete(Directory, recursive: true);
}

/// <summary>What the tool has printed, and its exit code.</summary>
internal sealed record ToolResult(int ExitCode, string Output, string Error)
{
    /// <summary>Expects that the tool has failed with one line that says why.</summary>
    public void ShouldFail(string reason, int exitCode = 1)
    {
        Error.Trim().Should().Contain(reason).And.NotContain("\n", "one line says what is wrong");
        ExitCode.Should().Be(exitCode);
    }

    /// <summary>Expects that the tool has done its work, and what it has printed.</summary>
    public void ShouldPrint(string output)
    {
        ExitCode.Should().Be(0, Error);
        Output.Trim().Should().Be(output);
    }
}
